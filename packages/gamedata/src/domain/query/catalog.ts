import { EventLoopYielder, ServerBusy } from '@plinth/kernel';
import { gameDataError } from '../../errors.js';
import { KINDS, type Kind } from '../../model/kinds.js';
import type { DataSet } from '../data/data-set.js';
import { defaultOrderOf } from '../data/default-order.js';
import type { ImageLink } from '../data/image-links.js';
import { type Language, Presenter } from '../data/public-record.js';
import { TimeSlices } from '../data/time-slices.js';
import type { FindNamed } from './filters.js';
import { include } from './included-records.js';
import type { ListRequest } from './list-request.js';
import { idsNamed } from './named-records.js';
import { project } from './projection.js';
import { evaluateQuery, type Scores } from './search/q-search.js';
import { type FoundHits, type SearchRequest, searchAll } from './search/search-all.js';
import { findInNames, nameLineOf, visitNames } from './search/search-texts.js';
import { type Suggestion, type SuggestRequest, suggestNames } from './search/suggest.js';
import { TextIndex } from './search/text-index.js';
import { TextThread } from './search/text-thread.js';
import { relevanceOf, rowAt, sortRows } from './sort-rows.js';

/** Maximum number of running and waiting queries. */
const MAX_QUERIES = 1000;
/** Index key of the default language, distinct from every language code. */
const DEFAULT = '';

export interface FoundPage {
  readonly total: number;
  readonly records: readonly Record<string, unknown>[];
  readonly notFound: readonly string[] | undefined;
  readonly included: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
}

/** Language and time slices of one query. */
interface InLanguage {
  readonly language: string;
  readonly slices: TimeSlices;
}

/** Runs queries on data sets. Search indexes are reused from version to version. */
export class Catalog {
  readonly #indexes = new Map<string, TextIndex>();
  readonly #thread = new TextThread();
  readonly #imageLink: ImageLink;
  readonly #yielder = new EventLoopYielder();
  #queryCount = 0;

  constructor(imageLink: ImageLink) {
    this.#imageLink = imageLink;
  }

  /** Converts records to their public form. */
  presenter(set: DataSet, language: Language): Presenter {
    return new Presenter(set, language, this.#imageLink);
  }

  async close(): Promise<void> {
    await this.#thread.close();
  }

  /** Drops indexes that a new version does not need. */
  forgetOthers(set: DataSet): void {
    for (const [key, index] of this.#indexes) {
      const language = key.slice(key.indexOf('/') + 1);
      const { defaultLanguage, languages } = set.metadata;
      const isKnown = language !== defaultLanguage && languages.includes(language);
      const isWanted = (language === DEFAULT || isKnown) && index.keepOnly(set);
      if (!isWanted) this.#indexes.delete(key);
    }
  }

  /** @param signal aborted when the client no longer waits. */
  async list(set: DataSet, request: ListRequest, signal?: AbortSignal): Promise<FoundPage> {
    return await this.#runInterleaved(signal, (slices) => this.#list(set, request, slices));
  }

  /**
   * Runs queries interleaved, so that many of them do not block other requests. Throws
   * `ServerBusy`.
   */
  async #runInterleaved<T>(
    signal: AbortSignal | undefined,
    response: (slices: TimeSlices) => Promise<T>,
  ): Promise<T> {
    if (this.#queryCount >= MAX_QUERIES) throw new ServerBusy('too many searches are queued');
    this.#queryCount += 1;
    try {
      if (this.#yielder.isBusy) await this.#yielder.next();
      const slices = new TimeSlices({ yielder: this.#yielder, signal });
      slices.assertWanted();
      return await response(slices);
    } finally {
      this.#queryCount -= 1;
    }
  }

  async #list(set: DataSet, request: ListRequest, slices: TimeSlices): Promise<FoundPage> {
    const { kind, ids, includes, offset, limit, fields } = request;
    const language = languageOf(set, request.language);
    const order = await this.#select(set, request, { language, slices });
    const page = order.slice(offset, limit === undefined ? undefined : offset + limit);
    const rows = page.map((position) => rowAt(set, kind, position));
    const presenter = this.presenter(set, request.language);
    const records: Record<string, unknown>[] = [];
    for (const row of rows) {
      const record = presenter.present(kind, row, request.isFullTextWanted);
      records.push(fields === undefined ? record : (project(record, fields) as typeof record));
      const pause = slices.check(); // each record may have to be read from disk
      if (pause !== undefined) await pause;
    }
    return {
      total: order.length,
      records,
      notFound: ids && [...new Set(ids)].filter((id) => set.row(kind, id) === undefined),
      included:
        includes.relations.length === 0 ? undefined : include(kind, rows, includes, presenter),
    };
  }

  /** Returns the positions of all matching rows, in list order. */
  async #select(
    set: DataSet,
    request: ListRequest,
    { language, slices }: InLanguage,
  ): Promise<readonly number[]> {
    const { kind, search, query, sort, filters } = request;
    let order = defaultOrderOf(set, kind);
    const { rows } = set.tables[kind];
    if (request.ids !== undefined) {
      const requestedRows = new Set(request.ids.map((id) => set.tables[kind].indexOf(id)));
      order = order.filter((position) => requestedRows.has(position));
    }
    const findNamed = this.#findNamed(set, { language, slices });
    for (const bind of filters.predicates) {
      const matches = await bind(set, findNamed);
      const matching: number[] = [];
      for (const position of order) {
        if (matches(rowAt(set, kind, position))) matching.push(position);
        const pause = slices.next();
        if (pause !== undefined) await pause;
      }
      order = matching;
    }
    if (search !== undefined)
      order = await this.#searchRows(set, kind, { order, search, language, slices });
    let scores: Scores | undefined;
    if (query !== undefined) {
      const index = this.#indexOf(set, kind, language);
      scores = await evaluateQuery(query, {
        ...{ set, kind, index, findNamed, slices },
        presenter: this.presenter(set, undefined),
      });
      order = order.filter((position) => (scores?.[position] ?? 0) > 0);
    } else if (search !== undefined && sort.some(({ field }) => field === 'relevance')) {
      scores = relevanceOf(rows, order, search);
    }
    if (sort.length === 0) return order;
    const names = await this.#namesFor(set, request, { language, slices });
    return sortRows(order, { set, kind, sort, scores, names });
  }

  /** Returns the names to sort by for each field, for languages whose names are not in columns. */
  async #namesFor(
    set: DataSet,
    { kind, sort }: ListRequest,
    { language, slices }: InLanguage,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const found = new Map<string, readonly string[]>();
    if (language === set.metadata.defaultLanguage) return found;
    for (const { field } of sort) {
      const line = nameLineOf(kind, field);
      if (line === undefined) continue;
      const names: string[] = [];
      const index = this.#indexOf(set, kind, language);
      await visitNames({ set, index, slices }, (name) => names.push(name), line);
      found.set(field, names);
    }
    return found;
  }

  /** Returns the rows whose names contain a string, in this language or the default one. */
  async #searchRows(
    set: DataSet,
    kind: Kind,
    options: InLanguage & {
      readonly order: readonly number[];
      readonly search: string;
    },
  ): Promise<readonly number[]> {
    const matches = new Uint8Array(set.tables[kind].rows.length);
    for (const language of new Set([options.language, set.metadata.defaultLanguage])) {
      const scope = { set, index: this.#indexOf(set, kind, language), slices: options.slices };
      await findInNames(scope, options.search, (position) => {
        matches[position] = 1;
      });
    }
    return options.order.filter((position) => matches[position] === 1);
  }

  /** Throws `invalid_parameter`. */
  async search(set: DataSet, request: SearchRequest, signal?: AbortSignal): Promise<FoundHits> {
    const language = languageOf(set, request.language);
    const indexOf = (kind: Kind): TextIndex => this.#indexOf(set, kind, language);
    return await this.#runInterleaved(signal, (slices) =>
      searchAll(set, request, {
        ...{ indexOf, slices },
        findNamed: this.#findNamed(set, { language, slices }),
        presenter: this.presenter(set, undefined),
      }),
    );
  }

  async suggest(
    set: DataSet,
    request: SuggestRequest,
    signal?: AbortSignal,
  ): Promise<readonly Suggestion[]> {
    const language = languageOf(set, request.language);
    const indexOf = (kind: Kind): TextIndex => this.#indexOf(set, kind, language);
    return await this.#runInterleaved(signal, (slices) =>
      suggestNames(set, request, { indexOf, slices }),
    );
  }

  /** Builds the search index of the default language, so that no query has to wait for it. */
  async warmUp(set: DataSet, isWanted: () => boolean): Promise<void> {
    const language = set.metadata.defaultLanguage;
    for (const kind of KINDS) {
      if (!isWanted()) return;
      await this.#indexOf(set, kind, language).textsOf(set);
      await set.tables[kind].idOrder();
    }
  }

  /** Filters also match record names in the language of the query. */
  #findNamed(set: DataSet, { language, slices }: InLanguage): FindNamed {
    if (language === set.metadata.defaultLanguage) return (request) => idsNamed(set, request);
    return (request) =>
      idsNamed(set, request, { index: this.#indexOf(set, request.kind, language), slices });
  }

  #indexOf(set: DataSet, kind: Kind, language: string): TextIndex {
    // Another version may have another default language, whose strings are stored elsewhere in the
    // records.
    const isDefault = language === set.metadata.defaultLanguage;
    const key = `${kind}/${isDefault ? DEFAULT : language}`;
    let index = this.#indexes.get(key);
    if (index === undefined) {
      index = new TextIndex(kind, isDefault ? undefined : language, this.#thread);
      this.#indexes.set(key, index);
    }
    return index;
  }
}

/** Returns the language to search in. Throws `invalid_parameter`. */
export function languageOf(set: DataSet, request: string | undefined): string {
  const { defaultLanguage, languages } = set.metadata;
  if (request === undefined || request === 'all') return defaultLanguage;
  if (languages.includes(request)) return request;
  const message = `lang must be one of ${[...languages, 'all'].join(', ')}`;
  throw gameDataError('unknown_language', { param: 'lang', message });
}

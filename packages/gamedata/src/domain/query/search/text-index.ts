import { EditDistance } from '@plinth/kernel';
import type { Kind } from '../../../model/kinds.js';
import { compareText } from '../../../model/normal-text.js';
import type { DataSet } from '../../data/data-set.js';
import type { RowGroup } from '../../data/kind-table.js';
import { TimeSlices } from '../../data/time-slices.js';
import { GroupReader, type GroupTexts, Postings, type ReadTexts } from './group-texts.js';
import { PackedTexts } from './packed-texts.js';
import type { TextThread } from './text-thread.js';

/**
 * Replaced groups after which the index is rebuilt; a publication of one change replaces one group.
 */
const SPARE_GROUP_COUNT = 64;
/**
 * Fewer groups are read on the main thread in time slices, because starting a thread takes longer.
 */
const MIN_THREAD_GROUP_COUNT = 3;

/**
 * Words and strings of one kind in one language. Versions share groups of rows, so a publication
 * re-reads only changed groups.
 * All groups share one vocabulary, in which prefixes and misspellings are looked up.
 */
export class TextIndex {
  readonly #kind: Kind;
  /** `undefined` for the default language. */
  readonly language: string | undefined;
  readonly #thread: TextThread;
  readonly #tokens = new Map<string, number>();
  readonly #terms: string[] = [];
  #sorted: readonly number[] = [];
  readonly #groups = new Map<RowGroup, GroupTexts | Promise<GroupTexts>>();
  #forgottenCount = 0;

  constructor(kind: Kind, language: string | undefined, thread: TextThread) {
    this.#kind = kind;
    this.language = language;
    this.#thread = thread;
  }

  /** Returns the search data of all groups of the set in order, reading missing ones. */
  async textsOf(set: DataSet): Promise<readonly GroupTexts[]> {
    const { groups } = set.tables[this.#kind];
    const missing = groups.filter((group) => !this.#groups.has(group));
    const isMuch = missing.length >= MIN_THREAD_GROUP_COUNT;
    if (isMuch) {
      // Awaited below, in order.
      for (const group of missing) void this.#begin(group, this.#readInThread(group));
    }
    const slices = new TimeSlices();
    const found: GroupTexts[] = [];
    for (const group of groups) {
      const known = this.#groups.get(group) ?? this.#begin(group, this.#readHere(group, slices));
      found.push(known instanceof Promise ? await known : known);
    }
    return found;
  }

  #begin(group: RowGroup, reading: Promise<ReadTexts>): Promise<GroupTexts> {
    const texts = reading.then(
      (read) => {
        const made: GroupTexts = {
          postings: new Postings(read, (term) => this.#tokenOf(term)),
          names: new PackedTexts(read.names),
          rest: new PackedTexts(read.rest),
        };
        // Stored without the promise, so that later readers need not await it.
        if (this.#groups.has(group)) this.#groups.set(group, made);
        return made;
      },
      (error: unknown) => {
        this.#groups.delete(group); // the next search retries
        throw error;
      },
    );
    this.#groups.set(group, texts);
    texts.catch(() => undefined); // callers await `texts` themselves; without callers, the rejection is ignored
    return texts;
  }

  #readInThread({ rows }: RowGroup): Promise<ReadTexts> {
    return this.#thread.read({ kind: this.#kind, language: this.language, rows });
  }

  async #readHere({ rows }: RowGroup, slices: TimeSlices): Promise<ReadTexts> {
    const reader = new GroupReader(this.#kind, this.language);
    for (const { text } of rows) {
      reader.add(text);
      const pause = slices.next();
      if (pause !== undefined) await pause;
    }
    return reader.finish();
  }

  /**
   * Drops groups that the set no longer contains.
   * @returns false when the vocabulary may be mostly obsolete; a rebuilt index is then smaller.
   */
  keepOnly(set: DataSet): boolean {
    const currentGroups = new Set(set.tables[this.#kind].groups);
    for (const group of this.#groups.keys()) {
      if (currentGroups.has(group)) continue;
      this.#groups.delete(group);
      this.#forgottenCount += 1;
    }
    return this.#forgottenCount <= SPARE_GROUP_COUNT + currentGroups.size;
  }

  #tokenOf(term: string): number {
    const known = this.#tokens.get(term);
    if (known !== undefined) return known;
    const token = this.#terms.length;
    this.#terms.push(term);
    this.#tokens.set(term, token);
    return token;
  }

  /** Returns tokens with this prefix and their score (1: the complete word). */
  withPrefix(prefix: string): ReadonlyMap<number, number> {
    const sorted = this.#sortedTokens();
    const found = new Map<number, number>();
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#terms[sorted[middle] ?? 0] ?? '') < prefix) low = middle + 1;
      else high = middle;
    }
    for (let at = low; at < sorted.length; at++) {
      const token = sorted[at] ?? 0;
      const term = this.#terms[token] ?? '';
      if (!term.startsWith(prefix)) break;
      found.set(
        token,
        term.length === prefix.length ? 1 : 0.75 * (prefix.length / term.length) + 0.1,
      );
    }
    return found;
  }

  /** Returns tokens within the edit distance allowed for this word length. */
  similarTo(term: string): ReadonlyMap<number, number> {
    const limit = term.length >= 8 ? 2 : term.length >= 4 ? 1 : 0;
    const found = new Map<number, number>();
    if (limit === 0) {
      const token = this.#tokens.get(term);
      return token === undefined ? found : found.set(token, 1);
    }
    const edits = new EditDistance(term, limit);
    for (const [token, candidate] of this.#terms.entries()) {
      const distance = edits.to(candidate);
      if (distance <= limit) found.set(token, distance === 0 ? 1 : 0.5 / distance);
    }
    return found;
  }

  wordOf(token: number): string {
    return this.#terms[token] ?? '';
  }

  #sortedTokens(): readonly number[] {
    if (this.#sorted.length !== this.#terms.length) {
      const terms = this.#terms;
      this.#sorted = terms
        .map((_word, token) => token)
        .sort((a, b) => compareText(terms[a] ?? '', terms[b] ?? ''));
    }
    return this.#sorted;
  }
}

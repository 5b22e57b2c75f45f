import { requestError } from '@plinth/kernel';
import { gameDataError, type ValidationDetail } from '../../errors.js';
import { KINDS, type Kind, mapKinds } from '../../model/kinds.js';
import type { TextStore } from '../../storage/text-store.js';
import type { DataSet } from '../data/data-set.js';
import { groupRows, type RowGroup } from '../data/kind-table.js';
import { makeRow, parseRow } from '../data/record-rows.js';
import { Row } from '../data/row.js';
import { SharedTexts } from '../data/shared-texts.js';
import { TimeSlices } from '../data/time-slices.js';
import { isCategory } from '../kinds/items.js';
import { categoryKey, mapSlugKey, type ReadRecord } from './import-batches.js';
import type { OpenImport } from './import-thread.js';
import type { ImportWarning } from './payload.js';
import { SlugOwners } from './slug-owners.js';

export const MAX_DETAILS = 100;

/** Position of a record in the import. */
export interface Place {
  readonly file?: string;
  readonly path: string;
}

export interface Assembled {
  /** The new draft, before references are checked. */
  readonly set: DataSet;
  readonly placeOf: (kind: Kind, id: string) => Place | undefined;
  readonly warnings: readonly ImportWarning[];
  readonly counts: Readonly<Record<Kind, number>>;
  /**
   * Whether all references of imported records resolve. Does not cover records that existed before.
   */
  readonly isComplete: boolean;
}

/**
 * Builds rows from an import, merged with the previous records or replacing them. Throws
 * `validation_failed`, `too_large` and `client_left`.
 */
export async function assembleSet(
  before: DataSet,
  open: OpenImport,
  options: {
    readonly isMerge: boolean;
    readonly seq: number;
    readonly texts: TextStore;
    /** Aborted when the client has disconnected. */
    readonly signal?: AbortSignal | undefined;
  },
): Promise<Assembled> {
  const { isMerge, texts } = options;
  const assembly = new Assembly(before, options);
  const targets: string[] = [];
  const slices = new TimeSlices();
  for await (const batch of open.batches) {
    assembly.refuse(batch.faults);
    const { buffer, byteOffset, byteLength } = batch.texts;
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    const rows: Row[] = [];
    for (const record of batch.records) {
      const row = assembly.add(record, bytes);
      if (row !== undefined) rows.push(row);
      const pause = slices.next();
      if (pause !== undefined) await pause;
    }
    refuseLeft(options.signal);
    // Contains only new rows, because a piece stays in memory as long as part of it is used.
    await Row.pack(rows, texts);
    targets.push(...batch.targets);
    if (assembly.faultCount >= MAX_DETAILS) break;
  }
  assembly.throwFaults();
  const { metadata } = before;
  const { head } = open;
  const defaultLanguage = isMerge
    ? metadata.defaultLanguage
    : (head.defaultLanguage ?? metadata.defaultLanguage);
  const languages = [
    ...new Set([defaultLanguage, ...(isMerge ? metadata.languages : []), ...head.languages]),
  ];
  const aliases = isMerge ? { ...metadata.aliases } : {};
  for (const kind of KINDS) {
    const own = head.aliases[kind];
    if (own !== undefined) aliases[kind] = { ...aliases[kind], ...own };
  }
  return {
    set: before.with(assembly.groups(), { defaultLanguage, languages, aliases }),
    placeOf: (kind, id) => assembly.placeOf(kind, id),
    warnings: assembly.warnings,
    counts: assembly.counts,
    isComplete: targets.every((key) => assembly.isThere(key)),
  };
}

/** Stops work whose client has disconnected. Throws `client_left`. */
export function refuseLeft(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw requestError('client_left');
}

class Assembly {
  readonly #before: DataSet;
  readonly #isMerge: boolean;
  readonly #seq: number;
  readonly #rows: Readonly<Record<Kind, Map<string, Row>>>;
  readonly #slugs: Readonly<Record<Kind, SlugOwners>>;
  /** Positions of imported records. */
  readonly #places = mapKinds(() => new Map<string, Place>());
  readonly #faults: ValidationDetail[] = [];
  readonly #shared = new SharedTexts();
  readonly warnings: ImportWarning[] = [];
  readonly counts: Record<Kind, number> = mapKinds(() => 0);

  constructor(before: DataSet, options: { readonly isMerge: boolean; readonly seq: number }) {
    const { isMerge } = options;
    this.#before = before;
    this.#isMerge = isMerge;
    this.#seq = options.seq;
    const existingRows = (kind: Kind): readonly Row[] => (isMerge ? before.tables[kind].rows : []);
    this.#rows = mapKinds((kind) => new Map(existingRows(kind).map((row) => [row.id, row])));
    this.#slugs = mapKinds((kind) => new SlugOwners(existingRows(kind)));
  }

  get faultCount(): number {
    return this.#faults.length;
  }

  placeOf(kind: Kind, id: string): Place | undefined {
    return this.#places[kind].get(id);
  }

  isThere(key: string): boolean {
    const slash = key.indexOf('/');
    const kind = key.slice(0, slash);
    const target = key.slice(slash + 1);
    if (key === categoryKey(target)) return isCategory(target);
    if (key === mapSlugKey(target)) return this.#slugs.maps.has(target);
    return this.#rows[kind as Kind].has(target); // the key was made by `targetKey`
  }

  refuse(faults: readonly ValidationDetail[]): void {
    this.#faults.push(...faults);
  }

  throwFaults(): void {
    if (this.#faults.length === 0) return;
    const message = 'the import is not valid; nothing was stored';
    throw gameDataError('validation_failed', {
      message,
      details: this.#faults.slice(0, MAX_DETAILS),
    });
  }

  /** @returns the row, unless the record is rejected. */
  add(record: ReadRecord, texts: Buffer): Row | undefined {
    const { kind, path, file } = record;
    const id = this.#shared.of(record.id);
    this.counts[kind] += 1;
    const place: Place = { path, ...(file !== undefined && { file }) };
    if (this.#places[kind].has(id)) {
      const message = `duplicate id ${id} in ${kind}`;
      this.#faults.push({ ...place, path: `${path}/id`, code: 'duplicate_id', message });
      return undefined;
    }
    this.#places[kind].set(id, place);
    const row = this.#place(record, id, texts);
    if (row.slug !== record.slug && record.hasOwnSlug) {
      const message = `slug ${record.slug} is taken: ${row.slug}`;
      this.warnings.push({ code: 'changed_slug', ...place, message });
    }
    this.#rows[kind].set(id, row);
    return row;
  }

  /** Returns the row of a record; the old row if only its timestamp differs. */
  #place(record: ReadRecord, id: string, texts: Buffer): Row {
    const { kind, start, end, hasOwnSlug } = record;
    const old = this.#before.row(kind, id);
    // A record keeps its slug unless the import has another one.
    const preferred = !hasOwnSlug && this.#isMerge && old !== undefined ? old.slug : record.slug;
    const slug = this.#slugs[kind].take(id, preferred, old?.slug);
    const columns = this.#shared.inColumns(record.columns);
    const own = texts.toString('utf8', start, end);
    const read = new Row({ id, slug, rev: this.#seq, text: own, columns });
    const row =
      slug === record.slug ? read : makeRow(kind, { ...parseRow(kind, read), slug }, this.#seq);
    if (old === undefined) return row;
    const [oldText, text] = [old.text, row.text];
    if (oldText === text) return old;
    const withoutTime = (whole: string): string => whole.replace(/"updatedAt":"[^"]*"/, '');
    return withoutTime(oldText) === withoutTime(text) ? old : row;
  }

  /** Returns the row groups of all changed kinds. */
  groups(): Partial<Record<Kind, readonly RowGroup[]>> {
    const groups: Partial<Record<Kind, readonly RowGroup[]>> = {};
    for (const kind of KINDS) {
      const next = [...this.#rows[kind].values()];
      const old = this.#before.tables[kind];
      const isSame =
        next.length === old.rows.length && next.every((row, index) => row === old.rows[index]);
      if (!isSame) groups[kind] = regroup(next, old.groups);
    }
    return groups;
  }
}

/** Reuses unchanged groups, which then need not be stored again. */
function regroup(rows: readonly Row[], old: readonly RowGroup[]): RowGroup[] {
  const groups: RowGroup[] = [];
  let start = 0;
  for (const group of old) {
    const isSame = group.rows.every((row, index) => rows[start + index] === row);
    if (!isSame) break;
    groups.push(group);
    start += group.rows.length;
  }
  return [...groups, ...groupRows(rows.slice(start))];
}

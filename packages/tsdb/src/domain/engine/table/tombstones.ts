import type { TagCondition } from '../../../model/scan.js';
import { quoteName, quoteString } from '../../../storage/duckdb/quote.js';
import { selectSeries } from '../scan/select-series.js';
import { timeCondition } from '../scan/sources.js';
import type { SeriesIndex } from '../series/series-index.js';
import type { SeriesTable } from '../series/series-table.js';

/**
 * A deletion of rows: those of the series that meet one of `anyOf`, between two instants (both included), that were
 * written before it. Rows written later have a greater `seq` and are not touched.
 */
export interface Tombstone {
  readonly id: string;
  readonly tableId: number;
  readonly seq: bigint;
  /**
   * Only rows from this `seq` on: those of writes that were refused after they were buffered. They are in no segment, because
   * flush leaves them out, and not in the log, so nothing of it is kept.
   */
  readonly fromSeq?: bigint;
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
  /** Each entry is met when all its conditions are; an entry without conditions is met by every series. */
  readonly anyOf: readonly (readonly TagCondition[])[];
}

/**
 * The deletions of rows of one table that have not been carried out in all its files yet. Almost always none: whoever
 * reads rows asks `touches` first and pays nothing then.
 *
 * A deletion holds for a whole segment or not at all: it holds when `seq` is greater than the segment's `maxSeq`. Flush
 * and compaction leave out the deleted rows of what they write and raise its `maxSeq` to the deletions they know.
 */
export class Tombstones {
  #all: readonly Tombstone[] = [];
  /** The last refusal, and why. */
  #refusal: { readonly cause: unknown; readonly hidden: Tombstone } | undefined;
  /** Their `seq` is given out; whether they will hold is not known yet. */
  readonly #expected = new Set<Tombstone>();
  readonly #pending = new Set<Promise<unknown>>();
  #hadAny = false;

  /** Rows were deleted, carried out or not: series may have none left. */
  get hadAny(): boolean {
    return this.#hadAny;
  }

  get all(): readonly Tombstone[] {
    return this.#all;
  }

  /** Deletions; refused writes are none. */
  get count(): number {
    return this.#all.filter(isDeletion).length;
  }

  /** False: no row between the two instants was deleted. */
  touches(minTime: bigint, maxTime: bigint): boolean {
    return (
      this.#all.length > 0 &&
      this.#all.some((each) => each.minTimeNs <= maxTime && each.maxTimeNs >= minTime)
    );
  }

  /** At the start of the node: there were others, which are carried out. */
  noteEarlier(): void {
    this.#hadAny = true;
  }

  /** At the start of the node. */
  load(tombstones: readonly Tombstone[]): void {
    this.#all = [...this.#all, ...tombstones];
    this.#hadAny ||= tombstones.length > 0;
  }

  /**
   * `hold` or `drop` follows, before `outcome` settles or, when nobody can say what became of it, later. Must be called in the
   * step in which its `seq` is given out.
   */
  expect(tombstone: Tombstone, outcome: Promise<void>): void {
    this.#expected.add(tombstone);
    const settled = outcome
      .catch(() => undefined) // Whoever deletes is told.
      .finally(() => this.#pending.delete(settled));
    this.#pending.add(settled);
  }

  /** It is stored. */
  hold(tombstone: Tombstone): void {
    this.#expected.delete(tombstone);
    this.#all = [...this.#all, tombstone];
    this.#hadAny = true;
  }

  /** It is not stored. */
  drop(tombstone: Tombstone): void {
    this.#expected.delete(tombstone);
  }

  /**
   * Hides the buffered rows of a write that was refused, at once. Writes that were refused for one `cause` follow upon one
   * another without any other in between, so they make one tombstone.
   */
  hide(
    refused: Pick<Tombstone, 'tableId' | 'seq' | 'minTimeNs' | 'maxTimeNs'>,
    cause: unknown,
  ): void {
    const last = this.#refusal?.cause === cause ? this.#refusal?.hidden : undefined;
    const { tableId, seq, minTimeNs, maxTimeNs } = refused;
    const hidden: Tombstone = {
      id: `refused ${last?.fromSeq ?? seq}`,
      tableId,
      fromSeq: last?.fromSeq ?? seq,
      seq: seq + 1n, // what was written before it
      minTimeNs: last !== undefined && last.minTimeNs < minTimeNs ? last.minTimeNs : minTimeNs,
      maxTimeNs: last !== undefined && last.maxTimeNs > maxTimeNs ? last.maxTimeNs : maxTimeNs,
      anyOf: [[]],
    };
    this.#all = [...this.#all.filter((each) => each !== last), hidden];
    this.#refusal = { cause, hidden };
    this.#hadAny = true;
  }

  /**
   * Resolves when every deletion whose `seq` was given out before the call has taken effect or failed. Throws when nobody can say:
   * what is written without heeding it would outlive it.
   */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
    if (this.#expected.size === 0) return;
    throw new Error(
      'the catalog cannot say whether a deletion of rows is stored; it is asked again before the next flush',
    );
  }

  remove(ids: ReadonlySet<string>): void {
    this.#all = this.#all.filter(({ id }) => !ids.has(id));
  }
}

/** Refused writes are none, and in no registry. */
export const isDeletion = ({ fromSeq }: Tombstone): boolean => fromSeq === undefined;

/** The `maxSeq` of what is written without the rows that these deleted. The numbers of refused writes mean no deletion. */
export function deletedUpTo(tombstones: readonly Tombstone[], leastSeq: bigint): bigint {
  return tombstones.filter(isDeletion).reduce((max, { seq }) => (seq > max ? seq : max), leastSeq);
}

/** Those that a segment may hold rows of. */
export function tombstonesOfSegment(
  all: readonly Tombstone[],
  segment: { readonly minTime: bigint; readonly maxTime: bigint; readonly maxSeq: bigint },
): readonly Tombstone[] {
  if (all.length === 0) return NONE;
  return all.filter(
    ({ seq, fromSeq, minTimeNs, maxTimeNs }) =>
      fromSeq === undefined &&
      seq > segment.maxSeq &&
      minTimeNs <= segment.maxTime &&
      maxTimeNs >= segment.minTime,
  );
}

const NONE: readonly Tombstone[] = [];

/** Who the series of a table are, for conditions on tags. The series table must hold all of them. */
export interface SeriesOfTable {
  readonly index: SeriesIndex;
  readonly table: Pick<SeriesTable, 'name' | 'columnOf'>;
}

/**
 * Condition that leaves the rows that none of the tombstones deleted, `undefined` when that is all of them. With `seqs`
 * the rows have a column `_seq` and only those written before a deletion are left out.
 */
export function survivesText(
  tombstones: readonly Tombstone[],
  series: SeriesOfTable,
  rows: 'whole' | 'seqs',
): string | undefined {
  const deleted = tombstones.flatMap((tombstone) => {
    const which = seriesText(tombstone, series);
    if (which === 'false') return [];
    const parts = [
      timeCondition(tombstone.minTimeNs, tombstone.maxTimeNs),
      ...(rows === 'seqs' ? [`_seq < ${tombstone.seq}`] : []),
      ...(tombstone.fromSeq === undefined ? [] : [`_seq >= ${tombstone.fromSeq}`]),
      ...(which === undefined ? [] : [which]),
    ];
    return [`(${parts.join(' AND ')})`];
  });
  return deleted.length === 0 ? undefined : `NOT (${deleted.join(' OR ')})`;
}

/** `undefined`: every series; the text `false`: none. */
function seriesText(tombstone: Tombstone, series: SeriesOfTable): string | undefined {
  const texts: string[] = [];
  for (const conditions of tombstone.anyOf) {
    if (conditions.length === 0) return undefined;
    const { seriesCondition } = selectSeries(series.index, conditions);
    if (seriesCondition === 'false') continue;
    texts.push(seriesCondition ?? joinedText(conditions, series.table));
  }
  if (texts.length === 0) return 'false';
  return texts.length === 1 ? texts[0] : `(${texts.join(' OR ')})`;
}

/** Too many series to name them one by one. */
function joinedText(conditions: readonly TagCondition[], table: SeriesOfTable['table']): string {
  const texts = conditions.map((condition) => tagText(condition, table.columnOf(condition.tag)));
  return `_series IN (SELECT _series FROM ${quoteName(table.name)} WHERE ${texts.join(' AND ')})`;
}

function tagText({ op, values }: TagCondition, column: string | undefined): string {
  const name = column === undefined ? 'NULL::VARCHAR' : quoteName(column);
  const texts = values.flatMap((value) => (value === undefined ? [] : [quoteString(value)]));
  const isIn = [
    ...(texts.length === 0 ? [] : [`(${name} IS NOT NULL AND ${name} IN (${texts.join(', ')}))`]),
    ...(values.includes(undefined) ? [`${name} IS NULL`] : []),
  ];
  const text = isIn.length === 0 ? 'false' : `(${isIn.join(' OR ')})`;
  return op === 'in' ? text : `NOT ${text}`;
}

import type { SeriesPoint, TagCondition } from '@plinth/tsdb-model/scan.js';
import { quoteName, quoteString } from '@plinth/tsdb-model/text/quote.js';
import { isStepEnd, type Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import { selectSeries } from '../scan/select-series.js';
import { timeCondition } from '../scan/sources.js';
import type { SeriesIndex } from '../series/series-index.js';
import type { SeriesTable } from '../series/series-table.js';

/**
 * A row deletion: it covers the series that meet one of `anyOf`, between two timestamps (both
 * inclusive). It applies to rows written before it; later rows have a greater `seq` and are kept.
 */
export interface Tombstone {
  readonly id: string;
  readonly tableId: number;
  readonly seq: bigint;
  /**
   * Lower bound of `seq`, for writes that were rejected after they were buffered. Flush excludes
   * them from segments and they are not in the log, so such a tombstone is never stored.
   */
  readonly fromSeq?: bigint;
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
  /**
   * An entry matches if all its conditions are met; an entry without conditions matches every
   * series.
   */
  readonly anyOf: readonly (readonly TagCondition[])[];
  /** If present, the deletion covers exactly these points, and `anyOf` is empty. */
  readonly points?: readonly SeriesPoint[] | undefined;
}

/**
 * The hidden rows of one table: row deletions that have not been carried out in all its files yet, and buffered rows
 * of rejected writes (`hide`), which never reach a file. Almost always empty, so readers check `touches` first, which
 * then costs nothing. A deletion applies to a complete segment or not at all: it applies
 * if its `seq` is greater than the segment's `maxSeq`. Flush and compaction exclude the deleted rows and raise the
 * new `maxSeq` to the `seq` of the latest known deletion.
 */
export class Tombstones {
  #all: readonly Tombstone[] = [];
  /** The last rejection, with its cause. */
  #refusal: { readonly cause: unknown; readonly hidden: Tombstone } | undefined;
  /** Deletions with an assigned `seq` whose outcome is unknown. */
  readonly #announced = new Set<Tombstone>();
  readonly #pending = new Set<Promise<unknown>>();
  #hadAny = false;

  /** True if rows were ever deleted, so that some series may have no rows. */
  get hadAny(): boolean {
    return this.#hadAny;
  }

  /** Including those of rejected writes: see `isDeletion`. */
  get all(): readonly Tombstone[] {
    return this.#all;
  }

  /** Number of deletions, without rejected writes. */
  get count(): number {
    return this.#all.filter(isDeletion).length;
  }

  /** Number of points in deletions of single points. */
  get pointCount(): number {
    return this.#all.reduce((sum, { points = [] }) => sum + points.length, 0);
  }

  /** Returns the tombstones of rows between the two timestamps. */
  between(minTime: bigint, maxTime: bigint): readonly Tombstone[] {
    if (this.#all.length === 0) return NONE;
    return this.#all.filter((each) => each.minTimeNs <= maxTime && each.maxTimeNs >= minTime);
  }

  /** False if no row between the two timestamps is hidden. */
  touches(minTime: bigint, maxTime: bigint): boolean {
    return this.between(minTime, maxTime).length > 0;
  }

  /** Called at startup if there were earlier deletions, which are carried out. */
  noteEarlier(): void {
    this.#hadAny = true;
  }

  /** Called at startup. */
  load(tombstones: readonly Tombstone[]): void {
    this.#all = [...this.#all, ...tombstones];
    this.#hadAny ||= tombstones.length > 0;
  }

  /**
   * Announces a deletion. `confirm` or `discard` follows before `outcome` settles, or later if the
   * outcome is unknown. Must be called in the same step in which its `seq` is assigned.
   */
  announce(tombstone: Tombstone, outcome: Promise<void>): void {
    this.#announced.add(tombstone);
    const whenDecided = outcome
      .catch(() => undefined) // the caller of the deletion receives the error
      .finally(() => this.#pending.delete(whenDecided));
    this.#pending.add(whenDecided);
  }

  /** Call when the deletion is stored: it takes effect. */
  confirm(tombstone: Tombstone): void {
    this.#announced.delete(tombstone);
    this.#all = [...this.#all, tombstone];
    this.#hadAny = true;
  }

  /** Call when the deletion is not stored. */
  discard(tombstone: Tombstone): void {
    this.#announced.delete(tombstone);
  }

  /**
   * Hides the buffered rows of a rejected write immediately. Consecutive writes that were rejected
   * for the same `cause` share one tombstone.
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
      seq: seq + 1n, // the tombstone covers everything written before this `seq`
      minTimeNs: last !== undefined && last.minTimeNs < minTimeNs ? last.minTimeNs : minTimeNs,
      maxTimeNs: last !== undefined && last.maxTimeNs > maxTimeNs ? last.maxTimeNs : maxTimeNs,
      anyOf: [[]],
    };
    this.#all = [...this.#all.filter((each) => each !== last), hidden];
    this.#refusal = { cause, hidden };
    this.#hadAny = true;
  }

  /**
   * Resolves when every deletion whose `seq` was assigned before the call has taken effect or
   * failed. Throws if an outcome is unknown: files written without that deletion would keep its
   * rows.
   */
  async whenDecided(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
    if (this.#announced.size === 0) return;
    throw new Error(
      'the catalog cannot confirm whether a row deletion is stored; it is checked again before the next flush',
    );
  }

  remove(ids: ReadonlySet<string>): void {
    this.#all = this.#all.filter(({ id }) => !ids.has(id));
  }
}

/** False for rejected writes, which are in no registry. */
export const isDeletion = ({ fromSeq }: Tombstone): boolean => fromSeq === undefined;

/**
 * Returns the `maxSeq` of files written without the rows that these deletions cover. Rejected
 * writes do not count.
 */
export function deletedUpTo(tombstones: readonly Tombstone[], leastSeq: bigint): bigint {
  return tombstones.filter(isDeletion).reduce((max, { seq }) => (seq > max ? seq : max), leastSeq);
}

/** Returns the tombstones that may cover rows of a segment. */
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

/** The series of a table, for tag conditions. The series table must contain all of them. */
export interface SeriesOfTable {
  readonly index: SeriesIndex;
  readonly table: Pick<SeriesTable, 'name' | 'columnOf'>;
}

/**
 * The condition on the series of each deletion: `undefined` if every series matches, and the string
 * `false` if none matches.
 */
export type DeletedSeries = ReadonlyMap<Tombstone, string | undefined>;

/** A deletion may list tens of thousands of tag values, so its condition is built only once. */
export function* deletedSeries(
  tombstones: readonly Tombstone[],
  series: SeriesOfTable,
): Steps<DeletedSeries> {
  const texts = new Map<Tombstone, string | undefined>();
  for (const tombstone of tombstones) texts.set(tombstone, yield* seriesText(tombstone, series));
  return texts;
}

/**
 * Returns the condition that excludes the deleted rows; `undefined` if there are none. With `hasSeqColumn`,
 * the rows have a column `_seq`, and only rows written before a deletion are excluded.
 * @param deletedOf contains all of the deletions.
 */
export function survivesText(
  tombstones: readonly Tombstone[],
  deletedOf: DeletedSeries,
  { hasSeqColumn }: { readonly hasSeqColumn: boolean },
): string | undefined {
  const deleted = tombstones.flatMap((tombstone) => {
    const which = deletedOf.get(tombstone);
    if (which === 'false') return [];
    const parts = [
      timeCondition(tombstone.minTimeNs, tombstone.maxTimeNs),
      ...(hasSeqColumn ? [`_seq < ${tombstone.seq}`] : []),
      ...(tombstone.fromSeq === undefined ? [] : [`_seq >= ${tombstone.fromSeq}`]),
      ...(which === undefined ? [] : [which]),
    ];
    return [`(${parts.join(' AND ')})`];
  });
  return deleted.length === 0 ? undefined : `NOT (${deleted.join(' OR ')})`;
}

function* seriesText(tombstone: Tombstone, series: SeriesOfTable): Steps<string | undefined> {
  if (tombstone.points !== undefined) return pointsText(tombstone.points);
  const texts: string[] = [];
  for (const conditions of tombstone.anyOf) {
    if (conditions.length === 0) return undefined;
    const { seriesCondition } = yield* selectSeries(series.index, conditions);
    if (seriesCondition === 'false') continue;
    texts.push(seriesCondition ?? (yield* joinedText(conditions, series.table)));
  }
  if (texts.length === 0) return 'false';
  return texts.length === 1 ? texts[0] : `(${texts.join(' OR ')})`;
}

/** DuckDB joins with the lists, which is much faster than a comparison per point. */
function pointsText(points: readonly SeriesPoint[]): string {
  const series = points.map((point) => point.seriesId).join(', ');
  const times = points.map((point) => point.timeNs).join(', ');
  const lists = `SELECT unnest([${series}]::BIGINT[]) AS s, unnest([${times}]::BIGINT[]) AS t`;
  return `(_series, epoch_ns("time")) IN (SELECT (s, t) FROM (${lists}))`;
}

/** For too many series to list them individually. */
function* joinedText(
  conditions: readonly TagCondition[],
  table: SeriesOfTable['table'],
): Steps<string> {
  const texts: string[] = [];
  for (const condition of conditions)
    texts.push(yield* tagText(condition, table.columnOf(condition.tag)));
  return `_series IN (SELECT _series FROM ${quoteName(table.name)} WHERE ${texts.join(' AND ')})`;
}

function* tagText({ op, values }: TagCondition, column: string | undefined): Steps<string> {
  const name = column === undefined ? 'NULL::VARCHAR' : quoteName(column);
  const texts: string[] = [];
  for (let i = 0; i < values.length; i++) {
    if (isStepEnd(i)) yield;
    const value = values[i];
    if (value !== undefined) texts.push(quoteString(value));
  }
  const isIn = [
    ...(texts.length === 0 ? [] : [`(${name} IS NOT NULL AND ${name} IN (${texts.join(', ')}))`]),
    ...(values.includes(undefined) ? [`${name} IS NULL`] : []),
  ];
  const text = isIn.length === 0 ? 'false' : `(${isIn.join(' OR ')})`;
  return op === 'in' ? text : `NOT ${text}`;
}

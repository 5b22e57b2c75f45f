import type { SeriesPoint, TagCondition } from '@plinth/tsdb-model/scan.js';
import type { Segment } from '@plinth/tsdb-model/segment.js';

/**
 * A row deletion: it covers the series that meet one of `anyOf`, between two timestamps (both
 * inclusive). It applies to rows written before it; later rows have a greater `seq` and are kept.
 * With `columnIds`, only the values of these fields are deleted, and rows without another value.
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
  /** Fields whose values are deleted; absent if complete rows are deleted. */
  readonly columnIds?: readonly number[] | undefined;
}

/**
 * The hidden rows of one table: row deletions that have not been carried out in all its files yet, and buffered rows
 * of rejected writes (`hideRefused`), which never reach a file. Almost always empty, so readers check `touches` first, which
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

  /** Includes the tombstones of rejected writes: see `isDeletion`. */
  get all(): readonly Tombstone[] {
    return this.#all;
  }

  /** Number of deletions, without rejected writes. */
  get count(): number {
    return this.#all.filter(isDeletion).length;
  }

  /** Number of deletion conditions in the SQL text of a query that reads all fields. */
  get conditionCount(): number {
    return this.#all.filter(isDeletion).reduce((sum, each) => sum + conditionsOf(each), 0);
  }

  /** Number of individually deleted points in the same SQL text. */
  get pointCount(): number {
    return this.#all.reduce(
      (sum, each) => sum + (each.points?.length ?? 0) * conditionsOf(each),
      0,
    );
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
    const whenSettled = outcome
      .catch(() => undefined) // the caller of the deletion receives the error
      .finally(() => this.#pending.delete(whenSettled));
    this.#pending.add(whenSettled);
  }

  /** Call when the deletion is stored; it then takes effect. */
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
  hideRefused(
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
  async whenSettled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
    if (this.#announced.size === 0) return;
    throw new Error(
      'the relational store cannot confirm whether a row deletion is stored; the server checks again before the next flush',
    );
  }

  remove(ids: ReadonlySet<string>): void {
    this.#all = this.#all.filter(({ id }) => !ids.has(id));
  }
}

/** The condition of a deletion of values is repeated for each field. */
export const conditionsOf = ({ columnIds }: Pick<Tombstone, 'columnIds'>): number =>
  Math.max(1, columnIds?.length ?? 1);

/** False for rejected writes, which are not in the registry. */
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
  segment: Pick<Segment, 'minTime' | 'maxTime' | 'maxSeq' | 'columnIds'>,
): readonly Tombstone[] {
  if (all.length === 0) return NONE;
  return all.filter(
    ({ seq, fromSeq, minTimeNs, maxTimeNs, columnIds }) =>
      fromSeq === undefined &&
      seq > segment.maxSeq &&
      minTimeNs <= segment.maxTime &&
      maxTimeNs >= segment.minTime &&
      columnIds?.some((id) => segment.columnIds.has(id)) !== false,
  );
}

const NONE: readonly Tombstone[] = [];

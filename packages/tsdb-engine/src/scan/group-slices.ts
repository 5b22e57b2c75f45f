import type { TimeSpan } from '@plinth/tsdb-model/segment.js';
import {
  type EndedSlice,
  type FittingRows,
  LEAST_ROWS,
  MAX_ROWS,
  SliceSizes,
  SMALL_REST,
} from './slice-sizes.js';
import { type GuessedSlice, type Slices, type TimeSlice, TimeSlices } from './time-slices.js';

/** Groups of rows by tags, sorted by them. */
export interface RowGroups {
  readonly tags: readonly string[];
  readonly count: number;
  readonly rowCount: number;
  rowCountOf(group: number): number;
  /** An absent tag is an empty string. */
  tagValuesOf(group: number): readonly string[];
}

/**
 * Divides a result that arrives group by group into slices of complete groups. If rows are in time
 * order within groups, a group that is too large for a slice is divided by time.
 */
export class GroupSlices implements Slices {
  readonly #groups: RowGroups;
  readonly #bounds: TimeSlice;
  readonly #spans: readonly TimeSpan[];
  readonly #isDescending: boolean | undefined;
  readonly #sizes: SliceSizes;
  #nextGroup = 0;
  #remainingRowCount: number;
  /** The slices of one group. */
  #within: TimeSlices | undefined;

  constructor(options: {
    readonly groups: RowGroups;
    readonly bounds: TimeSlice;
    /** Time spans of the rows of all groups. */
    readonly spans: readonly TimeSpan[];
    /** Time order within a group; `undefined` if there is none. */
    readonly isDescending: boolean | undefined;
  }) {
    this.#groups = options.groups;
    this.#bounds = options.bounds;
    this.#spans = options.spans;
    this.#isDescending = options.isDescending;
    this.#remainingRowCount = options.groups.rowCount;
    this.#sizes = new SliceSizes(this.#remainingRowCount);
  }

  next(rows: FittingRows = { fitting: MAX_ROWS, least: LEAST_ROWS }): GuessedSlice | undefined {
    const within = this.#nextWithin(rows);
    if (within !== undefined) return within;
    const groups = this.#groups;
    if (this.#nextGroup >= groups.count) return undefined;
    const targetRows = this.#sizes.targetRows(rows);
    const isSmallRest = this.#remainingRowCount <= targetRows * SMALL_REST;
    const from = this.#nextGroup;
    let rowCount = groups.rowCountOf(this.#nextGroup++);
    for (; this.#nextGroup < groups.count; this.#nextGroup++) {
      const more = groups.rowCountOf(this.#nextGroup);
      if (!isSmallRest && rowCount + more > targetRows) break;
      rowCount += more;
    }
    this.#remainingRowCount -= rowCount;
    const isOne = this.#nextGroup - from === 1;
    if (isOne && rowCount > targetRows * SMALL_REST) {
      this.#within = this.#slicesOf(rowCount);
      const first = this.#nextWithin(rows);
      if (first !== undefined) return first;
    }
    const last = this.#nextGroup - 1;
    return {
      ...this.#bounds,
      series: this.#range(from, last),
      rowCount: this.#sizes.begin(rowCount),
    };
  }

  ended(slice: EndedSlice): void {
    this.#sizes.ended(slice);
  }

  /** Returns the next slice of the group before `#nextGroup`. */
  #nextWithin(rows: FittingRows): GuessedSlice | undefined {
    const slice = this.#within?.next(rows);
    if (slice === undefined) {
      this.#within = undefined;
      return undefined;
    }
    const group = this.#nextGroup - 1;
    return { ...slice, series: this.#range(group, group) };
  }

  /** Assumes that the group's rows are distributed in time like the rows of all groups. */
  #slicesOf(rowCount: number): TimeSlices | undefined {
    if (this.#isDescending === undefined) return undefined;
    const all = this.#spans.reduce((sum, span) => sum + span.rowCount, 0);
    const share = rowCount / Math.max(1, all);
    return TimeSlices.of({
      bounds: this.#bounds,
      spans: this.#spans.map((span) => ({ ...span, rowCount: span.rowCount * share })),
      isDescending: this.#isDescending,
      sizes: this.#sizes,
    });
  }

  #range(first: number, last: number) {
    const { tags } = this.#groups;
    return {
      tags,
      first: this.#groups.tagValuesOf(first),
      last: this.#groups.tagValuesOf(last),
    };
  }
}

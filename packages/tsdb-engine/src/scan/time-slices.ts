import type { TimeSpan } from '@plinth/tsdb-model/segment.js';
import {
  type EndedSlice,
  type FittingRows,
  LEAST_ROWS,
  MAX_ROWS,
  SliceSizes,
  SMALL_REST,
} from './slice-sizes.js';

/** A part of a result in time order, both ends inclusive. */
export interface TimeSlice {
  readonly minTime: bigint;
  readonly maxTime: bigint;
}

/** Series with tag values between two keys, both inclusive; absent tags count as empty strings. */
export interface SeriesRange {
  readonly tags: readonly string[];
  readonly first: readonly string[];
  readonly last: readonly string[];
}

/** A part of a result that arrives in time order, or group by group. */
export interface ScanSlice extends TimeSlice {
  /** If absent, the slice contains all series. */
  readonly series?: SeriesRange | undefined;
}

/** A slice with its estimated row count. */
export interface GuessedSlice extends ScanSlice {
  readonly rowCount: number;
}

/** A result in consecutive slices. */
export interface Slices {
  /** Returns the next slice; the last one extends to the end of the requested range. */
  next(rows?: FittingRows): GuessedSlice | undefined;
  /** Reports the measurements of the previous slice. */
  ended(slice: EndedSlice): void;
}

/**
 * Divides the time range of a query into slices with about as many rows as may be in memory at the same time. Assumes
 * that rows are evenly distributed within a span.
 */
export class TimeSlices implements Slices {
  readonly #bounds: TimeSlice;
  readonly #isDescending: boolean;
  /** The spans, in nanoseconds from the first row of the result. */
  readonly #spans: readonly {
    readonly from: number;
    readonly to: number;
    readonly rowCount: number;
  }[];
  readonly #length: bigint;
  readonly #start: bigint;
  readonly #total: number;
  readonly #sizes: SliceSizes;
  #offsetNs = 0n;
  #isDone = false;

  /** @returns `undefined` if the result has at most `leastRows` rows. */
  static of(options: {
    readonly bounds: TimeSlice;
    readonly spans: readonly TimeSpan[];
    readonly isDescending: boolean;
    readonly leastRows?: number;
    /** The sizes of an enclosing result, if this is a part of it. */
    readonly sizes?: SliceSizes;
  }): TimeSlices | undefined {
    const slices = new TimeSlices(options);
    return slices.#total > (options.leastRows ?? LEAST_ROWS) ? slices : undefined;
  }

  private constructor(options: {
    readonly bounds: TimeSlice;
    readonly spans: readonly TimeSpan[];
    readonly isDescending: boolean;
    readonly sizes?: SliceSizes;
  }) {
    const { bounds, spans, isDescending } = options;
    this.#bounds = bounds;
    this.#isDescending = isDescending;
    const { first, last } = timeWithin(bounds, spans);
    this.#start = isDescending ? last : first;
    this.#length = lengthOf(bounds, spans);
    const offsetOf = (time: bigint): number => Number(isDescending ? last - time : time - first);
    this.#spans = spans.map(({ minTime, maxTime, rowCount }) => ({
      from: offsetOf(isDescending ? maxTime : minTime),
      to: offsetOf(isDescending ? minTime : maxTime) + 1,
      rowCount,
    }));
    this.#total = this.#rowsBefore(this.#length) - this.#rowsBefore(0n);
    this.#sizes = options.sizes ?? new SliceSizes(this.#total);
  }

  /** Estimated row count of the result, before conditions. */
  get rowCount(): number {
    return this.#total;
  }

  next(rows = { fitting: MAX_ROWS, least: LEAST_ROWS }): GuessedSlice | undefined {
    if (this.#isDone) return undefined;
    const from = this.#offsetNs;
    const before = this.#rowsBefore(from);
    const targetRows = this.#sizes.targetRows(rows);
    const isSmallRest = this.#rowsBefore(this.#length) - before <= targetRows * SMALL_REST;
    const to = isSmallRest ? this.#length : this.#timeAfter(before + targetRows, from);
    this.#isDone = to >= this.#length;
    const rowCount = this.#sizes.begin(this.#rowsBefore(to) - before);
    this.#offsetNs = to;
    const { minTime, maxTime } = this.#bounds;
    const isFirst = from === 0n;
    if (this.#isDescending) {
      return {
        maxTime: isFirst ? maxTime : this.#start - from,
        minTime: this.#isDone ? minTime : this.#start - to + 1n,
        rowCount,
      };
    }
    return {
      minTime: isFirst ? minTime : this.#start + from,
      maxTime: this.#isDone ? maxTime : this.#start + to - 1n,
      rowCount,
    };
  }

  ended(slice: EndedSlice): void {
    this.#sizes.ended(slice);
  }

  /** The result is an estimate, so doubles are exact enough. */
  #rowsBefore(offsetNs: bigint): number {
    const at = Number(offsetNs);
    let sum = 0;
    for (const { from, to, rowCount } of this.#spans) {
      if (at >= to) sum += rowCount;
      else if (at > from) sum += rowCount * ((at - from) / (to - from));
    }
    return sum;
  }

  /**
   * Returns the offset before which there are `rows` rows; always after `from`, so that each
   * slice covers at least one nanosecond.
   */
  #timeAfter(rows: number, from: bigint): bigint {
    let [low, high] = [from, this.#length];
    while (high - low > 1n) {
      const middle = (low + high) >> 1n;
      if (this.#rowsBefore(middle) < rows) low = middle;
      else high = middle;
    }
    return high;
  }
}

/** Nanoseconds from the first to the last row within the bounds, if known. */
export function lengthOf(bounds: TimeSlice, spans: readonly TimeSpan[]): bigint {
  const { first, last } = timeWithin(bounds, spans);
  return last < first ? 0n : last - first + 1n;
}

function timeWithin(bounds: TimeSlice, spans: readonly TimeSpan[]) {
  const min = spans.reduce((least, span) => earlier(least, span.minTime), bounds.maxTime);
  const max = spans.reduce((most, span) => later(most, span.maxTime), bounds.minTime);
  return { first: later(min, bounds.minTime), last: earlier(max, bounds.maxTime) };
}

const earlier = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const later = (a: bigint, b: bigint): bigint => (a > b ? a : b);

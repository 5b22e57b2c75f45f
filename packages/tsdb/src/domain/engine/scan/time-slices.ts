import {
  type EndedSlice,
  type FittingRows,
  LEAST_ROWS,
  MAX_ROWS,
  SliceSizes,
  SMALL_REST,
} from './slice-sizes.js';

/** Rows that lie somewhere between two instants, both included. */
export interface TimeSpan {
  readonly minTime: bigint;
  readonly maxTime: bigint;
  readonly rowCount: number;
}

/** A part of an answer that comes in the order of time, both ends included. */
export interface TimeSlice {
  readonly minTime: bigint;
  readonly maxTime: bigint;
}

/** Series whose values of the tags, absent ones as empty texts, lie between two, both included. */
export interface SeriesRange {
  readonly tags: readonly string[];
  readonly first: readonly string[];
  readonly last: readonly string[];
}

/** A part of an answer that comes in the order of time, or group by group. */
export interface ScanSlice extends TimeSlice {
  /** Absent: all of them. */
  readonly series?: SeriesRange | undefined;
}

/** With about as many rows as lie in it. */
export interface GuessedSlice extends ScanSlice {
  readonly rowCount: number;
}

/** An answer in slices, one behind the other. */
export interface Slices {
  /** The next slice; the last one reaches to the end of what was asked for. */
  next(rows?: FittingRows): GuessedSlice | undefined;
  /** Tells what came of the slice before. */
  ended(slice: EndedSlice): void;
}

/**
 * Cuts the time that a query asks about into slices of about as many rows as are good to hold at once. What lies in a span
 * is taken to be spread evenly.
 */
export class TimeSlices implements Slices {
  readonly #bounds: TimeSlice;
  readonly #isDescending: boolean;
  /** The spans on an axis of nanoseconds that begins with the first row of the answer. */
  readonly #spans: readonly {
    readonly from: number;
    readonly to: number;
    readonly rowCount: number;
  }[];
  readonly #length: bigint;
  readonly #start: bigint;
  readonly #total: number;
  readonly #sizes: SliceSizes;
  #place = 0n;
  #isDone = false;

  /** @returns `undefined` when the answer has no more than so few rows. */
  static of(options: {
    readonly bounds: TimeSlice;
    readonly spans: readonly TimeSpan[];
    readonly isDescending: boolean;
    readonly leastRows?: number;
    /** Of an answer of which this is a part. */
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
    const place = (time: bigint): number => Number(isDescending ? last - time : time - first);
    this.#spans = spans.map(({ minTime, maxTime, rowCount }) => ({
      from: place(isDescending ? maxTime : minTime),
      to: place(isDescending ? minTime : maxTime) + 1,
      rowCount,
    }));
    this.#total = this.#rowsBefore(this.#length) - this.#rowsBefore(0n);
    this.#sizes = options.sizes ?? new SliceSizes(this.#total);
  }

  /** About as many as the answer has, unless conditions leave out some. */
  get rowCount(): number {
    return this.#total;
  }

  next(rows = { fitting: MAX_ROWS, least: LEAST_ROWS }): GuessedSlice | undefined {
    if (this.#isDone) return undefined;
    const from = this.#place;
    const before = this.#rowsBefore(from);
    const wanted = this.#sizes.wanted(rows);
    const isSmallRest = this.#rowsBefore(this.#length) - before <= wanted * SMALL_REST;
    const to = isSmallRest ? this.#length : this.#placeOf(before + wanted, from);
    this.#isDone = to >= this.#length;
    const rowCount = this.#sizes.begin(this.#rowsBefore(to) - before);
    this.#place = to;
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

  /** A guess, so that doubles are exact enough. */
  #rowsBefore(place: bigint): number {
    const at = Number(place);
    let sum = 0;
    for (const { from, to, rowCount } of this.#spans) {
      if (at >= to) sum += rowCount;
      else if (at > from) sum += rowCount * ((at - from) / (to - from));
    }
    return sum;
  }

  /** The place before which there are so many rows; behind `from`, so that each slice holds an instant. */
  #placeOf(rows: number, from: bigint): bigint {
    let [low, high] = [from, this.#length];
    while (high - low > 1n) {
      const middle = (low + high) >> 1n;
      if (this.#rowsBefore(middle) < rows) low = middle;
      else high = middle;
    }
    return high;
  }
}

/** From the first to the last of the rows within the bounds, as far as is known. */
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

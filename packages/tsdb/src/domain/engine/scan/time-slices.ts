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

/** With about as many rows as lie in it. */
export interface GuessedSlice extends TimeSlice {
  readonly rowCount: number;
}

/** The first rows should come soon. */
const FIRST_ROWS = 64_000;

/** Slices of clients that are slower than the engine; each holds one in memory. */
const SLOW_ROWS = 128_000;

/** Of those that are faster: large enough that beginning anew costs little, and rows of one are used while the next is made. */
const FAST_ROWS = 256_000;

/** Every slice looks at all files of its days: there must not be many more, and none is larger than can well be held. */
const FAST_COUNT = 16;
const MAX_ROWS = 4_000_000;

/** However little memory there is for a slice, it has so many rows, or as many of wide ones as are worth a look at all times, and
 * there are not many more than so many of them. */
const LEAST_ROWS = 8192;
const MOST_COUNT = 1024;

const GROWTH = 4;

/** A condition may keep so few of the rows that it is asked about larger and larger slices until it has all. */
const LEAST_SHARE = 1 / 4096;
/** Of very few rows, none may be found by chance. */
const CHANCE_ROWS = 16;

/**
 * Cuts the time that a query asks about into slices of about as many rows as are good to hold at once. What lies in a span
 * is taken to be spread evenly; each slice corrects the guess about the next. They grow as long as the client takes rows as
 * fast as they are made.
 */
export class TimeSlices {
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
  #place = 0n;
  #isDone = false;
  #sizeRows = FIRST_ROWS;
  #guessedRows = 0;
  #foundRows = 0;

  /** @returns `undefined` when the answer has no more than so few rows. */
  static of(options: {
    readonly bounds: TimeSlice;
    readonly spans: readonly TimeSpan[];
    readonly isDescending: boolean;
    readonly leastRows?: number;
  }): TimeSlices | undefined {
    const slices = new TimeSlices(options);
    return slices.#total > (options.leastRows ?? LEAST_ROWS) ? slices : undefined;
  }

  private constructor(options: {
    readonly bounds: TimeSlice;
    readonly spans: readonly TimeSpan[];
    readonly isDescending: boolean;
  }) {
    const { bounds, spans, isDescending } = options;
    this.#bounds = bounds;
    this.#isDescending = isDescending;
    const min = spans.reduce((least, span) => earlier(least, span.minTime), bounds.maxTime);
    const max = spans.reduce((most, span) => later(most, span.maxTime), bounds.minTime);
    const first = later(min, bounds.minTime);
    const last = earlier(max, bounds.maxTime);
    this.#start = isDescending ? last : first;
    this.#length = last < first ? 0n : last - first + 1n;
    const place = (time: bigint): number => Number(isDescending ? last - time : time - first);
    this.#spans = spans.map(({ minTime, maxTime, rowCount }) => ({
      from: place(isDescending ? maxTime : minTime),
      to: place(isDescending ? minTime : maxTime) + 1,
      rowCount,
    }));
    this.#total = this.#rowsBefore(this.#length) - this.#rowsBefore(0n);
  }

  /** About as many as the answer has, unless conditions leave out some. */
  get rowCount(): number {
    return this.#total;
  }

  /**
   * The next slice; the last one reaches to the end of what was asked for.
   * @param rows.fitting about as many as there is memory for.
   * @param rows.least so many are few.
   */
  next(rows = { fitting: MAX_ROWS, least: LEAST_ROWS }): GuessedSlice | undefined {
    if (this.#isDone) return undefined;
    const leastRows = Math.max(Math.min(LEAST_ROWS, rows.least), this.#total / MOST_COUNT);
    const wantedRows = Math.min(this.#sizeRows, Math.max(leastRows, rows.fitting));
    const from = this.#place;
    const before = this.#rowsBefore(from);
    const wanted = wantedRows / this.#share;
    // A small rest is not worth asking again.
    const isSmallRest = this.#rowsBefore(this.#length) - before <= wanted * 1.5;
    const to = isSmallRest ? this.#length : this.#placeOf(before + wanted, from);
    this.#isDone = to >= this.#length;
    const guessed = this.#rowsBefore(to) - before;
    const rowCount = Math.ceil(guessed * this.#share);
    this.#guessedRows += guessed;
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

  /** Tells what came of the slice before. */
  ended(slice: {
    readonly rowCount: number;
    readonly engineMs: number;
    readonly clientMs: number;
  }): void {
    this.#foundRows += slice.rowCount;
    const isSlow = slice.clientMs > slice.engineMs * GROWTH;
    this.#sizeRows = isSlow
      ? Math.max(SLOW_ROWS, this.#sizeRows / GROWTH)
      : Math.min(this.#fastRows, this.#sizeRows * GROWTH);
  }

  get #fastRows(): number {
    return Math.min(MAX_ROWS, Math.max(FAST_ROWS, this.#total / FAST_COUNT));
  }

  /** Of the rows that lie in a slice, those that the query finds. */
  get #share(): number {
    if (this.#guessedRows === 0) return 1;
    const share = (this.#foundRows + CHANCE_ROWS) / (this.#guessedRows + CHANCE_ROWS);
    return Math.min(1, Math.max(LEAST_SHARE, share));
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

const earlier = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const later = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** The first rows should come soon. */
const FIRST_ROWS = 64_000;

/** Slices of clients that are slower than the engine; each holds one in memory. */
const SLOW_ROWS = 128_000;

/** Of those that are faster: large enough that beginning anew costs little, and rows of one are used while the next is made. */
const FAST_ROWS = 256_000;

/** Every slice looks at all files of its days: there must not be many more, and none is larger than can well be held. */
const FAST_COUNT = 16;
export const MAX_ROWS = 4_000_000;

/** However little memory there is for a slice, it has so many rows, or as many of wide ones as are worth a look at all times, and
 * there are not many more than so many of them. */
export const LEAST_ROWS = 8192;
const MOST_COUNT = 1024;

const GROWTH = 4;

/** A condition may keep so few of the rows that it is asked about larger and larger slices until it has all. */
const LEAST_SHARE = 1 / 4096;
/** Of very few rows, none may be found by chance. */
const CHANCE_ROWS = 16;

/** A small rest is not worth asking again. */
export const SMALL_REST = 1.5;

/** How many rows a slice may have. */
export interface FittingRows {
  /** About as many as there is memory for. */
  readonly fitting: number;
  /** So many are few. */
  readonly least: number;
}

/** What became of a slice. */
export interface EndedSlice {
  readonly rowCount: number;
  readonly engineMs: number;
  readonly clientMs: number;
}

/**
 * About how many rows the next slice of an answer should look at. Each slice corrects the guess about the next, and they grow as
 * long as the client takes rows as fast as they are made.
 */
export class SliceSizes {
  readonly #total: number;
  #sizeRows = FIRST_ROWS;
  #guessedRows = 0;
  #foundRows = 0;

  /** @param total rows that the answer has, unless conditions leave out some. */
  constructor(total: number) {
    this.#total = total;
  }

  /** Of the rows that lie there, how many the next slice should have. */
  wanted(rows: FittingRows): number {
    const leastRows = Math.max(Math.min(LEAST_ROWS, rows.least), this.#total / MOST_COUNT);
    return Math.min(this.#sizeRows, Math.max(leastRows, rows.fitting)) / this.#share;
  }

  /** Tells how many rows lie in the next slice. @returns about as many as the query finds of them. */
  begin(rowCount: number): number {
    const found = Math.ceil(rowCount * this.#share);
    this.#guessedRows += rowCount;
    return found;
  }

  ended(slice: EndedSlice): void {
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
}

/** Small, so that the first rows arrive soon. */
const FIRST_ROWS = 64_000;

/** Slice size for clients that are slower than DuckDB; each keeps one slice in memory. */
const SLOW_ROWS = 128_000;

/**
 * Slice size for faster clients: large enough that the cost per statement is small. One slice is
 * sent while the next is computed.
 */
const FAST_ROWS = 256_000;

/**
 * Every slice reads all files of its days, so there are about this many at most; `MAX_ROWS` limits
 * their size.
 */
const FAST_COUNT = 16;
export const MAX_ROWS = 4_000_000;

/**
 * Default minimum rows per slice, regardless of available memory. Wide rows have a lower minimum. `MOST_COUNT` limits
 * the number of slices.
 */
export const LEAST_ROWS = 8192;
const MOST_COUNT = 1024;

const GROWTH = 4;

/**
 * Lower bound of the estimated fraction of matching rows: with a very selective condition, slices
 * grow until one covers the rest.
 */
const LEAST_SHARE = 1 / 4096;
/** Prior weight in rows, because a few rows may match nothing by chance. */
const CHANCE_ROWS = 16;

/** A remainder of up to this many slices is read together with the last. */
export const SMALL_REST = 1.5;

/** Limits of the row count of a slice. */
export interface FittingRows {
  /** Approximate number of rows that fit in memory. */
  readonly fitting: number;
  /** A slice with this many rows is acceptable even with little memory. */
  readonly least: number;
}

/** Measurements of a finished slice. */
export interface EndedSlice {
  readonly rowCount: number;
  readonly duckDbMs: number;
  readonly clientMs: number;
}

/**
 * Estimates how many rows the next slice should cover. Each slice corrects the estimate, and slices grow while the
 * client reads as fast as slices are computed.
 */
export class SliceSizes {
  readonly #total: number;
  #sizeRows = FIRST_ROWS;
  #guessedRows = 0;
  #foundRows = 0;

  /** @param total rows of the result, before conditions. */
  constructor(total: number) {
    this.#total = total;
  }

  /** Returns the number of stored rows that the next slice should cover. */
  targetRows(rows: FittingRows): number {
    const leastRows = Math.max(Math.min(LEAST_ROWS, rows.least), this.#total / MOST_COUNT);
    return Math.min(this.#sizeRows, Math.max(leastRows, rows.fitting)) / this.#share;
  }

  /**
   * Records how many stored rows the next slice covers. @returns the estimated number that match.
   */
  begin(rowCount: number): number {
    const found = Math.ceil(rowCount * this.#share);
    this.#guessedRows += rowCount;
    return found;
  }

  ended(slice: EndedSlice): void {
    this.#foundRows += slice.rowCount;
    const isSlow = slice.clientMs > slice.duckDbMs * GROWTH;
    this.#sizeRows = isSlow
      ? Math.max(SLOW_ROWS, this.#sizeRows / GROWTH)
      : Math.min(this.#fastRows, this.#sizeRows * GROWTH);
  }

  get #fastRows(): number {
    return Math.min(MAX_ROWS, Math.max(FAST_ROWS, this.#total / FAST_COUNT));
  }

  /** Estimated fraction of stored rows that match. */
  get #share(): number {
    if (this.#guessedRows === 0) return 1;
    const share = (this.#foundRows + CHANCE_ROWS) / (this.#guessedRows + CHANCE_ROWS);
    return Math.min(1, Math.max(LEAST_SHARE, share));
  }
}

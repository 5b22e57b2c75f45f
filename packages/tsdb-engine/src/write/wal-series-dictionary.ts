import type { PackedDefinitions } from '@plinth/tsdb-storage/wal/write-record.js';
import type { SeriesIndex } from '../series/series-index.js';

/**
 * A log file redefines all series after at least this many rows. If a record with definitions is
 * damaged, the rows up to the next redefinition lose their tags.
 */
const MIN_ROWS_BEFORE_REDEFINITION = 4096;
/**
 * Minimum number of rows per repeated definition, so that definitions of many series use a small
 * part of the log. With many series, more rows precede the redefinition.
 */
const ROWS_PER_DEFINITION = 64;

/**
 * Tracks which series of one table the current log file defines: a record defines the series that
 * it uses first.
 */
export class WalSeriesDictionary {
  #defined = new Uint8Array(64);
  #file = -1;
  /** Number of definitions since all series were last redefined. */
  #definedCount = 0;
  #rowCount = 0;
  /** Scratch buffer for definitions. */
  #bytes = Buffer.alloc(1024);

  /** Makes the next record define all series again. */
  reset(): void {
    this.#file = -1;
  }

  /**
   * Counts rows after their definitions. After some number of rows, all series are redefined, so
   * that damage loses few definitions.
   */
  countRows(rowCount: number): void {
    this.#rowCount += rowCount;
    const rowsBeforeRedefinition = Math.max(
      MIN_ROWS_BEFORE_REDEFINITION,
      this.#definedCount * ROWS_PER_DEFINITION,
    );
    if (this.#rowCount >= rowsBeforeRedefinition) this.reset();
  }

  /** Returns the number of these rows whose series are not defined in log file number `file`. */
  countUndefined(file: number, series: Uint32Array): number {
    if (file !== this.#file) return series.length;
    let count = 0;
    // Series beyond the end of the array also count as undefined.
    for (let row = 0; row < series.length; row++) {
      if (this.#defined[series[row] as number] !== 1) count++;
    }
    return count;
  }

  /**
   * Returns the definitions that a record with these rows must contain in log file number `file`.
   */
  define(file: number, series: Uint32Array, index: SeriesIndex): PackedDefinitions {
    if (file !== this.#file) {
      this.#file = file;
      this.#defined.fill(0);
      this.#definedCount = 0;
      this.#rowCount = 0;
    }
    if (this.#defined.length < index.count) {
      const larger = new Uint8Array(Math.max(index.count, this.#defined.length * 2));
      larger.set(this.#defined);
      this.#defined = larger;
    }
    let count = 0;
    let size = 0;
    for (let row = 0; row < series.length; row++) {
      const ordinal = series[row] as number;
      if (this.#defined[ordinal] === 1) continue;
      this.#defined[ordinal] = 1;
      const { tagCount, sizeBytes } = index.sizeOfTags(ordinal);
      if (size + HEAD_SIZE + sizeBytes > this.#bytes.length)
        this.#grow(size, HEAD_SIZE + sizeBytes);
      this.#bytes.writeUInt32LE(ordinal, size);
      this.#bytes.writeUInt16LE(tagCount, size + 4);
      size = index.putTags(ordinal, this.#bytes, size + HEAD_SIZE);
      count++;
    }
    this.#definedCount += count;
    if (count === 0) return NONE;
    return { count, bytes: Uint8Array.prototype.slice.call(this.#bytes, 0, size) };
  }

  #grow(size: number, needed: number): void {
    const larger = Buffer.alloc(Math.max(this.#bytes.length * 2, size + needed));
    this.#bytes.copy(larger, 0, 0, size);
    this.#bytes = larger;
  }
}

/** Series ordinal and tag count, before the packed tags. */
const HEAD_SIZE = 6;

const NONE: PackedDefinitions = { count: 0, bytes: new Uint8Array(0) };

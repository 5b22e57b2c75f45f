import type { SeriesDefinition } from '../../storage/wal/write-record.js';
import type { SeriesIndex } from './series-index.js';

/** Which series of one table the current log file has defined: a record defines those it is the first to use. */
export class LogSeries {
  #defined = new Uint8Array(64);
  #file = -1;

  /** Defines everything anew from the next record on. */
  forget(): void {
    this.#file = -1;
  }

  /** How many of these rows are of series that log file number `file` has not defined. */
  countUndefined(file: number, series: Uint32Array): number {
    if (file !== this.#file) return series.length;
    let count = 0;
    // A series that is newer than the array is read as undefined, too.
    for (let row = 0; row < series.length; row++) {
      if (this.#defined[series[row] as number] !== 1) count++;
    }
    return count;
  }

  /** Definitions a record with these rows must carry in log file number `file` (any number that changes with the file). */
  define(file: number, series: Uint32Array, index: SeriesIndex): readonly SeriesDefinition[] {
    if (file !== this.#file) {
      this.#file = file;
      this.#defined.fill(0);
    }
    if (this.#defined.length < index.count) {
      const larger = new Uint8Array(Math.max(index.count, this.#defined.length * 2));
      larger.set(this.#defined);
      this.#defined = larger;
    }
    let definitions: SeriesDefinition[] | undefined;
    for (let row = 0; row < series.length; row++) {
      const dense = series[row] as number;
      if (this.#defined[dense] === 1) continue;
      this.#defined[dense] = 1;
      const { keys, values } = index.tagsOf(dense);
      definitions ??= [];
      definitions.push({ dense, tagKeys: keys, tagValues: values });
    }
    return definitions ?? NONE;
  }
}

const NONE: readonly SeriesDefinition[] = [];

import type { SqlType } from '../sql-type.js';
import type { SeriesOfRows } from './cached-texts.js';
import type { ColumnKind } from './column.js';

export interface OutputColumn {
  readonly name: string;
  readonly type: SqlType;
  /** What the column is in its table when it is passed through unchanged; `undefined` for expressions. */
  readonly source: ColumnKind | undefined;
}

/** Values of one column over the rows of a chunk; the array type follows `SqlType` (see its table). */
export interface ColumnVector {
  readonly values: ArrayLike<unknown>;
  /** Bit `i & 7` of byte `i >> 3` is set when row i is not NULL. `undefined`: no NULLs. */
  readonly validity: Uint8Array | undefined;
}

/** `null` is NULL; `undefined`: there is none. */
export function validityOf(values: ArrayLike<unknown>, rowCount: number): Uint8Array | undefined {
  if (!Array.isArray(values) || !values.includes(null)) return undefined;
  const bits = new Uint8Array((rowCount + 7) >> 3);
  for (let row = 0; row < rowCount; row++) {
    if (values[row] !== null) bits[row >> 3] = (bits[row >> 3] as number) | (1 << (row & 7));
  }
  return bits;
}

export interface ResultChunk {
  readonly rowCount: number;
  readonly columns: readonly ColumnVector[];
  /** Whose tags all of its dictionary columns are; `undefined`: nobody knows. */
  readonly series?: SeriesOfRows | undefined;
  /**
   * Gives the memory of the columns back: nobody may look at them afterwards. Who keeps the chunk, or does not care, does not
   * call it.
   */
  release?(): void;
}

/**
 * A running query's answer. Chunks come with back-pressure: the next is computed when it is asked for.
 * Ending the iteration early (or aborting the query's signal) interrupts the query and frees what it pinned.
 */
export interface ResultStream {
  readonly columns: readonly OutputColumn[];
  /** The table when FROM is exactly one base table. */
  readonly tableName: string | undefined;
  readonly chunks: AsyncIterable<ResultChunk>;
}

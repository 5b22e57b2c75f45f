import type { SqlType } from '../sql-type.js';
import type { ColumnKind } from './column.js';
import type { SeriesOfRows } from './encoded-tags.js';

export interface OutputColumn {
  readonly name: string;
  readonly type: SqlType;
  /** Kind of the table column that is passed through unchanged; `undefined` for expressions. */
  readonly tableColumnKind: ColumnKind | undefined;
}

/** Values of one column over the rows of a chunk. The array type depends on `SqlType`; see the table there. */
export interface ColumnVector {
  readonly values: ArrayLike<unknown>;
  /** Bit `i & 7` of byte `i >> 3` is set when row i is not NULL. `undefined`: no NULLs. */
  readonly validity: Uint8Array | undefined;
}

/** Returns the validity bits of values in which `null` is NULL; `undefined` if no value is NULL. */
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
  /** The series whose tags the dictionary columns contain; `undefined` if unknown. */
  readonly series?: SeriesOfRows | undefined;
  /**
   * Releases the memory of the columns, which must not be read afterwards. Calling it is optional.
   */
  release?(): void;
}

/**
 * The result of a running query. Chunks are computed on demand. Ending the iteration early or
 * aborting the query's signal interrupts the query and releases its pinned resources.
 */
export interface ResultStream {
  readonly columns: readonly OutputColumn[];
  /** Name of the table if FROM contains exactly one base table. */
  readonly tableName: string | undefined;
  readonly chunks: AsyncIterable<ResultChunk>;
}

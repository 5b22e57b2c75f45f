import {
  DuckDBListVector,
  DuckDBMapVector,
  DuckDBStructVector,
  type DuckDBValue,
  DuckDBVarCharVector,
  type DuckDBVector,
} from '@duckdb/node-api';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { addSizes } from './text-pieces.js';

/**
 * Maximum number of values in lists per chunk. They are JavaScript values in memory at the same
 * time, outside of DuckDB's memory limit.
 */
const MAX_NESTED_COUNT = 500_000;
/** Maximum bytes of strings in these lists. */
const MAX_NESTED_BYTES = 64 * 1024 * 1024;

/** Counts the values in lists of one chunk, column by column. */
export class NestedCount {
  #count = 0;
  #sizeBytes = 0;

  /**
   * Throws `execution_error` if the lists of the columns, including those in structs and maps,
   * exceed the limits.
   */
  add(vector: DuckDBVector<DuckDBValue>): void {
    if (vector instanceof DuckDBVarCharVector) {
      this.#sizeBytes += addSizes(vector);
      if (this.#sizeBytes > MAX_NESTED_BYTES) {
        throw tsdbError(
          'execution_error',
          `Resources exhausted: lists and structs in up to 2048 result rows contain more than ${MAX_NESTED_BYTES} bytes of text; unnest them, or query fewer rows`,
        );
      }
    }
    if (vector instanceof DuckDBStructVector) {
      for (const entry of partsOf(vector).entryVectors ?? []) this.add(entry);
    }
    const list = vector instanceof DuckDBMapVector ? partsOf(vector).listVector : vector;
    if (!(list instanceof DuckDBListVector)) return;
    const values = list.childVector;
    this.#count += values.itemCount;
    if (this.#count > MAX_NESTED_COUNT) {
      throw tsdbError(
        'execution_error',
        `Resources exhausted: lists in up to 2048 result rows contain more than ${MAX_NESTED_COUNT} values; unnest them, or query fewer rows`,
      );
    }
    this.add(values);
  }
}

interface Parts {
  readonly entryVectors?: readonly DuckDBVector<DuckDBValue>[];
  readonly listVector?: DuckDBVector<DuckDBValue>;
}

/** Returns the children of structs and maps, which the binding's types hide. */
function partsOf(vector: DuckDBVector<DuckDBValue>): Parts {
  return vector as unknown as Parts;
}

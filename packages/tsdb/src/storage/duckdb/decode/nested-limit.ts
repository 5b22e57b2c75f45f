import {
  DuckDBListVector,
  DuckDBMapVector,
  DuckDBStructVector,
  type DuckDBValue,
  DuckDBVarCharVector,
  type DuckDBVector,
} from '@duckdb/node-api';
import { tsdbError } from '../../../errors.js';
import { addSizes } from './text-pieces.js';

/**
 * Values in the lists of all columns of one chunk. They are held as JavaScript values at the same time, outside of the memory limit of
 * DuckDB.
 */
const MAX_NESTED_COUNT = 500_000;
/** Bytes of the texts in them. */
const MAX_NESTED_BYTES = 64 * 1024 * 1024;

/** Counts the values in lists of one chunk, column by column. */
export class NestedCount {
  #count = 0;
  #sizeBytes = 0;

  /** Throws `execution_error` when the lists of the columns, or in their structs and maps, are too long to be handed out. */
  add(vector: DuckDBVector<DuckDBValue>): void {
    if (vector instanceof DuckDBVarCharVector) {
      this.#sizeBytes += addSizes(vector);
      if (this.#sizeBytes > MAX_NESTED_BYTES) {
        throw tsdbError(
          'execution_error',
          `Resources exhausted: lists and structs with more than ${MAX_NESTED_BYTES} bytes of text in up to 2048 rows are too long for a result; unnest them, or ask for fewer rows`,
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
        `Resources exhausted: lists of more than ${MAX_NESTED_COUNT} values in up to 2048 rows are too long for a result; unnest them, or ask for fewer rows`,
      );
    }
    this.add(values);
  }
}

interface Parts {
  readonly entryVectors?: readonly DuckDBVector<DuckDBValue>[];
  readonly listVector?: DuckDBVector<DuckDBValue>;
}

/** What structs and maps are made of, which the binding's types keep to themselves. */
function partsOf(vector: DuckDBVector<DuckDBValue>): Parts {
  return vector as unknown as Parts;
}

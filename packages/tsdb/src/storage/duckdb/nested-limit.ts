import {
  DuckDBListVector,
  DuckDBMapVector,
  DuckDBStructVector,
  type DuckDBValue,
  type DuckDBVector,
} from '@duckdb/node-api';
import { ExecutionError } from '../../errors.js';

/**
 * Values in the lists of one chunk. They become JavaScript values all at once, outside of the engine's memory limit and
 * with the event loop held: some tens of millions would stop the server for half a minute.
 */
const MAX_NESTED_COUNT = 4_000_000;

/** Throws `ExecutionError` when the lists of a column, or in its structs and maps, are too long to be handed out. */
export function checkNesting(vector: DuckDBVector<DuckDBValue>): void {
  if (vector instanceof DuckDBStructVector) {
    for (const entry of partsOf(vector).entryVectors ?? []) checkNesting(entry);
  }
  const list = vector instanceof DuckDBMapVector ? partsOf(vector).listVector : vector;
  if (!(list instanceof DuckDBListVector)) return;
  const values = list.childVector;
  if (values.itemCount > MAX_NESTED_COUNT) {
    throw new ExecutionError(
      `Resources exhausted: lists of ${values.itemCount} values at once are too long for a result`,
    );
  }
  checkNesting(values);
}

interface Parts {
  readonly entryVectors?: readonly DuckDBVector<DuckDBValue>[];
  readonly listVector?: DuckDBVector<DuckDBValue>;
}

/** What structs and maps are made of, which the binding's types keep to themselves. */
function partsOf(vector: DuckDBVector<DuckDBValue>): Parts {
  return vector as unknown as Parts;
}

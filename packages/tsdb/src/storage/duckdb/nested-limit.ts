import { DuckDBListVector, type DuckDBValue, type DuckDBVector } from '@duckdb/node-api';
import { ExecutionError } from '../../errors.js';

/**
 * Values in the lists of one chunk. They become JavaScript values all at once, outside of the engine's memory limit and
 * with the event loop held: some tens of millions would stop the server for half a minute.
 */
const MAX_NESTED_COUNT = 4_000_000;

/** Throws `ExecutionError` when the lists of a column are too long to be handed out. */
export function checkNesting(vector: DuckDBVector<DuckDBValue>): void {
  if (!(vector instanceof DuckDBListVector)) return;
  const values = vector.childVector;
  if (values.itemCount > MAX_NESTED_COUNT) {
    throw new ExecutionError(
      `Resources exhausted: lists of ${values.itemCount} values at once are too long for a result`,
    );
  }
  checkNesting(values);
}

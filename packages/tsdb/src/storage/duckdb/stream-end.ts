import type { DuckDBResult } from '@duckdb/node-api';

/** Source: duckdb.h, `DUCKDB_RESULT_TYPE_QUERY_RESULT`. The library with its name is not read at the start. */
const QUERY_RESULT = 3;

/** Files that make no sense are a reason, too. */
export const FAILED_ON_THE_WAY = 'a value could not be computed, or there was too little memory';

/**
 * Tells the end of an answer from a failure on the way, after the chunk that stands for both: the binding hands out an empty
 * one and keeps the engine's error, but a result with an error is of no kind. To be asked before the next call of the result.
 */
export function throwUnlessWhole(result: DuckDBResult, rowCount: number): void {
  if ((result.returnType as number) === QUERY_RESULT) return;
  throw new Error(
    `Execution error: the statement failed after ${rowCount} rows: ${FAILED_ON_THE_WAY}`,
  );
}

import type { DuckDBConnection, DuckDBResult } from '@duckdb/node-api';
import { tsdbError } from '../../errors.js';

/** Source: duckdb.h, `DUCKDB_RESULT_TYPE_QUERY_RESULT`. The library with its name is not read at the start. */
const QUERY_RESULT = 3;

/** Corrupt files are a reason, too. */
export const FAILED_ON_THE_WAY = 'a value could not be computed, or there was too little memory';

/**
 * Tells the end of an answer from a failure on the way, after the chunk that stands for both: the binding hands out an empty
 * one and keeps the engine's error, but a result with an error is of no kind. To be asked before the next call of the result.
 */
export const isWhole = (result: DuckDBResult): boolean =>
  (result.returnType as number) === QUERY_RESULT;

/** Errors of statements that cannot be nested (EXPLAIN). */
const OF_THE_FORM = /^(?:Parser|Binder|Catalog) Error/;

/**
 * Throws why `text` failed after `rowCount` rows. The binding reports an error only before the first row, so the statement runs
 * again inside an aggregate over all columns. Values and files fail again; memory may suffice the second time.
 */
export async function throwFailure(
  connection: Pick<DuckDBConnection, 'run'>,
  text: string,
  rowCount: number,
): Promise<never> {
  await connection.run('ROLLBACK').catch(() => undefined); // There need not be a transaction.
  try {
    await connection.run(`SELECT max(hash(rows)) FROM (${text}) AS rows`);
  } catch (error) {
    if (!(error instanceof Error && OF_THE_FORM.test(error.message))) throw error;
    throw tsdbError(
      'query_failed',
      `Execution error: the statement failed after ${rowCount} rows: ${FAILED_ON_THE_WAY}`,
    );
  }
  throw tsdbError(
    'query_out_of_memory',
    `Resources exhausted: the query ran out of memory after ${rowCount} rows`,
  );
}

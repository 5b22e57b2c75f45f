import type { DuckDBConnection, DuckDBResult } from '@duckdb/node-api';
import { tsdbError } from '@plinth/tsdb-model/errors.js';

/**
 * Source: duckdb.h, `DUCKDB_RESULT_TYPE_QUERY_RESULT`. A constant, because the library is not
 * loaded at startup.
 */
const QUERY_RESULT = 3;

/** Corrupt files are another possible cause. */
export const FAILED_ON_THE_WAY = 'a value could not be computed, or memory ran out';

/**
 * Returns whether a result has ended normally. After an error the binding also returns an empty
 * chunk and hides DuckDB's error, but the result type differs. Call it before the next call on the
 * result.
 */
export const endedNormally = (result: DuckDBResult): boolean =>
  (result.returnType as number) === QUERY_RESULT;

/** Errors of statements that cannot be nested (EXPLAIN). */
const OF_THE_FORM = /^(?:Parser|Binder|Catalog) Error/;

/**
 * Throws the reason why `text` failed after `rowCount` rows. The binding reports errors only before
 * the first row, so the statement runs again inside an aggregate over all columns. Invalid values
 * and files fail again; memory may suffice the second time.
 */
export async function throwFailure(
  connection: Pick<DuckDBConnection, 'run'>,
  text: string,
  rowCount: number,
): Promise<never> {
  await connection.run('ROLLBACK').catch(() => undefined); // ROLLBACK fails outside of a transaction
  try {
    // The name of the row differs from the names of all columns: see `choosePhysicalName`.
    await connection.run(`SELECT max(hash(_series_rows)) FROM (${text}) AS _series_rows`);
  } catch (error) {
    if (!(error instanceof Error && OF_THE_FORM.test(error.message))) throw error;
    throw tsdbError(
      'query_failed',
      `Execution error: the statement failed after ${rowCount} rows: ${FAILED_ON_THE_WAY}`,
    );
  }
  throw tsdbError(
    'query_out_of_memory',
    `Resources exhausted: the query ran out of memory after ${rowCount} rows; query fewer rows or columns`,
  );
}

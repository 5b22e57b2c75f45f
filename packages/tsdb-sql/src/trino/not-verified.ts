import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';

/**
 * The error for everything whose result in Trino has not been compared with DuckDB's. `fix` is another statement that
 * can run on Trino.
 */
export const notVerified = (what: string, fix?: string): TsdbError<'plan_error'> =>
  tsdbError(
    'plan_error',
    `${what} is not verified for trino; ${fix === undefined ? '' : `${fix}, or `}omit engine=trino`,
  );

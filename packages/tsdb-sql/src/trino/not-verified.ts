import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';

/** The error for everything whose result in Trino has not been compared with DuckDB's. */
export const notVerified = (what: string): TsdbError<'plan_error'> =>
  tsdbError('plan_error', `${what} is not verified for trino`);

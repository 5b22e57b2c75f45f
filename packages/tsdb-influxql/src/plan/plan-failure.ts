import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';

/**
 * Returns the error for a statement that cannot be planned. Source: query-languages, "More error
 * messages".
 */
export function planFailure(text: string): TsdbError<'plan_error'> {
  return tsdbError('plan_error', `Error during planning: ${text}`);
}

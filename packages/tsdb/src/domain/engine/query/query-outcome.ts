import { tsdbError } from '../../../errors.js';
import type { LoggedQuery } from '../../system-tables/logged-query.js';

/** Notes how a query ended that failed; returns the error, to be thrown. */
export function noteFailure<E>(logged: LoggedQuery, error: E): E {
  logged.ended(tsdbError.is(error, 'query_cancelled') ? 'cancel' : 'fail');
  return error;
}

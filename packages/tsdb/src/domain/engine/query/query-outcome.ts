import { QueryCancelled } from '../../../errors.js';
import type { LoggedQuery } from '../../system-tables/logged-query.js';

/** Notes how a query ended that failed; returns the error, to be thrown. */
export function noteFailure<E>(logged: LoggedQuery, error: E): E {
  logged.ended(error instanceof QueryCancelled ? 'cancel' : 'fail');
  return error;
}

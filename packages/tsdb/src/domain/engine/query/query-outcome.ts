import { tsdbError } from '../../../errors.js';
import { endOfQuery } from '../../../model/end-of-query.js';
import type { QueryOwner } from '../../../model/query-owner.js';
import type { LoggedQuery, QueryOutcome } from '../../system-tables/logged-query.js';
import { QueryDeadline } from './slots/query-deadline.js';

/**
 * Starts the time limit of a logged query, which also ends if the query is canceled in the query
 * log.
 */
export function beginDeadline(
  logged: LoggedQuery,
  of: {
    readonly client: Pick<QueryOwner, 'signal'>;
    readonly owner: string;
    readonly limitMs: number;
  },
): QueryDeadline {
  const { client, owner, limitMs } = of;
  const deadline = new QueryDeadline(client, owner, limitMs, (over) =>
    noteFailure(logged, endOfQuery(over)),
  );
  deadline.reserved = (sizeBytes) => logged.reserved(sizeBytes);
  logged.endsBy(() => deadline.cancel());
  return deadline;
}

/** Outcome of a query that failed with `error`. */
export const outcomeOf = (error: unknown): QueryOutcome =>
  tsdbError.is(error, 'query_cancelled') ? 'cancel' : 'fail';

/** Logs the outcome of a failed query; returns the error for rethrowing. */
export function noteFailure<E>(logged: LoggedQuery, error: E): E {
  logged.ended(outcomeOf(error));
  return error;
}

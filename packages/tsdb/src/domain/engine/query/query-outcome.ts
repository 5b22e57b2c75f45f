import { tsdbError } from '../../../errors.js';
import { endOfQuery } from '../../../model/end-of-query.js';
import type { QueryOwner } from '../../../model/query-owner.js';
import type { LoggedQuery, QueryOutcome } from '../../system-tables/logged-query.js';
import { QueryDeadline } from './slots/query-deadline.js';

/** Begins the time of a query that is logged, which also ends when somebody cancels it in the query log. */
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

/** Of a query that failed with `error`. */
export const outcomeOf = (error: unknown): QueryOutcome =>
  tsdbError.is(error, 'query_cancelled') ? 'cancel' : 'fail';

/** Notes how a query ended that failed; returns the error, to be thrown. */
export function noteFailure<E>(logged: LoggedQuery, error: E): E {
  logged.ended(outcomeOf(error));
  return error;
}

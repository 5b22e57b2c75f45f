import { endOfQuery } from '@plinth/tsdb-model/query/end-of-query.js';
import { outcomeOf } from '@plinth/tsdb-model/query/query-outcome.js';
import type { QueryOwner } from '@plinth/tsdb-model/query/query-owner.js';
import type { LoggedQuery } from './log/logged-query.js';
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
  logged.endsBy((reason) => deadline.cancel(reason));
  return deadline;
}

/** Logs the outcome of a failed query; returns the error for rethrowing. */
export function noteFailure<E>(logged: LoggedQuery, error: E): E {
  logged.ended(outcomeOf(error));
  return error;
}

import { endOfQuery } from '@plinth/tsdb-model/query/end-of-query.js';
import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';
import { outcomeOf } from '@plinth/tsdb-model/query/query-outcome.js';
import type { LoggedQuery } from './log/logged-query.js';
import { QueryDeadline } from './slots/query-deadline.js';

/**
 * Starts the time limit of a logged query, which also ends if the query is canceled in the query
 * log.
 */
export function beginDeadline(
  logged: LoggedQuery,
  options: {
    readonly client: Pick<QueryContext, 'signal'>;
    readonly owner: string;
    readonly limitMs: number;
  },
): QueryDeadline {
  const { client, owner, limitMs } = options;
  const deadline = new QueryDeadline(client, owner, limitMs, (aborted) =>
    noteFailure(logged, endOfQuery(aborted)),
  );
  deadline.reserved = (sizeBytes) => logged.reserved(sizeBytes);
  logged.cancelWith((reason) => deadline.cancel(reason));
  return deadline;
}

/** Logs the outcome of a failed query; returns the error for rethrowing. */
export function noteFailure<E>(logged: LoggedQuery, error: E): E {
  logged.ended(outcomeOf(error));
  return error;
}

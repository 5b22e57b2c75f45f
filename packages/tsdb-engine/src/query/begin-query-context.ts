import { endOfQuery } from '@plinth/tsdb-model/query/end-of-query.js';
import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';
import { outcomeOf } from '@plinth/tsdb-model/query/query-outcome.js';
import type { LoggedQuery } from './log/logged-query.js';
import { CancellableQueryContext } from './slots/cancellable-query-context.js';

/**
 * Starts the time limit of a logged query, which also ends if the query is canceled in the query
 * log.
 */
export function beginQueryContext(
  logged: LoggedQuery,
  options: {
    readonly client: Pick<QueryContext, 'signal'>;
    readonly owner: string;
    readonly limitMs: number;
  },
): CancellableQueryContext {
  const { client, owner, limitMs } = options;
  const queryContext = new CancellableQueryContext(client, owner, limitMs, (aborted) =>
    noteFailure(logged, endOfQuery(aborted)),
  );
  queryContext.reserved = (sizeBytes) => logged.reserved(sizeBytes);
  logged.cancelWith((reason) => queryContext.cancel(reason));
  return queryContext;
}

/** Logs the outcome of a failed query; returns the error for rethrowing. */
export function noteFailure<E>(logged: LoggedQuery, error: E): E {
  logged.ended(outcomeOf(error));
  return error;
}

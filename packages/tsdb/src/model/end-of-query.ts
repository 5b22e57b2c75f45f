import { QueryCancelled, QueryTimedOut } from '../errors.js';

/** Why a query ends whose signal was aborted: its time is over, or nobody waits for it any more. */
export function endOfQuery({ reason }: AbortSignal): QueryTimedOut | QueryCancelled {
  return reason instanceof QueryTimedOut ? reason : new QueryCancelled();
}

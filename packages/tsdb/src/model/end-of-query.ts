import { type TsdbError, tsdbError } from '../errors.js';

/** Why a query ends whose signal was aborted: its time is over, or nobody waits for it any more. */
export function endOfQuery({
  reason,
}: AbortSignal): TsdbError<'query_timed_out' | 'query_cancelled'> {
  return tsdbError.is(reason, 'query_timed_out') ? reason : tsdbError('query_cancelled');
}

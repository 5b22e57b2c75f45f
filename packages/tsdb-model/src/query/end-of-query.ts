import { type TsdbError, tsdbError } from '../errors.js';

/**
 * Returns the error of a query whose signal was aborted: a timeout, a revoked credential, or a
 * cancellation by default.
 */
export function endOfQuery({
  reason,
}: AbortSignal): TsdbError<'query_timed_out' | 'query_unauthorized' | 'query_cancelled'> {
  if (tsdbError.is(reason, 'query_timed_out')) return reason;
  return tsdbError.is(reason, 'query_unauthorized') ? reason : tsdbError('query_cancelled');
}

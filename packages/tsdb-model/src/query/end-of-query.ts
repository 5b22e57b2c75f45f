import { type TsdbError, tsdbError } from '../errors.js';

/**
 * Returns the error of a query whose signal was aborted: a timeout, or a cancellation by default.
 */
export function endOfQuery({
  reason,
}: AbortSignal): TsdbError<'query_timed_out' | 'query_cancelled'> {
  return tsdbError.is(reason, 'query_timed_out') ? reason : tsdbError('query_cancelled');
}

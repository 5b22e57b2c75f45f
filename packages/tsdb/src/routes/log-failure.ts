import type { Logger } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';

/** The log for failures of one request. */
export interface FailureLog {
  readonly log: Logger;
  /** The id that the client or a proxy sent. */
  readonly requestId?: string | undefined;
}

/**
 * Logs a failure that the server caused and that is not logged elsewhere. Skips 503, because the server logs once why
 * it rejects requests.
 * @param status HTTP status of the failure, also for protocols that respond with another one.
 */
export function logFailure(error: unknown, status: number, { log, requestId }: FailureLog): void {
  if (status < 500 || status === 503) return;
  if (!tsdbError.is(error) || error.kind === 'query_failed') {
    log.error({ requestId, err: error }, 'request failed');
    return;
  }
  // Dashboards cancel queries all the time; a timeout or a missing setting is not a bug either.
  const level = error.kind === 'query_cancelled' ? 'debug' : 'info';
  log[level]({ requestId, kind: error.kind, reason: error.message }, 'request failed');
}

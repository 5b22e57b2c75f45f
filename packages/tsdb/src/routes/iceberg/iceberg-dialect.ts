import { type Dialect, type HttpAnswer, withHeaders } from '@plinth/kernel';
import type { Identify } from '../flight/flight-dialect.js';
import { clientHeaders, clientMessage } from '../to-wire.js';
import { ICEBERG_ERROR, icebergFailure } from './iceberg-answers.js';

export const ICEBERG_PATH = '/iceberg';

/**
 * The catalog authenticates like all time-series routes; errors have the format of its specification. It is read-only, so
 * every other method is forbidden.
 * @param base decides on the status of errors
 */
export const icebergDialect = (base: Dialect, identify: Identify): Dialect => ({
  service: 'tsdb',
  paths: [ICEBERG_PATH],
  refusals: { name: 'IcebergError', schema: ICEBERG_ERROR, shared: {} },
  identify,
  answerError: (error, request) => inFormat(base.answerError(error, request), error),
  answerNotFound: ({ method }) =>
    method === 'GET' || method === 'HEAD'
      ? icebergFailure(404, 'no such resource in this catalog')
      : icebergFailure(403, 'the catalog is read-only; write to the database instead'),
});

function inFormat(answer: HttpAnswer, error: unknown): HttpAnswer {
  const { status } = answer;
  return withHeaders(icebergFailure(status, clientMessage(error, status)), clientHeaders(answer));
}

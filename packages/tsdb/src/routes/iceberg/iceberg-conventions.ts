import { type ApiConventions, type HttpResponse, withHeaders } from '@plinth/kernel';
import type { Identify } from '../flight/flight-conventions.js';
import { clientHeaders, clientMessage } from '../to-wire.js';
import { ICEBERG_ERROR, icebergFailure } from './iceberg-responses.js';

export const ICEBERG_PATH = '/iceberg';

/**
 * The catalog authenticates like all time-series routes; errors have the format of its specification. It is read-only, so
 * every other method is forbidden.
 * @param base decides on the status of errors
 */
export const icebergConventions = (base: ApiConventions, identify: Identify): ApiConventions => ({
  service: 'tsdb',
  paths: [ICEBERG_PATH],
  refusals: { name: 'IcebergError', schema: ICEBERG_ERROR, shared: {} },
  identify,
  errorResponse: (error, request) => inFormat(base.errorResponse(error, request), error),
  notFoundResponse: ({ method }) =>
    method === 'GET' || method === 'HEAD'
      ? icebergFailure(404, 'no such resource in this catalog')
      : icebergFailure(403, 'the catalog is read-only; write to the database instead'),
});

function inFormat(response: HttpResponse, error: unknown): HttpResponse {
  const { status } = response;
  return withHeaders(icebergFailure(status, clientMessage(error, status)), clientHeaders(response));
}

import { type ApiConventions, type HttpHead, type HttpResponse, withHeaders } from '@plinth/kernel';
import type { Identify } from '../flight/flight-conventions.js';
import { clientHeaders, clientMessage } from '../to-wire.js';
import { statusResponse } from './otlp-message.js';

export const METRICS_PATH = '/v1/metrics';

/** The schema of `google.rpc.Status` in JSON. */
const STATUS_SCHEMA = {
  type: 'object',
  properties: { message: { type: 'string', description: 'error message' } },
};

/** Authenticates like all time-series routes; errors are a `Status` message. */
export const otlpConventions = (base: ApiConventions, identify: Identify): ApiConventions => ({
  service: 'tsdb',
  paths: [METRICS_PATH],
  refusals: { name: 'OtlpStatus', schema: STATUS_SCHEMA, shared: {} },
  identify,
  errorResponse: (error, request) =>
    asStatus(base.errorResponse(error, request), { error, request }),
  notFoundResponse: (request, allowed) =>
    asStatus(base.notFoundResponse(request, allowed), {
      request,
      message: `${request.method} is not supported on this path; use POST`,
    }),
});

/** Converts an error response with its status and message to the OTLP format. */
export function asStatus(
  response: HttpResponse,
  { error, request, message }: { error?: unknown; request: HttpHead; message?: string },
): HttpResponse {
  const { status } = response;
  const text = message ?? clientMessage(error, status);
  return withHeaders(statusResponse(request.headers, status, text), clientHeaders(response));
}

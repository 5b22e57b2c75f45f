import { type Dialect, type HttpAnswer, type HttpHead, withHeaders } from '@plinth/kernel';
import type { Identify } from '../flight/flight-dialect.js';
import { clientHeaders, clientMessage } from '../to-wire.js';
import { statusAnswer } from './otlp-message.js';

export const METRICS_PATH = '/v1/metrics';

/** The schema of `google.rpc.Status` in JSON. */
const STATUS_SCHEMA = {
  type: 'object',
  properties: { message: { type: 'string', description: 'what is wrong' } },
};

/** Authenticates like all time-series routes; errors are a `Status` message. */
export const otlpDialect = (base: Dialect, identify: Identify): Dialect => ({
  service: 'tsdb',
  paths: [METRICS_PATH],
  refusals: { name: 'OtlpStatus', schema: STATUS_SCHEMA, shared: {} },
  identify,
  answerError: (error, request) => asStatus(base.answerError(error, request), { error, request }),
  answerNotFound: (request, allowed) =>
    asStatus(base.answerNotFound(request, allowed), { request, message: 'send POST requests' }),
});

/** An error response with its status and message in the format of OTLP. */
export function asStatus(
  answer: HttpAnswer,
  { error, request, message }: { error?: unknown; request: HttpHead; message?: string },
): HttpAnswer {
  const { status } = answer;
  const text = message ?? clientMessage(error, status);
  return withHeaders(statusAnswer(request.headers, status, text), clientHeaders(answer));
}

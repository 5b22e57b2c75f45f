import { type HttpHeaders, OpenApi, type Route } from '@plinth/kernel';
import type { WriteOutcome } from '@plinth/tsdb-model/engine.js';
import { Type } from 'typebox';
import type { RouteDeps } from '../deps.js';
import { RP } from '../description.js';
import { queryStringOf } from '../query-string.js';
import { messageTarget, refusedSeries } from '../write/message-write.js';
import { write } from '../write/write-route.js';
import { METRICS_PATH } from './otlp-conventions.js';
import {
  JSON_TYPE,
  metricsResponse,
  otlpEncodingOf,
  otlpTypeOf,
  type PartialSuccess,
} from './otlp-message.js';

/** The database for requests that do not name one. */
const DEFAULT_DATABASE = 'opentelemetry';
/** The same header as in Arrow Flight. */
const DATABASE_HEADER = 'database';
const { response } = OpenApi;

/**
 * OpenTelemetry metrics over OTLP/HTTP. Exporters retry a request after 429, 502, 503 and 504, and
 * drop it after another error, so rejected points are a partial success. Source: tsdb-http,
 * "OpenTelemetry metrics".
 */
export function metricsRoute(deps: RouteDeps): Route {
  const { bodies, settings } = deps;
  return {
    method: 'POST',
    path: METRICS_PATH,
    about: { summary: 'Write metrics (OpenTelemetry, OTLP/HTTP)' },
    input: {
      query: Type.Object({
        db: Type.Optional(Type.String({ default: DEFAULT_DATABASE })),
        ...RP,
      }),
      headers: Type.Object({
        [DATABASE_HEADER]: Type.Optional(
          Type.String({ description: 'the database, if the query string names none' }),
        ),
      }),
      body: Type.String({
        description:
          'ExportMetricsServiceRequest in Protocol Buffers, or in JSON as application/json; may be sent with Content-Encoding: gzip',
      }),
      bodyType: 'application/x-protobuf',
      validation: 'parameters are those of the 1.x endpoint, and data points have their own parser',
    },
    output: {
      200: response(
        'ExportMetricsServiceResponse; partial_success counts data points that were not stored',
      ),
    },
    errors: {
      400: 'the body is not valid; nothing was stored',
      415: 'unsupported content type or encoding',
      422: 'a limit of databases is reached, or the columns are too sparse',
      503: 'too many rows are waiting to be stored; retry',
    },
    access: 'granted',
    cost: { resource: 'tsdb_write' },
    // Bodies are decoded on other threads.
    body: { maxBytes: settings.max_request_size_bytes, isLeftEncoded: true, memory: bodies },
    async handle(request) {
      try {
        const type = otlpTypeOf(request.headers);
        const queryString = queryStringOf(request.url) ?? '';
        const target = messageTarget(queryString, databaseOf(request.headers));
        const format = type === JSON_TYPE ? 'otlp_metrics_json' : 'otlp_metrics';
        const encoding = otlpEncodingOf(request.headers);
        const outcome = await write(request, target, deps, { encoding, format });
        return metricsResponse(type, partialSuccessOf(outcome));
      } finally {
        bodies.release(request.body);
      }
    },
  };
}

/** Returns the database in the header. Exporters with a base URL and gRPC calls have no query string. */
export const databaseOf = (headers: HttpHeaders): string =>
  headers[DATABASE_HEADER] || DEFAULT_DATABASE;

export function partialSuccessOf(outcome: WriteOutcome): PartialSuccess | undefined {
  if (outcome.refused.length === 0) return undefined;
  const message = refusedSeries(outcome, 'data points were rejected');
  return { rejected: outcome.lineCount - outcome.writtenCount, message };
}

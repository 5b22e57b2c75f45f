import { emptyResponse, type HttpResponse, OpenApi, type Route, withHeaders } from '@plinth/kernel';
import type { WriteOutcome } from '@plinth/tsdb-model/engine.js';
import { Type } from 'typebox';
import type { RouteDeps } from '../deps.js';
import { RP } from '../description.js';
import { cachedByQueryString, queryStringOf } from '../query-string.js';
import { failureResponse } from '../to-wire.js';
import { messageTarget, refusedSeries } from '../write/message-write.js';
import { write } from '../write/write-route.js';
import type { WriteTarget } from '../write/write-target.js';
import { messageOf } from './content-type.js';

const PATHS = ['/api/v1/write', '/api/v1/prom/write'];
/** The database for requests that do not name one. */
const DEFAULT_DATABASE = 'prometheus';
export const DATABASE = {
  db: Type.Optional(Type.String({ default: DEFAULT_DATABASE })),
  ...RP,
};
const FORMATS = {
  'prometheus.WriteRequest': 'remote_write',
  'io.prometheus.write.v2.Request': 'remote_write_2',
} as const;
const MESSAGES = ['prometheus.WriteRequest', 'io.prometheus.write.v2.Request'] as const;
const { response, json, ref } = OpenApi;

/**
 * Prometheus remote write. Prometheus retries a request after 429 and 5xx and drops it after other errors, so refused
 * series never cause a retry. Source: tsdb-http, "Prometheus remote write".
 */
export function remoteWriteRoutes(deps: RouteDeps): readonly Route[] {
  const { bodies, settings } = deps;
  const targetOf = cachedByQueryString(targetOfQuery);
  return PATHS.map((path) => ({
    method: 'POST',
    path,
    about: { summary: 'Write samples (Prometheus remote write 1.0 and 2.0)' },
    input: {
      query: Type.Object(DATABASE),
      body: Type.String({
        description:
          'prometheus.WriteRequest or io.prometheus.write.v2.Request in Protocol Buffers, in Snappy block format',
      }),
      bodyType: 'application/x-protobuf',
      validation: 'targets are cached by query string, and samples have their own parser',
    },
    output: {
      204: response('all samples were written'),
      400: response(
        'the body is not valid, or some series were refused and the others written',
        json({ anyOf: [ref('RefusedLines'), ref('Error')] }),
      ),
    },
    errors: {
      415: 'unsupported content type or encoding',
      422: 'a limit of databases, tables or columns is reached',
      503: 'too many rows are waiting to be stored; retry',
    },
    access: 'granted',
    cost: { resource: 'tsdb_write' },
    // Bodies are decoded on other threads.
    body: { maxBytes: settings.max_request_size_bytes, isLeftEncoded: true, memory: bodies },
    async handle(request) {
      try {
        const message = messageOf(request.headers, MESSAGES);
        const target = targetOf(queryStringOf(request.url) ?? '');
        const format = { encoding: 'snappy', format: FORMATS[message] } as const;
        const outcome = await write(request, target, deps, format);
        return withHeaders(responseOf(outcome), writtenHeaders(outcome));
      } finally {
        bodies.release(request.body);
      }
    },
  }));
}

/** Reads the parameters of the 1.x write endpoint; the database is optional. */
export const targetOfQuery = (queryString: string): WriteTarget =>
  messageTarget(queryString, DEFAULT_DATABASE);

function responseOf(outcome: WriteOutcome): HttpResponse {
  const { refused } = outcome;
  if (refused.length === 0) return emptyResponse(204);
  const error = refusedSeries(outcome, 'samples were refused');
  const data = refused.map(({ originalLine, lineNumber, message }) => ({
    original_line: originalLine,
    line_number: lineNumber,
    error_message: message,
  }));
  const isOverLimit = refused.some((line) => line.reason === 'limit');
  return failureResponse(isOverLimit ? 422 : 400, { error, data });
}

/** Source: Prometheus remote write 2.0, "Required Written Response Headers". */
const writtenHeaders = ({ writtenCount, histogramCount = 0 }: WriteOutcome) =>
  [
    ['x-prometheus-remote-write-samples-written', String(writtenCount - histogramCount)],
    ['x-prometheus-remote-write-histograms-written', String(histogramCount)],
    ['x-prometheus-remote-write-exemplars-written', '0'],
  ] as const;

import {
  type HttpRequest,
  type HttpResponse,
  OpenApi,
  piecesResponse,
  type Route,
} from '@plinth/kernel';
import { CatalogView } from '@plinth/tsdb-catalog/access/catalog-view.js';
import { decodeSnappy } from '@plinth/tsdb-ingest/prometheus/snappy.js';
import { accessOf } from '@plinth/tsdb-model/database/database-access.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { Type } from 'typebox';
import type { RouteDeps } from '../deps.js';
import { QUERY_FAILED } from '../description.js';
import { cachedByQueryString, queryStringOf } from '../query-string.js';
import { databaseToWrite } from '../write/write-route.js';
import { chunkedResponse } from './chunked-response.js';
import { messageOf } from './content-type.js';
import { decodeReadRequest } from './read-request.js';
import { readSamples } from './read-samples.js';
import { DATABASE, targetOfQuery } from './remote-write-routes.js';
import { sampledResponse } from './sampled-response.js';

const PATHS = ['/api/v1/read', '/api/v1/prom/read'];
/** A request contains only matchers. */
const MAX_BODY_BYTES = 1024 * 1024;
const CHUNKED_TYPE = 'application/x-streamed-protobuf; proto=prometheus.ChunkedReadResponse';

/** Prometheus remote read. Source: tsdb-http, "Prometheus remote read". */
export function remoteReadRoutes(deps: RouteDeps): readonly Route[] {
  const targetOf = cachedByQueryString(targetOfQuery);
  return PATHS.map((path) => ({
    method: 'POST',
    path,
    about: { summary: 'Read samples (Prometheus remote read)' },
    input: {
      query: Type.Object(DATABASE),
      body: Type.String({
        description: 'a prometheus.ReadRequest in Protocol Buffers, in Snappy block format',
      }),
      bodyType: 'application/x-protobuf',
      validation: 'targets are cached by query string, and the body has its own parser',
    },
    output: {
      200: OpenApi.response('prometheus.ReadResponse, or frames with ChunkedReadResponse', {
        'application/x-protobuf': {},
        'application/x-streamed-protobuf': {},
      }),
    },
    errors: { ...QUERY_FAILED, 415: 'unsupported content type or encoding' },
    access: 'granted',
    body: { maxBytes: MAX_BODY_BYTES, isLeftEncoded: true },
    handle: (request) => read(request, targetOf(queryStringOf(request.url) ?? ''), deps),
  }));
}

async function read(
  request: HttpRequest,
  target: ReturnType<typeof targetOfQuery>,
  { influxql, catalog, isAuthRequired }: RouteDeps,
): Promise<HttpResponse> {
  messageOf(request.headers, ['prometheus.ReadRequest']);
  const access = accessOf(request.principal, isAuthRequired);
  const name = databaseToWrite(target, catalog);
  const database = new CatalogView(catalog, access).database(name);
  if (database === undefined) throw tsdbError('database_not_found', { database: name });
  const { queries, acceptsChunks } = decodeReadRequest(decodeSnappy(request.body, MAX_BODY_BYTES));
  const source = { influxql, database, access, signal: request.disconnectSignal() };
  const pieces = queries.map((query) => readSamples(query, source));
  return acceptsChunks
    ? await piecesResponse(200, [['content-type', CHUNKED_TYPE]], chunkedResponse(pieces))
    : await piecesResponse(
        200,
        [
          ['content-type', 'application/x-protobuf'],
          ['content-encoding', 'snappy'],
        ],
        sampledResponse(pieces),
      );
}

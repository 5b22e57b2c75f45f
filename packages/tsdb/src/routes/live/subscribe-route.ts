import {
  type HttpRequest,
  type HttpResponse,
  OpenApi,
  piecesResponse,
  type Route,
} from '@plinth/kernel';
import { CatalogView } from '@plinth/tsdb-catalog/access/catalog-view.js';
import { type Position, parsePosition } from '@plinth/tsdb-live-queries/position.js';
import { accessOf } from '@plinth/tsdb-model/database/database-access.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { Type } from 'typebox';
import type { RouteDeps } from '../deps.js';
import { DB, PARAMS, QUERY_FAILED } from '../description.js';
import { withOtherDatabaseHint } from '../query/other-database-hint.js';
import { readFromUrl } from '../query/query-input.js';
import { parseParameters, queryStringOf, readParameter } from '../query-string.js';
import { EventSink } from './event-sink.js';

const EVENT_HEADERS = [
  ['content-type', 'text/event-stream'],
  ['cache-control', 'no-store'],
  // Disables buffering in proxies.
  ['x-accel-buffering', 'no'],
] as const;

const FORMATS = ['json', 'json_rows', 'jsonl', 'csv', 'pretty'] as const;

const ABOUT =
  'Rows that match a filter are events without a name, whose data is a JSON array of rows. Changed buckets of an aggregate are events `bucket`. ' +
  'Each event has an id. A client that reconnects with its last id, in `Last-Event-ID` or `since`, receives all rows written after it. ' +
  '`gap` names rows that can no longer be sent, and `dropped` rows that the client read too slowly. The last event is `end`.';

/** `GET /api/v3/subscribe`: a live query. Source: docs/LIVE-QUERIES.md. */
export function subscribeRoute(deps: RouteDeps): Route {
  const docs = {
    summary: 'Stream newly written rows that match a query',
    description: ABOUT,
    query: {
      ...DB,
      q: Type.String({ minLength: 1, description: 'SQL: SELECT from one table' }),
      ...PARAMS,
      format: Type.Optional(OpenApi.oneOf(FORMATS)),
      since: Type.Optional(Type.String({ description: 'position after which rows are sent' })),
    },
    headers: {
      'Last-Event-ID': Type.Optional(
        Type.String({ description: 'position; takes precedence over `since`' }),
      ),
    },
    output: { 200: OpenApi.response('endless event stream', { 'text/event-stream': {} }) },
    errors: { ...QUERY_FAILED, 503: 'too many live queries, or the server is shutting down' },
  };
  const route = deps.routeBuilder.get('/api/v3/subscribe', docs, (request) =>
    streamResponse(request, deps),
  );
  return { ...route, access: 'granted', takesLongQuery: true, hasHead: false };
}

async function streamResponse(
  request: HttpRequest,
  { catalog, formats, isAuthRequired, liveQueries }: RouteDeps,
): Promise<HttpResponse> {
  const { database, text, params, requested = 'json' } = readFromUrl(request);
  const format = FORMATS.find((name) => name === requested);
  if (format === undefined)
    throw tsdbError(
      'parameter_invalid',
      `unsupported format "${requested}"; use ${FORMATS.join(', ')}`,
    );
  const after = positionOf(request);
  const access = accessOf(request.principal, isAuthRequired);
  const disconnectSignal = request.disconnectSignal();
  let stop = (): void => undefined;
  const sink = new EventSink({
    format: formats[format === 'json' ? 'json_rows' : format],
    onOver: () => stop(),
  });
  stop = await liveQueries
    .open({ database, access, text, params, after, sink })
    .catch((error: unknown) => {
      throw withOtherDatabaseHint(error, database, new CatalogView(catalog, access));
    });
  if (disconnectSignal.aborted) sink.stream.end();
  disconnectSignal.addEventListener('abort', () => sink.stream.end(), { once: true });
  return await piecesResponse(200, EVENT_HEADERS, sink.stream.pieces());
}

/** Throws `parameter_invalid`. */
function positionOf({ headers, url }: HttpRequest): Position | undefined {
  const parameters = parseParameters(queryStringOf(url) ?? '');
  const text = headers['last-event-id'] || readParameter(parameters, ['since']);
  if (text === undefined || text === '') return undefined;
  const position = parsePosition(text);
  if (position !== undefined) return position;
  throw tsdbError(
    'parameter_invalid',
    `invalid position "${text.slice(0, 50)}"; use an event id from a live query`,
  );
}

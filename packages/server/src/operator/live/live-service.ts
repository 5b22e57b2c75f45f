import {
  type ApiConventions,
  type Clock,
  type HttpHead,
  type HttpService,
  type LiveSource,
  OpenApi,
  operatorFailure,
  operatorRoute,
  piecesResponse,
} from '@plinth/kernel';
import { Type } from 'typebox';
import { LiveHub, MAX_STREAM_COUNT } from './live-hub.js';

const MAX_TOPIC_COUNT = 16;
const MAX_TOPICS_LENGTH = 4096;
const HEADERS = [
  ['content-type', 'text/event-stream'],
  ['cache-control', 'no-store'],
  // Disables buffering in proxies.
  ['x-accel-buffering', 'no'],
] as const;

export interface LiveService extends HttpService {
  /** Must be called once all services have started. */
  add(sources: readonly LiveSource[]): void;
}

/** Creates `GET /ops/v1/stream`: live changes for open pages. */
export function createLive(deps: {
  readonly conventions: ApiConventions;
  readonly clock: Clock;
  /** Whether the token of a request is still valid. */
  isAdmin(request: HttpHead): boolean;
}): LiveService {
  const hub = new LiveHub(deps.clock);
  return {
    name: 'live',
    add(sources) {
      for (const source of sources) hub.add(source);
    },
    beginDraining: () => hub.close(),
    routeGroups: () => [
      {
        conventions: deps.conventions,
        api: 'operator',
        routes: [
          operatorRoute('GET', '/stream', {
            hasHead: false,
            about: {
              summary: 'Stream changes to topics as server-sent events',
              description: ABOUT,
            },
            input: {
              query: Type.Object({
                topics: Type.String({
                  minLength: 1,
                  maxLength: MAX_TOPICS_LENGTH,
                  pattern: `^[^,\\s]+(?:,[^,\\s]+){0,${MAX_TOPIC_COUNT - 1}}$`,
                  description: `1 to ${MAX_TOPIC_COUNT} topics, comma-separated, with percent-encoded names`,
                }),
              }),
              headers: Type.Object({
                'Last-Event-ID': Type.Optional(
                  Type.String({ description: 'last event id of each topic, comma-separated' }),
                ),
              }),
            },
            output: { 200: OpenApi.response('endless event stream', { 'text/event-stream': {} }) },
            errors: {
              404: 'topic not found',
              503: `${MAX_STREAM_COUNT} streams are open, a topic did not open in time, or the server is shutting down`,
            },
            async handle(request, { query }) {
              const disconnectSignal = request.disconnectSignal();
              const stream = await hub.open({
                topics: query.topics.split(','),
                positions: positionsOf(request.headers['last-event-id'] ?? ''),
                isLetIn: () => deps.isAdmin(request),
                disconnectSignal,
                drop() {
                  // HTTP/2 connections also carry other responses, which an unread stream does not block.
                  if (request.httpVersion === 1) request.socket.destroy();
                },
              });
              if (typeof stream === 'string') {
                return operatorFailure(request, 404, `no such topic: ${stream}`);
              }
              disconnectSignal.addEventListener('abort', () => stream.end(), { once: true });
              return await piecesResponse(200, HEADERS, stream.pieces());
            },
          }),
        ],
      },
    ],
    async start() {},
    async close() {
      hub.close();
    },
  };
}

const ABOUT =
  'Each event has the id `<topic>:<number>`. A client that reconnects with its last ids in `Last-Event-ID` receives the missed events, up ' +
  'to the last 1,000 of a topic, or `gap`: then it must reload the state. `start` marks where a topic starts. More than 200 events a second ' +
  'of a topic are dropped and counted in `sampled`. A comment arrives every 15 seconds. A client with more than 1 MiB of unread data receives ' +
  '`gap`, and the stream ends. It also ends when the token expires or is revoked.';

/** Invalid ids are ignored. */
function positionsOf(lastEventIds: string): ReadonlyMap<string, number> {
  const positions = new Map<string, number>();
  for (const id of lastEventIds.split(',')) {
    const [, topic, seq] = /^\s*(\S+):(\d{1,16})\s*$/.exec(id) ?? [];
    if (topic !== undefined) positions.set(topic, Number(seq));
  }
  return positions;
}

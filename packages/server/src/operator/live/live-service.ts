import {
  type Clock,
  type Dialect,
  type HttpHead,
  type HttpService,
  type LiveSource,
  OpenApi,
  operatorFailure,
  operatorRoute,
  piecesAnswer,
} from '@plinth/kernel';
import { Type } from 'typebox';
import { LiveHub, MAX_STREAM_COUNT } from './live-hub.js';

const MAX_TOPIC_COUNT = 16;
const MAX_TOPICS_LENGTH = 4096;
const HEADERS = [
  ['content-type', 'text/event-stream'],
  ['cache-control', 'no-store'],
  // Proxies that hold answers back are asked not to.
  ['x-accel-buffering', 'no'],
] as const;

export interface LiveService extends HttpService {
  /** Once all services have started. */
  add(sources: readonly LiveSource[]): void;
  /** Running streams end and new ones are refused. */
  beginDraining(): void;
}

/** `GET /ops/v1/stream`: what changes, for pages that are open. */
export function createLive(needs: {
  readonly dialect: Dialect;
  readonly clock: Clock;
  /** Whether the token of a request still counts. */
  isAdmin(request: HttpHead): boolean;
}): LiveService {
  const hub = new LiveHub(needs.clock);
  return {
    name: 'live',
    add(sources) {
      for (const source of sources) hub.add(source);
    },
    beginDraining: () => hub.close(),
    tables: () => [
      {
        dialect: needs.dialect,
        api: 'operator',
        routes: [
          operatorRoute('GET', '/stream', {
            hasHead: false,
            about: {
              summary: 'What changes, as it does: server-sent events of topics',
              description: ABOUT,
            },
            input: {
              query: Type.Object({
                topics: Type.String({
                  minLength: 1,
                  maxLength: MAX_TOPICS_LENGTH,
                  pattern: `^[^,\\s]+(?:,[^,\\s]+){0,${MAX_TOPIC_COUNT - 1}}$`,
                  description: `1 to ${MAX_TOPIC_COUNT}, parted by commas; names in them percent-encoded`,
                }),
              }),
              headers: Type.Object({
                'Last-Event-ID': Type.Optional(
                  Type.String({ description: 'of each topic the last id, parted by commas' }),
                ),
              }),
            },
            output: { 200: OpenApi.answer('events without end', { 'text/event-stream': {} }) },
            errors: {
              404: 'there is no such topic',
              503: `${MAX_STREAM_COUNT} streams are open, a topic does not open, or the server is shutting down`,
            },
            async handle(request, { query }) {
              const leaving = request.leaving();
              const stream = await hub.open({
                topics: query.topics.split(','),
                positions: positionsOf(request.headers['last-event-id'] ?? ''),
                isLetIn: () => needs.isAdmin(request),
                leaving,
                drop() {
                  // With version 2 other answers go the same way, and what is not taken holds none of them up.
                  if (request.httpVersion === 1) request.socket.destroy();
                },
              });
              if (typeof stream === 'string') {
                return operatorFailure(request, 404, `no such topic: ${stream}`);
              }
              leaving.addEventListener('abort', () => stream.end(), { once: true });
              return await piecesAnswer(200, HEADERS, stream.pieces());
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
  'Each event has the id `<topic>:<number>`. Who comes back with the last ids in `Last-Event-ID` is told what was missed, of the last 1,000 ' +
  'events of a topic, or `gap`: ask for the whole again. `start` says that a topic is followed from here on. More than 200 events a second ' +
  'of a topic are left out and counted in `sampled`. A comment comes every 15 seconds. Whoever leaves more than 1 MiB untaken is told ' +
  '`gap`, and the stream ends; it ends as well when the token is over.';

/** What cannot be read is of no topic. */
function positionsOf(lastEventIds: string): ReadonlyMap<string, number> {
  const positions = new Map<string, number>();
  for (const id of lastEventIds.split(',')) {
    const [, topic, seq] = /^\s*(\S+):(\d{1,16})\s*$/.exec(id) ?? [];
    if (topic !== undefined) positions.set(topic, Number(seq));
  }
  return positions;
}

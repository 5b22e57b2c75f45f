import {
  type PlainAnswer,
  type PlainRequest,
  type PlainRoute,
  readsHealthInJson,
  sendJson,
} from '@plinth/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RouteDeps } from './deps.js';
import { plainHeaders } from './plain-request.js';
import { sendAnswer } from './to-wire.js';
import { versionHeaders } from './write/write-routes.js';

const TEXT = 'text/plain; charset=utf-8';
const PRODUCT_NAME = 'Plinth';

/** Health and version; returns the plain routes. Source: tsdb-http, "Service endpoints". */
export function registerServiceRoutes(
  app: FastifyInstance,
  deps: RouteDeps,
): readonly PlainRoute[] {
  const processId = deps.random.uuidV4();
  const health = async (request: FastifyRequest, reply: FastifyReply) => {
    if (!readsHealthInJson(request.headers)) return reply.type(TEXT).send('OK');
    return sendJson(reply, 200, {
      name: 'influxdb',
      message: 'ready for queries and writes',
      status: 'pass',
      checks: [],
      version: deps.settings.reported_version,
      commit: deps.settings.reported_revision,
    });
  };
  app.get('/health', health);
  app.get('/api/v1/health', health);
  const ping = (headers: PlainRequest['headers']): PlainAnswer => {
    const requestId = deps.random.uuidV7();
    const known = [
      ['request-id', requestId],
      ['x-request-id', requestId],
      ...versionHeaders(deps),
    ] as const;
    if (expectsEmptyPing(headers)) return { status: 204, headers: known, body: undefined };
    const body = {
      product_name: PRODUCT_NAME,
      version: deps.settings.reported_version,
      revision: deps.settings.reported_revision,
      process_id: processId,
    };
    const type = ['content-type', 'application/json'] as const;
    return { status: 200, headers: [...known, type], body: Buffer.from(JSON.stringify(body)) };
  };
  app.route({
    method: ['GET', 'POST', 'HEAD'],
    url: '/ping',
    handler: async ({ headers }, reply) => {
      sendAnswer(reply, ping(plainHeaders(headers)));
      return reply;
    },
  });
  const plainPing = async ({ headers }: PlainRequest): Promise<PlainAnswer> => ping(headers);
  return [{ methods: ['GET', 'POST'], path: '/ping', front: 'server', answer: plainPing }];
}

/**
 * The 1.x server answers a ping with 204, and two of its clients take anything else for a failure: that for Go, which names
 * itself, and that for Python, which asks for MessagePack everywhere.
 */
function expectsEmptyPing(headers: PlainRequest['headers']): boolean {
  return (
    headers['user-agent'] === 'InfluxDBClient' || headers['accept'] === 'application/x-msgpack'
  );
}

import type { PlainAnswer, PlainRequest, PlainRoute } from '@plinth/kernel';
import type { FastifyInstance } from 'fastify';
import type { RouteDeps } from './deps.js';
import { answerHealth, HEALTH_PATHS } from './health.js';
import { plainHeaders } from './plain-request.js';
import { sendAnswer } from './to-wire.js';
import { versionHeaders } from './write/write-routes.js';

const PRODUCT_NAME = 'Plinth';

/** Health and version; returns the plain routes. Source: tsdb-http, "Service endpoints". */
export function registerServiceRoutes(
  app: FastifyInstance,
  deps: RouteDeps,
): readonly PlainRoute[] {
  const processId = deps.random.uuidV4();
  for (const url of HEALTH_PATHS) {
    app.get(url, async ({ headers }, reply) => {
      sendAnswer(reply, answerHealth(plainHeaders(headers), deps.settings));
      return reply;
    });
  }
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

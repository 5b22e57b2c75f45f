import type { IncomingHttpHeaders } from 'node:http';
import { readsHealthInJson, sendJson } from '@plinth/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RouteDeps } from './deps.js';
import { setVersionHeaders } from './write/write-routes.js';

const TEXT = 'text/plain; charset=utf-8';
const PRODUCT_NAME = 'Plinth';

/** Health and version. Source: tsdb-http, "Service endpoints". */
export function registerServiceRoutes(app: FastifyInstance, deps: RouteDeps): void {
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
  app.route({
    method: ['GET', 'POST', 'HEAD'],
    url: '/ping',
    handler: async (request, reply) => {
      const requestId = deps.random.uuidV7();
      reply.header('request-id', requestId).header('x-request-id', requestId);
      setVersionHeaders(reply, deps);
      if (expectsEmptyPing(request.headers)) return reply.code(204).send();
      const body = {
        product_name: PRODUCT_NAME,
        version: deps.settings.reported_version,
        revision: deps.settings.reported_revision,
        process_id: processId,
      };
      return reply
        .header('content-type', 'application/json')
        .send(Buffer.from(JSON.stringify(body)));
    },
  });
}

/**
 * The 1.x server answers a ping with 204, and two of its clients take anything else for a failure: that for Go, which names
 * itself, and that for Python, which asks for MessagePack everywhere.
 */
function expectsEmptyPing(headers: IncomingHttpHeaders): boolean {
  return headers['user-agent'] === 'InfluxDBClient' || headers.accept === 'application/x-msgpack';
}

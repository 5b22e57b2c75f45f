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
    handler: async (_request, reply) => {
      const requestId = deps.random.uuidV7();
      reply.header('request-id', requestId).header('x-request-id', requestId);
      setVersionHeaders(reply, deps);
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

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RouteDeps } from '../deps.js';
import { sendError } from '../to-wire.js';
import { readQueryInput } from './query-input.js';
import { sendAnswer, signalOf } from './send-answer.js';

/** Source: tsdb-http, "Native query endpoints". */
export function registerQueryRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const { settings, log } = deps;
  const isInfluxdb3 = settings.compat === 'influxdb3';
  const dialect = isInfluxdb3 ? 'text' : 'native';

  app.route({
    method: ['GET', 'POST'],
    url: '/api/v3/query_sql',
    errorHandler: (error, _request, reply) => sendError(error, reply, { dialect, log }),
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const { format, database, text, params } = readQueryInput(request, isInfluxdb3);
      const query = { database, language: 'sql', text, params, signal: signalOf(reply) } as const;
      await sendAnswer(query, format, { deps, reply });
      return reply;
    },
  });
}

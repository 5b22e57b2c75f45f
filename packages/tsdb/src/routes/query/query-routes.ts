import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RouteDeps } from '../deps.js';
import { TEXT_FORMATS } from '../formats/index.js';
import { sendError } from '../to-wire.js';
import { readQueryInput } from './query-input.js';
import { sendParquet } from './send-parquet.js';
import { sendResult } from './send-result.js';

/** Source: tsdb-http, "Native query endpoints". */
export function registerQueryRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const { engine, settings, log, files } = deps;
  const isInfluxdb3 = settings.compat === 'influxdb3';
  const dialect = isInfluxdb3 ? 'text' : 'native';

  app.route({
    method: ['GET', 'POST'],
    url: '/api/v3/query_sql',
    errorHandler: (error, _request, reply) => sendError(error, reply, { dialect, log }),
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const { format, database, text, params } = readQueryInput(request, isInfluxdb3);
      const query = { database, language: 'sql', text, params, signal: signalOf(reply) } as const;
      if (format === 'parquet') {
        await sendParquet(await engine.queryToParquet(query), files, reply);
      } else await sendResult(await engine.query(query), TEXT_FORMATS[format], reply);
      return reply;
    },
  });
}

/** Aborted when the client goes away before it has the whole answer. */
function signalOf(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const { raw } = reply;
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort();
  });
  return controller.signal;
}

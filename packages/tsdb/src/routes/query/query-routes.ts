import type { PlainRoute } from '@plinth/kernel';
import type { FastifyInstance } from 'fastify';
import type { RouteDeps } from '../deps.js';
import { plainQueryRoute, type QueryRoute, registerQueryRoute } from '../plain-request.js';
import { answerQuery } from './answer-query.js';
import { readQueryInput } from './query-input.js';

/** Returns the plain ones. Source: tsdb-http, "Native query endpoints". */
export function registerQueryRoutes(app: FastifyInstance, deps: RouteDeps): readonly PlainRoute[] {
  const isInfluxdb3 = deps.settings.compat === 'influxdb3';
  const route: QueryRoute = {
    path: '/api/v3/query_sql',
    dialect: isInfluxdb3 ? 'text' : 'native',
    async answer(request) {
      const { format, database, text, params } = readQueryInput(request, isInfluxdb3);
      const query = {
        database,
        language: 'sql',
        text,
        params,
        get signal() {
          return request.leaving();
        },
      } as const;
      return await answerQuery(query, format, deps);
    },
  };
  registerQueryRoute(app, route, deps);
  return [plainQueryRoute(route, deps)];
}

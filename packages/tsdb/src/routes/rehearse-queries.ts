import type { Rehearse } from '@plinth/kernel';
import type { QueryRehearsal } from '../domain/engine/warm-up.js';
import type { QueryDeps } from './deps.js';
import { v1QueryRoute } from './influxql/v1-query-route.js';
import { plainQueryRoute } from './plain-request.js';
import { sqlQueryRoute } from './query/query-routes.js';

/** Asks in both languages as clients do. */
export async function rehearseQueries(
  deps: QueryDeps,
  rehearse: Rehearse,
): Promise<QueryRehearsal> {
  const sql = sqlQueryRoute(deps);
  const influxql = v1QueryRoute('/query', deps);
  const rehearsal = await rehearse([sql, influxql].map((route) => plainQueryRoute(route, deps)));
  const paths = { sql: `${sql.path}?db=d&format=json`, influxql: `${influxql.path}?db=d&epoch=ms` };
  return {
    ask: (language, text) => rehearsal.ask(`${paths[language]}&q=${encodeURIComponent(text)}`),
    close: () => rehearsal.close(),
  };
}

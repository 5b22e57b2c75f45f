import type { Route } from '@plinth/kernel';
import type { RouteDeps } from '../deps.js';
import { queryDocs } from '../description.js';
import { readQueryInput } from './query-input.js';
import { queryResponse } from './query-response.js';

/** Source: tsdb-http, "Native query endpoints". */
export function queryRoutes(deps: RouteDeps): readonly Route[] {
  const isInfluxdb3 = deps.settings.compat === 'influxdb3';
  return deps.routeBuilder.query('/api/v3/query_sql', queryDocs('SQL'), (request) =>
    queryResponse(readQueryInput(request, isInfluxdb3), request, deps),
  );
}

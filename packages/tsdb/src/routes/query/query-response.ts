import type { HttpRequest, HttpResponse } from '@plinth/kernel';
import { CatalogView } from '@plinth/tsdb-catalog/access/catalog-view.js';
import { accessOf } from '@plinth/tsdb-model/database/database-access.js';
import type { RouteDeps } from '../deps.js';
import { arrowResponse } from './arrow-response.js';
import { withOtherDatabaseHint } from './other-database-hint.js';
import { parquetResponse } from './parquet-response.js';
import type { QueryInput } from './query-input.js';
import { resultResponse } from './result-response.js';
import { wideResponse } from './wide-response.js';

/** Runs a SQL query and responds with its result. */
export async function queryResponse(
  { format, engine: engineName, ...queryInput }: QueryInput,
  request: HttpRequest,
  deps: RouteDeps,
): Promise<HttpResponse> {
  const { engine, files, formats, pieces, isAuthRequired, catalog, wideQueries } = deps;
  const query = {
    ...queryInput,
    access: accessOf(request.principal, isAuthRequired),
    language: 'sql',
    get signal() {
      return request.disconnectSignal();
    },
  } as const;
  const rethrow = (error: unknown): never => {
    throw withOtherDatabaseHint(error, query.database, new CatalogView(catalog, query.access));
  };
  const isWide =
    engineName === 'trino' ||
    (engineName === undefined &&
      wideQueries.isAutomatic &&
      format !== 'parquet' &&
      (await wideQueries.prefers(query)));
  if (isWide) return await wideResponse(query, format, deps).catch(rethrow);
  if (format === 'parquet') {
    return await parquetResponse(await engine.queryToParquet(query).catch(rethrow), files);
  }
  const result = await engine.query(query).catch(rethrow);
  return format === 'arrow'
    ? await arrowResponse(result)
    : await resultResponse(result, formats[format], pieces);
}

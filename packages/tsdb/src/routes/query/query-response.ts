import type { HttpRequest, HttpResponse } from '@plinth/kernel';
import { CatalogView } from '@plinth/tsdb-catalog/access/catalog-view.js';
import { accessOf } from '@plinth/tsdb-model/database/database-access.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { RouteDeps } from '../deps.js';
import { arrowResponse } from './arrow-response.js';
import { withOtherDatabaseHint } from './other-database-hint.js';
import { parquetResponse } from './parquet-response.js';
import type { QueryInput } from './query-input.js';
import { resultResponse } from './result-response.js';
import { wideResponse } from './wide-response.js';

/** Failures after which a query runs on this server if it was sent to Trino automatically. */
const LOCAL_AFTER = [
  ...(['plan_error', 'parameter_invalid', 'execution_error'] as const),
  ...(['trino_unavailable', 'table_not_published'] as const),
];

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
  if (engineName === 'trino') return await wideResponse(query, format, deps).catch(rethrow);
  const isWide =
    engineName === undefined &&
    wideQueries.isAutomatic &&
    format !== 'parquet' &&
    (await wideQueries.prefers(query));
  if (isWide) {
    try {
      return await wideResponse(query, format, deps);
    } catch (error) {
      // No row has been sent yet.
      if (!LOCAL_AFTER.some((kind) => tsdbError.is(error, kind))) throw error;
    }
  }
  if (format === 'parquet') {
    return await parquetResponse(await engine.queryToParquet(query).catch(rethrow), files);
  }
  const result = await engine.query(query).catch(rethrow);
  return format === 'arrow'
    ? await arrowResponse(result)
    : await resultResponse(result, formats[format], pieces);
}

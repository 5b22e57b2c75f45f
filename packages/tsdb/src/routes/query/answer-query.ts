import type { HttpAnswer, HttpRequest } from '@plinth/kernel';
import { CatalogView } from '@plinth/tsdb-catalog/access/catalog-view.js';
import { accessOf } from '@plinth/tsdb-model/database/database-access.js';
import type { RouteDeps } from '../deps.js';
import { arrowAnswer } from './arrow-answer.js';
import { withOtherDatabaseHint } from './other-database-hint.js';
import { parquetAnswer } from './parquet-answer.js';
import type { QueryInput } from './query-input.js';
import { resultAnswer } from './result-answer.js';

/** Runs a SQL query and responds with its result. */
export async function answerQuery(
  { format, ...queryInput }: QueryInput,
  request: HttpRequest,
  { engine, files, formats, pieces, isAuthRequired, catalog }: RouteDeps,
): Promise<HttpAnswer> {
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
  if (format === 'parquet') {
    return await parquetAnswer(await engine.queryToParquet(query).catch(rethrow), files);
  }
  const result = await engine.query(query).catch(rethrow);
  return format === 'arrow'
    ? await arrowAnswer(result)
    : await resultAnswer(result, formats[format], pieces);
}

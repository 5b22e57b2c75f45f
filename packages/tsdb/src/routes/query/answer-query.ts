import type { HttpAnswer, HttpRequest } from '@plinth/kernel';
import type { RouteDeps } from '../deps.js';
import { parquetAnswer } from './parquet-answer.js';
import type { QueryInput } from './query-input.js';
import { resultAnswer } from './result-answer.js';

/** Runs a query in SQL and answers with its result. */
export async function answerQuery(
  { format, ...asked }: QueryInput,
  request: HttpRequest,
  { engine, files, formats, pieces }: RouteDeps,
): Promise<HttpAnswer> {
  const query = {
    ...asked,
    language: 'sql',
    get signal() {
      return request.leaving();
    },
  } as const;
  return format === 'parquet'
    ? await parquetAnswer(await engine.queryToParquet(query), files)
    : await resultAnswer(await engine.query(query), formats[format], pieces);
}

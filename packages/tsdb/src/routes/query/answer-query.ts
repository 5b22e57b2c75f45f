import type { HttpAnswer } from '@plinth/kernel';
import type { QueryRequest } from '../../domain/engine/engine.js';
import type { RouteDeps } from '../deps.js';
import type { FormatName } from '../formats/index.js';
import { parquetAnswer } from './parquet-answer.js';
import { resultAnswer } from './result-answer.js';

/** Runs a query and answers with its result in the given format. */
export async function answerQuery(
  query: QueryRequest,
  format: FormatName,
  { engine, files, formats, pieces }: RouteDeps,
): Promise<HttpAnswer> {
  return format === 'parquet'
    ? await parquetAnswer(await engine.queryToParquet(query), files)
    : await resultAnswer(await engine.query(query), formats[format], pieces);
}

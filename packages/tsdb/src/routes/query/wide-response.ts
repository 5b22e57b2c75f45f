import { type HttpResponse, withHeaders } from '@plinth/kernel';
import type { ResultChunk, ResultStream } from '@plinth/tsdb-model/columns/result.js';
import type { QueryRequest } from '@plinth/tsdb-model/engine.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { RouteDeps } from '../deps.js';
import type { FormatName } from '../formats/index.js';
import { arrowResponse } from './arrow-response.js';
import { resultResponse } from './result-response.js';

/** Runs a SQL query on Trino and responds with its result. */
export async function wideResponse(
  query: QueryRequest,
  format: FormatName,
  { formats, pieces, wideQueries }: Pick<RouteDeps, 'formats' | 'pieces' | 'wideQueries'>,
): Promise<HttpResponse> {
  // DuckDB writes Parquet files, and does not have the rows.
  if (format === 'parquet')
    throw tsdbError(
      'parameter_invalid',
      'format parquet is not available with engine=trino; use arrow, csv, json or jsonl',
    );
  const result = await wideQueries.query(query);
  const response =
    format === 'arrow'
      ? await arrowResponse(await afterFirstChunk(result))
      : await resultResponse(result, formats[format], pieces);
  return withHeaders(response, [['x-plinth-fresh-through', result.freshThrough]]);
}

/** Waits for the first rows, so that earlier errors set the status. Arrow begins with the schema. */
async function afterFirstChunk(result: ResultStream): Promise<ResultStream> {
  const rest = result.chunks[Symbol.asyncIterator]();
  const first = await rest.next();
  return { ...result, chunks: resumed(first, rest) };
}

async function* resumed(
  first: IteratorResult<ResultChunk>,
  rest: AsyncIterator<ResultChunk>,
): AsyncGenerator<ResultChunk, void, undefined> {
  try {
    for (let next = first; next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

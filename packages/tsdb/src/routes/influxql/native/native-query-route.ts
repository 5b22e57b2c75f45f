import { type HttpAnswer, type HttpRequest, piecesAnswer, type Route } from '@plinth/kernel';
import type { Answer } from '@plinth/tsdb-influxql/answer.js';
import { accessOf } from '@plinth/tsdb-model/database/database-access.js';
import type { RouteDeps } from '../../deps.js';
import { queryDocs } from '../../description.js';
import { SERIES_STYLE } from '../../formats/cell-text.js';
import { PARQUET_TYPE } from '../../formats/index.js';
import { TextBytes } from '../../formats/text-bytes.js';
import { arrowAnswer } from '../../query/arrow-answer.js';
import { gatheredAnswer } from '../../query/gathered-answer.js';
import { readInfluxqlInput } from '../../query/query-input.js';
import { resultAnswer } from '../../query/result-answer.js';
import { encodeResult } from '../encode/encode-json.js';
import { openNative, rowsOf } from './open-native.js';
import { parquetPieces } from './parquet-pieces.js';

/** Routes for InfluxQL with the native formats. Source: tsdb-http, "Native query endpoints". */
export const nativeInfluxqlRoutes = (deps: RouteDeps): readonly Route[] =>
  ['/api/v3/query_influxql', '/api/v3/query_legacyql'].flatMap((path) =>
    deps.routeBuilder.query(path, queryDocs('InfluxQL'), (request) => answer(request, deps)),
  );

async function answer(request: HttpRequest, deps: RouteDeps): Promise<HttpAnswer> {
  const input = readInfluxqlInput(request, deps.settings.compat === 'influxdb3');
  const access = accessOf(request.principal, deps.isAuthRequired);
  const opened = await openNative({ ...input, access }, deps, request.disconnectSignal());
  const { run, result } = opened;
  try {
    if (input.format === 'parquet') {
      const headers = [['content-type', PARQUET_TYPE]] as const;
      return await piecesAnswer(200, headers, parquetPieces(rowsOf(opened)));
    }
    if (input.format === 'json_series')
      return await gatheredAnswer(seriesPieces(result), 'application/json', (outcome) =>
        run.end(outcome),
      );
    const rows = rowsOf(opened);
    if (input.format === 'arrow') return await arrowAnswer(rows);
    return await resultAnswer(rows, deps.formats[input.format], deps.pieces);
  } catch (error) {
    run.end('fail');
    throw error;
  }
}

async function* seriesPieces(answer: Answer): AsyncGenerator<Buffer, void, undefined> {
  const out = new TextBytes();
  out.ascii('{"results":[{');
  const start = out.size;
  const options = {
    epochNs: undefined,
    style: SERIES_STYLE,
    documentRows: undefined,
    infinities: 'null',
  } as const;
  let isEmpty = true;
  for await (const _written of encodeResult(answer, options, { frame: { head: '' }, out })) {
    isEmpty = false;
    yield out.take();
  }
  if (isEmpty && out.size === start) out.ascii('"series":[]');
  out.ascii('}]}');
  yield out.take();
}

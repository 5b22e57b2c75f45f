import { type HttpRequest, type HttpResponse, piecesResponse, type Route } from '@plinth/kernel';
import type { StatementResult } from '@plinth/tsdb-influxql/result.js';
import { accessOf } from '@plinth/tsdb-model/database/database-access.js';
import type { RouteDeps } from '../../deps.js';
import { queryDocs } from '../../description.js';
import { SERIES_STYLE } from '../../formats/cell-text.js';
import { PARQUET_TYPE } from '../../formats/index.js';
import { TextBytes } from '../../formats/text-bytes.js';
import { arrowResponse } from '../../query/arrow-response.js';
import { gatheredResponse } from '../../query/gathered-response.js';
import { readInfluxqlInput } from '../../query/query-input.js';
import { resultResponse } from '../../query/result-response.js';
import { encodeResult } from '../encode/encode-json.js';
import { openNative, rowsOf } from './open-native.js';
import { parquetPieces } from './parquet-pieces.js';

/** Routes that return InfluxQL results in the native formats. Source: tsdb-http, "Native query endpoints". */
export const nativeInfluxqlRoutes = (deps: RouteDeps): readonly Route[] =>
  ['/api/v3/query_influxql', '/api/v3/query_legacyql'].flatMap((path) =>
    deps.routeBuilder.query(path, queryDocs('InfluxQL'), (request) => respond(request, deps)),
  );

async function respond(request: HttpRequest, deps: RouteDeps): Promise<HttpResponse> {
  const input = readInfluxqlInput(request, deps.settings.compat === 'influxdb3');
  const access = accessOf(request.principal, deps.isAuthRequired);
  const opened = await openNative({ ...input, access }, deps, request.disconnectSignal());
  const { run, result } = opened;
  try {
    if (input.format === 'parquet') {
      const headers = [['content-type', PARQUET_TYPE]] as const;
      return await piecesResponse(200, headers, parquetPieces(rowsOf(opened)));
    }
    if (input.format === 'json_series')
      return await gatheredResponse(seriesPieces(result), 'application/json', (outcome) =>
        run.end(outcome),
      );
    const rows = rowsOf(opened);
    if (input.format === 'arrow') return await arrowResponse(rows);
    return await resultResponse(rows, deps.formats[input.format], deps.pieces);
  } catch (error) {
    run.end('fail');
    throw error;
  }
}

async function* seriesPieces(result: StatementResult): AsyncGenerator<Buffer, void, undefined> {
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
  for await (const _written of encodeResult(result, options, { frame: { head: '' }, out })) {
    isEmpty = false;
    yield out.take();
  }
  if (isEmpty && out.size === start) out.ascii('"series":[]');
  out.ascii('}]}');
  yield out.take();
}

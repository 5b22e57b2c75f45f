import { setImmediate } from 'node:timers/promises';
import {
  type HttpRequest,
  type HttpResponse,
  OpenApi,
  type Route,
  type RouteDocs,
  requestIdOf,
  withHeaders,
} from '@plinth/kernel';
import type { InfluxqlRun } from '@plinth/tsdb-influxql/influxql.js';
import { ParseError } from '@plinth/tsdb-influxql/parse/parse-error.js';
import type { StatementResult } from '@plinth/tsdb-influxql/result.js';
import { accessOf } from '@plinth/tsdb-model/database/database-access.js';
import type { QueryOutcome } from '@plinth/tsdb-model/query/query-outcome.js';
import { Type } from 'typebox';
import type { RouteDeps } from '../deps.js';
import { DB, PARAMS, QUERY_FAILED, RP } from '../description.js';
import { SERIES_STYLE, V1_STYLE } from '../formats/cell-text.js';
import { quoteCsv } from '../formats/csv.js';
import { UnsupportedValue } from '../formats/json/json-values.js';
import type { PiecePool } from '../formats/piece-pool.js';
import { TextBytes } from '../formats/text-bytes.js';
import { type FailureLog, logFailure } from '../log-failure.js';
import { hasStatus, statusOf } from '../to-wire.js';
import { versionHeaders } from '../version-headers.js';
import { changeNote, mayBeOfAnyPage } from './changes.js';
import { encodeCsv } from './encode/encode-csv.js';
import { encodeDocuments, encodeResult } from './encode/encode-json.js';
import { MsgpackWriter } from './encode/encode-msgpack.js';
import { PrettyJson } from './encode/pretty-json.js';
import { documents, encoded, PIECE_LENGTH } from './encode/text-pieces.js';
import { failedText, statementErrorText } from './statement-error.js';
import { readV1Input, type V1Input } from './v1-input.js';

/** A POST may send the parameters in a form, in JSON or, for `q`, as its body. */
const DOCS: RouteDocs = {
  summary: 'Run InfluxQL statements (v1)',
  query: {
    q: Type.String({ description: 'InfluxQL statements, separated by ;' }),
    db: Type.Optional(DB.db),
    ...RP,
    epoch: Type.Optional(Type.String({ description: 'time unit: ns, u, ms, s, m, h, d, w' })),
    chunked: Type.Optional(Type.Boolean({ default: false })),
    chunk_size: Type.Optional(Type.Integer({ default: 10_000 })),
    pretty: Type.Optional(Type.Boolean({ default: false })),
    ...PARAMS,
  },
  output: {
    200: OpenApi.response('one result per statement, which contains its error if it failed', {
      'application/json': {},
      'application/csv': {},
      'application/x-msgpack': {},
    }),
  },
  errors: { ...QUERY_FAILED, 400: 'a parameter is missing or invalid' },
};

/** The route `/query` of the 1.x server. Source: tsdb-http, "v1 query endpoint". */
export function v1QueryRoutes(deps: RouteDeps): readonly Route[] {
  const headers = versionHeaders(deps.settings);
  // InfluxDB 3 formats timestamps here as on its other endpoints.
  const style = deps.settings.compat === 'influxdb3' ? SERIES_STYLE : V1_STYLE;
  const routes = deps.routeBuilder.query('/query', DOCS, async (request) =>
    withHeaders(await respond(readV1Input(request, style), request, deps), headers),
  );
  return [...routes, ...routes.map((route) => ({ ...route, path: '/query/', isAlias: true }))];
}

async function respond(
  input: V1Input,
  request: HttpRequest,
  deps: RouteDeps,
): Promise<HttpResponse> {
  const head = { status: 200, headers: [['content-type', CONTENT_TYPES[input.format]]] } as const;
  let run: InfluxqlRun;
  try {
    const opened = await deps.influxql.open({
      ...input,
      access: accessOf(request.principal, deps.isAuthRequired),
      onChange: changeNote(request, input, deps.audit),
      isReadOnly: !deps.isAuthRequired && mayBeOfAnyPage(request),
      get signal() {
        return request.disconnectSignal();
      },
    });
    run = withFailureLog(opened, { log: deps.log, requestId: requestIdOf(request.headers) });
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    return {
      ...head,
      // CSV cannot contain an error next to rows.
      status: input.format === 'csv' ? 400 : 200,
      body: await failedDocument(statementErrorText(error, 0) ?? '', input.format),
    };
  }
  const { body, rest } = await documentOf(run, input, deps.pieces);
  return rest === undefined
    ? { ...head, body }
    : { ...head, body, rest, onPieceWritten: (piece) => deps.pieces.release(piece) };
}

/** Logs failed statements, because the status of the response does not show them. */
function withFailureLog(run: InfluxqlRun, failures: FailureLog): InfluxqlRun {
  return {
    ...run,
    failed(error) {
      if (hasStatus(error)) logFailure(error, statusOf(error, 'native'), failures);
      run.failed(error);
    },
  };
}

/** The first piece of a response and the remaining pieces. */
interface V1Document {
  readonly body: Buffer;
  readonly rest?: AsyncGenerator<Buffer, void, undefined>;
}

/** Returns the document of a run. The run ends when the document has been read. */
async function documentOf(
  run: InfluxqlRun,
  input: DocumentInput,
  pool?: PiecePool,
): Promise<V1Document> {
  const rest = endingRun(run, bytesOf(run, input, pool));
  const first = await firstPiece(rest);
  const body = first.done ? Buffer.alloc(0) : first.value;
  // A piece that is not full is the last one, unless the client requested separate documents.
  const isWhole = first.done || (body.length < PIECE_LENGTH && input.documentRows === undefined);
  // Read to the end, so that the run is recorded with its outcome instead of as canceled.
  if (isWhole) await rest.next();
  return isWhole ? { body } : { body, rest };
}

type DocumentInput = Pick<V1Input, 'epochNs' | 'style' | 'isPretty' | 'documentRows' | 'format'>;

/** Returns the response if the statements cannot be parsed. */
async function failedDocument(error: string, format: V1Input['format']): Promise<Buffer> {
  switch (format) {
    case 'csv':
      return Buffer.from(`error\n${quoteCsv(error)}\n`);
    case 'msgpack': {
      const writer = await MsgpackWriter.load();
      return Buffer.concat([writer.open(1), writer.failedResult(0, error)]);
    }
    case 'json':
      return Buffer.from(`${JSON.stringify({ results: [{ statement_id: 0, error }] })}\n`);
  }
}

function bytesOf(
  run: InfluxqlRun,
  input: DocumentInput,
  pool: PiecePool | undefined,
): AsyncGenerator<Buffer, void, undefined> {
  switch (input.format) {
    case 'csv':
      return encoded(csvTexts(run, input));
    case 'json':
      return jsonPieces(run, input, pool);
    case 'msgpack':
      return msgpackPieces(run, input);
  }
}

/** Encodes a complete response in JSON, the format of most clients. */
export async function* encodedRun(
  run: InfluxqlRun,
  epochNs?: bigint,
): AsyncGenerator<Buffer, void, undefined> {
  const input = {
    epochNs,
    style: V1_STYLE,
    isPretty: false,
    documentRows: undefined,
    format: 'json',
  } as const;
  const { body, rest } = await documentOf(run, input);
  yield body;
  if (rest !== undefined) yield* rest;
}

type JsonInput = Pick<V1Input, 'epochNs' | 'style' | 'isPretty' | 'documentRows'>;

async function firstPiece(
  pieces: AsyncGenerator<Buffer, void, undefined>,
): Promise<IteratorResult<Buffer, void>> {
  try {
    return await pieces.next();
  } catch (error) {
    if (!(error instanceof UnsupportedValue)) throw error;
    return { done: false, value: Buffer.from(`${JSON.stringify({ error: error.message })}\n`) };
  }
}

const CONTENT_TYPES = {
  json: 'application/json',
  csv: 'application/csv',
  msgpack: 'application/x-msgpack',
} as const;

/** Yields the pieces, and ends the run with its outcome. */
async function* endingRun(
  run: InfluxqlRun,
  pieces: AsyncGenerator<Buffer, void, undefined>,
): AsyncGenerator<Buffer, void, undefined> {
  let outcome: QueryOutcome = 'cancel';
  try {
    for await (const piece of pieces) {
      yield piece;
      // Yield to the event loop between two pieces.
      if (piece.length >= PIECE_LENGTH) await setImmediate();
    }
    outcome = 'success';
  } catch (error) {
    outcome = 'fail';
    throw error;
  } finally {
    run.end(outcome);
  }
}

function jsonPieces(
  run: InfluxqlRun,
  input: JsonInput,
  pool: PiecePool | undefined,
): AsyncGenerator<Buffer, void, undefined> {
  if (input.documentRows !== undefined) return documents(documentTexts(run, input));
  return input.isPretty ? encoded(prettyTexts(run, input)) : compactPieces(run, input, pool);
}

async function* compactPieces(
  run: InfluxqlRun,
  input: JsonInput,
  pool?: PiecePool,
): AsyncGenerator<Buffer, void, undefined> {
  const out = new TextBytes(pool);
  out.ascii('{"results":[');
  for (const index of run.statements.keys()) {
    out.ascii(index === 0 ? '{' : ',{');
    const result = (): Promise<StatementResult> => run.execute(index);
    const onFailed = (error: unknown): void => run.failed(error);
    for await (const _written of writeStatement(result, index, { input, out, onFailed })) {
      if (out.size >= PIECE_LENGTH) yield out.take();
    }
    out.ascii('}');
  }
  out.ascii(']}\n');
  yield out.take();
}

async function* prettyTexts(
  run: InfluxqlRun,
  input: JsonInput,
): AsyncGenerator<string, void, undefined> {
  const pretty = new PrettyJson();
  for await (const piece of compactPieces(run, input)) {
    const text = piece.toString();
    // The final newline is not part of the JSON text.
    yield text.endsWith('\n') ? `${pretty.add(text.slice(0, -1))}\n` : pretty.add(text);
  }
}

async function* documentTexts(
  run: InfluxqlRun,
  input: JsonInput,
): AsyncGenerator<string, void, undefined> {
  const pretty = input.isPretty ? new PrettyJson() : undefined;
  for (const index of run.statements.keys()) {
    for await (const text of documentsOfStatement(run, index, input))
      yield pretty?.add(text) ?? text;
  }
}

async function* writeStatement(
  resultOf: () => Promise<StatementResult>,
  index: number,
  {
    input,
    out,
    onFailed,
  }: {
    readonly input: JsonInput;
    readonly out: TextBytes;
    readonly onFailed: (error: unknown) => void;
  },
): AsyncGenerator<void, void, undefined> {
  const head = `"statement_id":${index}`;
  const start = out.size;
  let isBegun = false;
  try {
    // Until the first rows are sent, an error replaces the complete result.
    const result = await resultOf();
    for await (const _written of encodeResult(result, input, { frame: { head }, out })) {
      isBegun = true;
      yield;
    }
  } catch (error) {
    const text = statementErrorText(error, index);
    if (text === undefined || isBegun) throw error;
    onFailed(error);
    out.cutTo(start);
    out.text(`${head},"error":${JSON.stringify(text)}`);
  }
}

async function* documentsOfStatement(
  run: InfluxqlRun,
  index: number,
  input: JsonInput,
): AsyncGenerator<string, void, undefined> {
  const head = `"statement_id":${index}`;
  try {
    yield* encodeDocuments(await run.execute(index), input, { head });
  } catch (error) {
    if (error instanceof UnsupportedValue) {
      run.failed(error);
      yield `${JSON.stringify({ error: error.message })}\n`;
      return;
    }
    const text = failedText(run, error, index);
    yield `{"results":[{${head},"error":${JSON.stringify(text)}}]}\n`;
  }
}

async function* msgpackPieces(
  run: InfluxqlRun,
  input: DocumentInput,
): AsyncGenerator<Buffer, void, undefined> {
  const writer = await MsgpackWriter.load();
  const isChunked = input.documentRows !== undefined;
  let pending: Buffer[] = isChunked ? [] : [writer.open(run.statements.length)];
  let length = 0;
  for (const index of run.statements.keys()) {
    try {
      const result = await run.execute(index);
      const pieces = isChunked
        ? writer.documents(result, index, input)
        : writer.result(result, index, input);
      for await (const piece of pieces) {
        pending.push(piece);
        length += piece.length;
        if (length < PIECE_LENGTH) continue;
        yield Buffer.concat(pending);
        pending = [];
        length = 0;
      }
    } catch (error) {
      const text = failedText(run, error, index);
      if (isChunked) pending.push(writer.open(1));
      pending.push(writer.failedResult(index, text));
    }
  }
  yield Buffer.concat(pending);
}

async function* csvTexts(
  run: InfluxqlRun,
  input: DocumentInput,
): AsyncGenerator<string, void, undefined> {
  let isFirst = true;
  for (const index of run.statements.keys()) {
    let isBegun = false;
    try {
      for await (const text of encodeCsv(await run.execute(index), input.epochNs ?? 1n)) {
        if (!isBegun && !isFirst) yield '\n';
        isBegun = true;
        isFirst = false;
        yield text;
      }
    } catch (error) {
      // CSV cannot contain an error. If some rows were written, abort, so that they do not look
      // complete.
      if (isBegun) throw error;
      failedText(run, error, index);
    }
  }
}

import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { InfluxqlRun } from '../../domain/influxql/influxql.js';
import { ParseError } from '../../domain/influxql/parse/parse-error.js';
import type { RouteDeps } from '../deps.js';
import { signalOf } from '../query/send-answer.js';
import { streamOf } from '../query/stream-of.js';
import { sendError } from '../to-wire.js';
import { setVersionHeaders } from '../write/write-routes.js';
import { UnsupportedValue } from './column-writer.js';
import { encodeCsv } from './encode-csv.js';
import { encodeChunks, encodeResult } from './encode-json.js';
import { PrettyJson } from './pretty-json.js';
import { statementErrorText } from './statement-error.js';
import { readV1Input, type V1Input } from './v1-input.js';

const PIECE_LENGTH = 64 * 1024;

/** `/query`: InfluxQL as the 1.x server speaks it. Source: tsdb-http, "v1 query endpoint". */
export function registerV1QueryRoute(app: FastifyInstance, deps: RouteDeps): void {
  for (const url of ['/query', '/query/']) {
    app.route({
      method: ['GET', 'POST'],
      url,
      errorHandler: (error, _request, reply) =>
        sendError(error, reply, { dialect: 'native', log: deps.log }),
      handler: async (request: FastifyRequest, reply: FastifyReply) => {
        const input = readV1Input(request);
        setVersionHeaders(reply, deps);
        await answer(input, { deps, reply });
        return reply;
      },
    });
  }
}

async function answer(
  input: V1Input,
  { deps, reply }: { readonly deps: RouteDeps; readonly reply: FastifyReply },
): Promise<void> {
  let run: InfluxqlRun;
  try {
    run = await deps.influxql.open({ ...input, signal: signalOf(reply) });
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const failure = JSON.stringify({
      results: [{ statement_id: 0, error: statementErrorText(error) }],
    });
    reply
      .header('content-type', CONTENT_TYPES[input.format])
      .send(Buffer.from(input.format === 'csv' ? '' : `${failure}\n`));
    return;
  }
  const pieces = gathered(
    run,
    input.format === 'csv' ? csvTexts(run, input) : jsonTexts(run, input),
    deps,
  );
  const first = await firstPiece(pieces);
  const start = first.done ? Buffer.alloc(0) : first.value;
  reply.header('content-type', CONTENT_TYPES[input.format]);
  // A piece that is not full is the last one, unless the client wants each chunk at once.
  const isWhole = first.done || (start.length < PIECE_LENGTH && input.chunkSize === undefined);
  reply.send(isWhole ? start : streamOf(start, pieces));
  if (isWhole) await pieces.return();
}

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

async function* gathered(
  run: InfluxqlRun,
  texts: AsyncGenerator<string, void, undefined>,
  deps: RouteDeps,
): AsyncGenerator<Buffer, void, undefined> {
  let outcome: 'success' | 'fail' | 'cancel' = 'cancel';
  let piece = '';
  try {
    for await (const text of texts) {
      piece += text;
      if (piece.length < PIECE_LENGTH) continue;
      yield Buffer.from(piece);
      piece = '';
      // Others get their turn between two pieces.
      await setImmediate();
    }
    outcome = 'success';
    if (piece !== '') yield Buffer.from(piece);
  } catch (error) {
    outcome = 'fail';
    if (statementErrorText(error) === undefined && !(error instanceof UnsupportedValue)) {
      deps.log.error({ err: error }, 'query failed');
    }
    throw error;
  } finally {
    run.end(outcome);
  }
}

async function* jsonTexts(
  run: InfluxqlRun,
  input: V1Input,
): AsyncGenerator<string, void, undefined> {
  const pretty = input.isPretty ? new PrettyJson() : undefined;
  const shown = (text: string): string => pretty?.add(text) ?? text;
  if (input.chunkSize !== undefined) {
    for (const index of run.statements.keys()) {
      for await (const text of chunkedStatement(run, index, input)) yield shown(text);
    }
    return;
  }
  yield shown('{"results":[');
  for (const index of run.statements.keys()) {
    yield shown(index === 0 ? '{' : ',{');
    for await (const text of statementTexts(run, index, input)) yield shown(text);
    yield shown('}');
  }
  yield shown(']}');
  yield '\n';
}

async function* statementTexts(
  run: InfluxqlRun,
  index: number,
  input: V1Input,
): AsyncGenerator<string, void, undefined> {
  const head = `"statement_id":${index}`;
  let isBegun = false;
  try {
    const result = await run.execute(index);
    // Nothing goes out before the first row: until then a failure is the whole result.
    let held = '';
    for await (const text of encodeResult(result, input, { head })) {
      if (!isBegun) {
        held += text;
        isBegun = held.length > head.length + 16;
        if (!isBegun) continue;
        yield held;
        continue;
      }
      yield text;
    }
    if (!isBegun) yield held;
  } catch (error) {
    const text = statementErrorText(error);
    if (text === undefined || isBegun) throw error;
    yield `${head},"error":${JSON.stringify(text)}`;
  }
}

async function* chunkedStatement(
  run: InfluxqlRun,
  index: number,
  input: V1Input,
): AsyncGenerator<string, void, undefined> {
  const head = `"statement_id":${index}`;
  try {
    yield* encodeChunks(await run.execute(index), input, { head });
  } catch (error) {
    if (error instanceof UnsupportedValue) {
      yield `${JSON.stringify({ error: error.message })}\n`;
      return;
    }
    const text = statementErrorText(error);
    if (text === undefined) throw error;
    yield `{"results":[{${head},"error":${JSON.stringify(text)}}]}\n`;
  }
}

async function* csvTexts(
  run: InfluxqlRun,
  input: V1Input,
): AsyncGenerator<string, void, undefined> {
  let isFirst = true;
  for (const index of run.statements.keys()) {
    try {
      let isBegun = false;
      for await (const text of encodeCsv(await run.execute(index), input.epochNs ?? 1n)) {
        if (!isBegun && !isFirst) yield '\n';
        isBegun = true;
        isFirst = false;
        yield text;
      }
    } catch (error) {
      // A statement that fails has no rows; the format has no place for its failure.
      if (statementErrorText(error) === undefined) throw error;
    }
  }
}

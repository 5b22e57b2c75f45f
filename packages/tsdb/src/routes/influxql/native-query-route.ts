import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Answer } from '../../domain/influxql/answer.js';
import type { Statement } from '../../domain/influxql/ast/statement.js';
import type { InfluxqlRun } from '../../domain/influxql/influxql.js';
import { ParseError } from '../../domain/influxql/parse/parse-error.js';
import { NotImplemented, PlanError } from '../../errors.js';
import type { RouteDeps } from '../deps.js';
import { TEXT_FORMATS } from '../formats/index.js';
import { type QueryInput, readInfluxqlInput } from '../query/query-input.js';
import { signalOf } from '../query/send-answer.js';
import { sendResult } from '../query/send-result.js';
import { sendText } from '../query/send-text.js';
import { sendError } from '../to-wire.js';
import { encodeResult } from './encode-json.js';
import { checkNamedDatabase } from './named-database.js';
import { nativeRows } from './native-rows.js';
import { nativeShow } from './native-show.js';

/** InfluxQL with the formats of the native endpoints. Source: tsdb-http, "Native query endpoints". */
export function registerNativeInfluxqlRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const isInfluxdb3 = deps.settings.compat === 'influxdb3';
  const dialect = isInfluxdb3 ? 'text' : 'native';
  for (const url of ['/api/v3/query_influxql', '/api/v3/query_legacyql']) {
    app.route({
      method: ['GET', 'POST'],
      url,
      errorHandler: (error, _request, reply) => sendError(error, reply, { dialect, log: deps.log }),
      handler: async (request: FastifyRequest, reply: FastifyReply) => {
        await answer(readInfluxqlInput(request, isInfluxdb3), { deps, reply });
        return reply;
      },
    });
  }
}

async function answer(
  input: Omit<QueryInput, 'database'> & { readonly database: string | undefined },
  { deps, reply }: { readonly deps: RouteDeps; readonly reply: FastifyReply },
): Promise<void> {
  const run = await opened(input, deps, reply);
  try {
    const [statement] = run.statements;
    if (statement === undefined)
      throw new PlanError(
        'error in InfluxQL statement: parsing error: invalid InfluxQL statement at pos 0',
      );
    checkNamedDatabase(statement, input.database);
    if (input.format === 'parquet') throw new NotImplemented('InfluxQL in format parquet');
    const result = nativeShow(statement, await run.execute(0), deps.catalog);
    if (input.format === 'json_series')
      await sendText(seriesTexts(result), 'application/json', reply, (outcome) => run.end(outcome));
    else await sendRows(result, statement, TEXT_FORMATS[input.format], reply, run);
  } catch (error) {
    run.end('fail');
    throw error;
  }
}

async function sendRows(
  result: Answer,
  statement: Statement,
  format: (typeof TEXT_FORMATS)[keyof typeof TEXT_FORMATS],
  reply: FastifyReply,
  run: InfluxqlRun,
): Promise<void> {
  const rows = nativeRows(result, statement);
  async function* chunks() {
    let outcome: 'success' | 'cancel' = 'cancel';
    try {
      yield* rows.chunks;
      outcome = 'success';
    } finally {
      run.end(outcome);
    }
  }
  await sendResult({ ...rows, chunks: chunks() }, format, reply);
}

async function opened(
  {
    text,
    params,
    database,
  }: {
    readonly text: string;
    readonly params: QueryInput['params'];
    readonly database: string | undefined;
  },
  deps: RouteDeps,
  reply: FastifyReply,
): Promise<InfluxqlRun> {
  try {
    return await deps.influxql.open({
      text,
      params,
      database,
      policy: undefined,
      signal: signalOf(reply),
      dialect: 'native',
    });
  } catch (error) {
    if (error instanceof ParseError) {
      throw new PlanError(`error in InfluxQL statement: ${error.message}`);
    }
    throw error;
  }
}

async function* seriesTexts(answer: Answer): AsyncGenerator<string, void, undefined> {
  yield '{"results":[{';
  let isEmpty = true;
  for await (const text of encodeResult(
    answer,
    { epochNs: undefined, chunkSize: undefined },
    { head: '' },
  )) {
    if (text !== '') isEmpty = false;
    yield text;
  }
  yield isEmpty ? '"series":[]}]}' : '}]}';
}

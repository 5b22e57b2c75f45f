import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Answer } from '../../domain/influxql/answer.js';
import { NotImplemented } from '../../errors.js';
import type { RouteDeps } from '../deps.js';
import { TEXT_FORMATS } from '../formats/index.js';
import { TextBytes } from '../formats/text-bytes.js';
import { type QueryInput, readInfluxqlInput } from '../query/query-input.js';
import { signalOf } from '../query/send-answer.js';
import { sendPieces } from '../query/send-pieces.js';
import { sendResult } from '../query/send-result.js';
import { sendError } from '../to-wire.js';
import { encodeResult } from './encode-json.js';
import { openNative, rowsOf } from './open-native.js';

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
  const opened = await openNative(input, deps, signalOf(reply));
  const { run, result } = opened;
  try {
    if (input.format === 'parquet') throw new NotImplemented('InfluxQL in format parquet');
    if (input.format === 'json_series')
      await sendPieces(seriesPieces(result), 'application/json', reply, (outcome) =>
        run.end(outcome),
      );
    else await sendResult(rowsOf(opened), TEXT_FORMATS[input.format], reply);
  } catch (error) {
    run.end('fail');
    throw error;
  }
}

async function* seriesPieces(answer: Answer): AsyncGenerator<Buffer, void, undefined> {
  const out = new TextBytes();
  out.ascii('{"results":[{');
  const start = out.size;
  const options = { epochNs: undefined, chunkSize: undefined, infinities: 'null' } as const;
  let isEmpty = true;
  for await (const _written of encodeResult(answer, options, { frame: { head: '' }, out })) {
    isEmpty = false;
    yield out.take();
  }
  if (isEmpty && out.size === start) out.ascii('"series":[]');
  out.ascii('}]}');
  yield out.take();
}

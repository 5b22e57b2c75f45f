import type { FastifyReply } from 'fastify';
import type { QueryRequest } from '../../domain/engine/engine.js';
import type { RouteDeps } from '../deps.js';
import { type FormatName, TEXT_FORMATS } from '../formats/index.js';
import { sendParquet } from './send-parquet.js';
import { sendResult } from './send-result.js';

/** Runs a query and answers with its result in the given format. */
export async function sendAnswer(
  query: QueryRequest,
  format: FormatName,
  to: { readonly deps: RouteDeps; readonly reply: FastifyReply },
): Promise<void> {
  const { deps, reply } = to;
  if (format === 'parquet') {
    await sendParquet(await deps.engine.queryToParquet(query), deps.files, reply);
  } else await sendResult(await deps.engine.query(query), TEXT_FORMATS[format], reply);
}

/** Aborted when the client goes away before it has the whole answer. */
export function signalOf(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const { raw } = reply;
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort();
  });
  return controller.signal;
}

import { setImmediate } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import type { ResultStream } from '../../model/result.js';
import type { TextFormat } from '../formats/encoder.js';
import { streamOf } from './stream-of.js';

/**
 * Text of several chunks is gathered up to this length before it is written. Answers below it go out whole, with
 * their length, and may fail with a status until the last row.
 */
const PIECE_LENGTH = 64 * 1024;

/**
 * Answers with a result. The beginning is encoded before anything is sent, so that an error up to there has a
 * status; one after it cuts the connection. The next chunk is asked for when the client has taken the last.
 */
export async function sendResult(
  result: ResultStream,
  format: TextFormat,
  reply: FastifyReply,
): Promise<void> {
  const pieces = encode(result, format);
  const first = await pieces.next();
  // A piece that is not full is the last one.
  const start = first.done ? '' : first.value;
  const isWhole = start.length < PIECE_LENGTH;
  reply
    .header('content-type', format.contentType)
    .send(isWhole ? Buffer.from(start) : streamOf(start, pieces));
}

/** The pieces of an answer; all but the last are full. */
export async function* encode(
  result: ResultStream,
  format: TextFormat,
): AsyncGenerator<string, void, undefined> {
  const encoder = format.open(result);
  let piece = encoder.begin();
  for await (const chunk of result.chunks) {
    piece += encoder.chunk(chunk);
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
    // Others get their turn between two pieces.
    await setImmediate();
  }
  for (const text of encoder.held?.() ?? []) {
    piece += text;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
    await setImmediate();
  }
  piece += encoder.end();
  if (piece !== '') yield piece;
}

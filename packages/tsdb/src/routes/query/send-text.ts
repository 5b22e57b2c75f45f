import { setImmediate } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { streamOf } from './stream-of.js';

const PIECE_LENGTH = 64 * 1024;

/** Sends texts as they are made. What fits one piece goes out whole, and may fail with a status until its end. */
export async function sendText(
  texts: AsyncGenerator<string, void, undefined>,
  contentType: string,
  reply: FastifyReply,
  onEnd: (outcome: 'success' | 'fail' | 'cancel') => void,
): Promise<void> {
  const pieces = gathered(texts, onEnd);
  const first = await pieces.next();
  const start = first.done ? Buffer.alloc(0) : first.value;
  const isWhole = start.length < PIECE_LENGTH;
  reply.header('content-type', contentType).send(isWhole ? start : streamOf(start, pieces));
  if (isWhole) await pieces.return();
}

async function* gathered(
  texts: AsyncGenerator<string, void, undefined>,
  onEnd: (outcome: 'success' | 'fail' | 'cancel') => void,
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
    throw error;
  } finally {
    onEnd(outcome);
  }
}

import { setImmediate } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { streamOf } from './stream-of.js';

const PIECE_SIZE_BYTES = 64 * 1024;

/** Sends an answer as it is made. What fits one piece goes out whole, and may fail with a status until its end. */
export async function sendPieces(
  answer: AsyncGenerator<Buffer, void, undefined>,
  contentType: string,
  reply: FastifyReply,
  onEnd: (outcome: 'success' | 'fail' | 'cancel') => void,
): Promise<void> {
  const pieces = gathered(answer, onEnd);
  const first = await pieces.next();
  const start = first.done ? Buffer.alloc(0) : first.value;
  const isWhole = start.length < PIECE_SIZE_BYTES;
  reply.header('content-type', contentType).send(isWhole ? start : streamOf(start, pieces));
  if (isWhole) await pieces.return();
}

async function* gathered(
  answer: AsyncGenerator<Buffer, void, undefined>,
  onEnd: (outcome: 'success' | 'fail' | 'cancel') => void,
): AsyncGenerator<Buffer, void, undefined> {
  let outcome: 'success' | 'fail' | 'cancel' = 'cancel';
  let held: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of answer) {
      held.push(piece);
      size += piece.length;
      if (size < PIECE_SIZE_BYTES) continue;
      yield Buffer.concat(held);
      held = [];
      size = 0;
      // Others get their turn between two pieces.
      await setImmediate();
    }
    outcome = 'success';
    if (size > 0) yield Buffer.concat(held);
  } catch (error) {
    outcome = 'fail';
    throw error;
  } finally {
    onEnd(outcome);
  }
}

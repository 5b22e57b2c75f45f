import { setImmediate } from 'node:timers/promises';
import type { HttpResponse } from '@plinth/kernel';
import type { QueryOutcome } from '@plinth/tsdb-model/query/query-outcome.js';

const PIECE_SIZE_BYTES = 64 * 1024;

/**
 * Streams a response. If it fits into one piece, it is sent as a unit, and an error at any row sets
 * the status.
 */
export async function gatheredResponse(
  response: AsyncGenerator<Buffer, void, undefined>,
  contentType: string,
  onEnd: (outcome: QueryOutcome) => void,
): Promise<HttpResponse> {
  const rest = gathered(response, onEnd);
  const first = await rest.next();
  const body = first.done ? Buffer.alloc(0) : first.value;
  const isWhole = body.length < PIECE_SIZE_BYTES;
  if (isWhole) await rest.return();
  const head = { status: 200, headers: [['content-type', contentType]] } as const;
  return isWhole ? { ...head, body } : { ...head, body, rest };
}

async function* gathered(
  response: AsyncGenerator<Buffer, void, undefined>,
  onEnd: (outcome: QueryOutcome) => void,
): AsyncGenerator<Buffer, void, undefined> {
  let outcome: QueryOutcome = 'cancel';
  let pending: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of response) {
      pending.push(piece);
      size += piece.length;
      if (size < PIECE_SIZE_BYTES) continue;
      yield Buffer.concat(pending);
      pending = [];
      size = 0;
      // Yield to the event loop between two pieces.
      await setImmediate();
    }
    outcome = 'success';
    if (size > 0) yield Buffer.concat(pending);
  } catch (error) {
    outcome = 'fail';
    throw error;
  } finally {
    onEnd(outcome);
  }
}

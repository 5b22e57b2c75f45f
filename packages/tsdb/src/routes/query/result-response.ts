import type { HttpResponse } from '@plinth/kernel';
import type { ResultStream } from '@plinth/tsdb-model/columns/result.js';
import { TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import type { Encoder, TextFormat } from '../formats/encoder.js';
import type { PiecePool } from '../formats/piece-pool.js';
import { TextBytes } from '../formats/text-bytes.js';

/**
 * Size at which gathered text is written. Smaller responses are sent with their length, and an
 * error at any row sets the status.
 */
const PIECE_SIZE_BYTES = 64 * 1024;

/**
 * Responds with a result. The first piece is encoded before anything is sent, so that earlier
 * errors set the status; later ones close the connection. The next chunk is requested when the
 * client has read the last one.
 */
export async function resultResponse(
  result: ResultStream,
  format: TextFormat,
  pool: PiecePool,
): Promise<HttpResponse> {
  const rest = encode(result, format, pool);
  const first = await rest.next();
  const body = first.done ? Buffer.alloc(0) : first.value;
  const response = { status: 200, headers: [['content-type', format.contentType]], body } as const;
  // A piece that is not full is the last one.
  return body.length < PIECE_SIZE_BYTES
    ? response
    : { ...response, rest, onPieceWritten: (piece) => pool.release(piece) };
}

/** Yields the pieces of a response; all except the last are full. */
async function* encode(
  result: ResultStream,
  format: TextFormat,
  pool: PiecePool,
): AsyncGenerator<Buffer, void, undefined> {
  const out = new TextBytes(pool);
  const encoder = format.open(result, out);
  // Yields to the event loop, also while all rows are kept until the last.
  const task = new TimeSlicedTask();
  encoder.begin();
  for await (const chunk of result.chunks) {
    for (const _step of encoder.chunk(chunk) ?? []) {
      if (out.size >= PIECE_SIZE_BYTES) yield out.take();
      if (task.isYieldDue) await task.yieldIfDue();
    }
    chunk.release?.();
    if (out.size >= PIECE_SIZE_BYTES) yield out.take();
    await task.yieldIfDue();
  }
  for (const piece of lastPieces(encoder, out)) {
    yield piece;
    await task.yieldIfDue();
  }
}

/** Yields the text after the last chunk. */
function* lastPieces(encoder: Encoder, out: TextBytes): Generator<Buffer, void, undefined> {
  for (const _written of encoder.deferredRows?.() ?? []) {
    if (out.size >= PIECE_SIZE_BYTES) yield out.take();
  }
  encoder.end();
  if (out.size > 0) yield out.take();
}

import type { HttpAnswer } from '@plinth/kernel';
import type { ResultStream } from '../../model/columns/result.js';
import { TimeSlicedTask } from '../../model/time-sliced-task.js';
import type { Encoder, TextFormat } from '../formats/encoder.js';
import type { PiecePool } from '../formats/piece-pool.js';
import { TextBytes } from '../formats/text-bytes.js';

/**
 * Text of several chunks is gathered up to this size before it is written. Answers below it go out whole, with
 * their length, and may fail with a status until the last row.
 */
const PIECE_SIZE_BYTES = 64 * 1024;

/**
 * Answers with a result. The beginning is encoded before anything is sent, so that an error up to there has a
 * status; one after it cuts the connection. The next chunk is asked for when the client has taken the last.
 */
export async function resultAnswer(
  result: ResultStream,
  format: TextFormat,
  pool: PiecePool,
): Promise<HttpAnswer> {
  const rest = encode(result, format, pool);
  const first = await rest.next();
  const body = first.done ? Buffer.alloc(0) : first.value;
  const answer = { status: 200, headers: [['content-type', format.contentType]], body } as const;
  // A piece that is not full is the last one.
  return body.length < PIECE_SIZE_BYTES
    ? answer
    : { ...answer, rest, taken: (piece) => pool.release(piece) };
}

/** The pieces of an answer; all but the last are full. */
async function* encode(
  result: ResultStream,
  format: TextFormat,
  pool: PiecePool,
): AsyncGenerator<Buffer, void, undefined> {
  const out = new TextBytes(pool);
  const encoder = format.open(result, out);
  // Others get their turn in between, also where all rows are kept until the last.
  const turns = new TimeSlicedTask();
  encoder.begin();
  for await (const chunk of result.chunks) {
    for (const _step of encoder.chunk(chunk) ?? []) {
      if (out.size >= PIECE_SIZE_BYTES) yield out.take();
      if (turns.isSliceOver) await turns.take();
    }
    chunk.release?.();
    if (out.size >= PIECE_SIZE_BYTES) yield out.take();
    await turns.take();
  }
  for (const piece of lastPieces(encoder, out)) {
    yield piece;
    await turns.take();
  }
}

/** What stands behind the last chunk. */
function* lastPieces(encoder: Encoder, out: TextBytes): Generator<Buffer, void, undefined> {
  for (const _written of encoder.held?.() ?? []) {
    if (out.size >= PIECE_SIZE_BYTES) yield out.take();
  }
  encoder.end();
  if (out.size > 0) yield out.take();
}

import { requestError } from '../request-error.js';
import type { BodyMemory } from '../route.js';
import { ServerBusy } from '../server-busy.js';
import type { BodyReservation } from './body-budget.js';

/** What is read and thrown away of a body that is too large, so that the client gets to see the answer. */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;
/** Pieces up to this size are handed on although they share the memory of the socket's read. */
const MAX_SHARED_SIZE_BYTES = 16 * 1024;
/** Bodies from this size on are put into memory that is there for them: smaller ones are one or two pieces. */
const MIN_POOLED_SIZE_BYTES = 64 * 1024;

/** Pieces up to this size, but for the first, share blocks: each takes hundreds of bytes beside its own. */
const MAX_SMALL_PIECE_BYTES = 1024;
const BLOCK_BYTES = 4096;
/** Of so many pieces and more, each has so many bytes in the mean: whoever sends lines one by one has more. */
const MIN_CRUMB_COUNT = 4096;
const MIN_PIECE_BYTES = 16;

const EMPTY = Buffer.alloc(0);

/** The request stream of either HTTP version. */
export interface BodyStream {
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end' | 'aborted' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/**
 * The one comparison of a body (announced, come so far or decoded) with what may be taken of it. `undefined`: it fits.
 * Otherwise `body_too_large`, which every service puts into its own words.
 */
const oversize = (sizeBytes: number, limitBytes: number): Error | undefined =>
  sizeBytes > limitBytes ? requestError('body_too_large', { limitBytes }) : undefined;

/** Throws it. */
export function refuseOversize(sizeBytes: number, limitBytes: number): void {
  const error = oversize(sizeBytes, limitBytes);
  if (error !== undefined) throw error;
}

/** Collects a body of at most `limitBytes`, copying it at most once. */
export function readBody(
  stream: BodyStream,
  how: {
    readonly contentLength: string | undefined;
    readonly limitBytes: number;
    readonly memory: BodyMemory | undefined;
    readonly held: BodyReservation;
  },
  done: (error: Error | null, body?: Buffer) => void,
): void {
  const { contentLength, limitBytes, memory, held } = how;
  const expectedBytes = Number(contentLength ?? 0);
  const announced = oversize(expectedBytes, limitBytes);
  if (announced !== undefined && expectedBytes > MAX_DISCARDED_BYTES + limitBytes) {
    done(announced);
    return;
  }
  const isPooled = announced === undefined && expectedBytes >= MIN_POOLED_SIZE_BYTES;
  const target = isPooled ? memory?.take(expectedBytes) : undefined;
  const body = new BodyPieces(target);
  let sizeBytes = 0;
  let pieceCount = 0;
  let isDone = false;
  let excess: Error | undefined;
  const finish = (error: Error | null, whole?: Buffer): void => {
    isDone = true;
    held.ended();
    if (error !== null) body.forget();
    if (error !== null && target !== undefined) memory?.release(target);
    done(error, whole);
  };
  // Every request is closed in the end: an error is made only for one that was cut.
  const cut = (): void => {
    if (!isDone) finish(requestError('body_cut'));
  };
  stream.on('data', (chunk) => {
    sizeBytes += chunk.length;
    pieceCount++;
    if (isDone) return;
    if (pieceCount >= MIN_CRUMB_COUNT && sizeBytes < pieceCount * MIN_PIECE_BYTES) {
      finish(requestError('body_in_crumbs'));
      return;
    }
    excess ??= oversize(sizeBytes, limitBytes);
    if (excess !== undefined) body.forget();
    else if (held.came(chunk.length)) body.add(chunk);
    else {
      finish(new ServerBusy());
      return;
    }
    if (target !== undefined) memory?.free(chunk);
    if (excess !== undefined && sizeBytes > limitBytes + MAX_DISCARDED_BYTES) finish(excess);
  });
  stream.on('end', () => {
    if (isDone) return;
    if (excess !== undefined) finish(excess);
    else finish(null, body.joined());
  });
  stream.on('error', cut);
  stream.on('close', cut);
  held.awaitRest(finish);
}

/** The pieces of a body: copied to where it is to stand as they come, or joined at its end. */
class BodyPieces {
  /** Memory for the whole body. */
  readonly target: Buffer | undefined;
  #pieces: Buffer[] = [];
  #sizeBytes = 0;
  /** Its part behind `#usedBytes` is free. */
  #block = EMPTY;
  #usedBytes = 0;

  constructor(target: Buffer | undefined) {
    this.target = target;
  }

  add(piece: Buffer): void {
    const { target } = this;
    // More than was announced, which Node's own parsers do not let through, gets no place. `fill` because it copies as the
    // processor does: `set` copies into shared memory byte by byte, a tenth as fast.
    const end = this.#sizeBytes + piece.length;
    if (piece.length > 0) target?.fill(piece, this.#sizeBytes, Math.min(end, target.length));
    if (target === undefined) this.#keep(piece);
    this.#sizeBytes += piece.length;
  }

  #keep(piece: Buffer): void {
    if (this.#pieces.length === 0 || piece.length > MAX_SMALL_PIECE_BYTES) {
      this.#endBlock();
      this.#pieces.push(piece);
      return;
    }
    if (this.#usedBytes + piece.length > this.#block.length) {
      this.#endBlock();
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    }
    this.#block.set(piece, this.#usedBytes);
    this.#usedBytes += piece.length;
  }

  #endBlock(): void {
    if (this.#usedBytes > 0) this.#pieces.push(this.#block.subarray(0, this.#usedBytes));
    this.#block = EMPTY;
    this.#usedBytes = 0;
  }

  forget(): void {
    this.#pieces = [];
    this.#block = EMPTY;
    this.#usedBytes = 0;
  }

  joined(): Buffer {
    if (this.target !== undefined) return this.target.subarray(0, this.#sizeBytes);
    this.#endBlock();
    const [first] = this.#pieces;
    if (first === undefined) return EMPTY;
    if (this.#pieces.length === 1 && this.#sizeBytes <= MAX_SHARED_SIZE_BYTES) return first;
    // Memory of its own, because larger bodies are handed over to other threads.
    const body = Buffer.allocUnsafeSlow(this.#sizeBytes);
    let offset = 0;
    for (const piece of this.#pieces) {
      body.set(piece, offset);
      offset += piece.length;
    }
    return body;
  }
}

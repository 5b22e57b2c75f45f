import { requestError } from '../request-error.js';
import type { BodyMemory } from '../route.js';
import { ServerBusy } from '../server-busy.js';
import type { BodyReservation } from './body-budget.js';

/** Bytes of an oversized body that are read and discarded, so that the client can still read the response. */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;
/** Pieces up to this size are kept although they share memory with the socket's read buffer. */
const MAX_SHARED_SIZE_BYTES = 16 * 1024;
/** Bodies of this size and above use pooled memory; smaller ones have only one or two pieces. */
const MIN_POOLED_SIZE_BYTES = 64 * 1024;

/**
 * Pieces up to this size, except the first, are copied into shared blocks, as each piece has an overhead of hundreds
 * of bytes.
 */
const MAX_SMALL_PIECE_BYTES = 1024;
const BLOCK_BYTES = 4096;
/** From this number of pieces on, they must have a minimum mean size. Clients that send line by line stay above it. */
const MIN_CRUMB_COUNT = 4096;
const MIN_PIECE_BYTES = 16;

const EMPTY = Buffer.alloc(0);

/** The request stream of any HTTP version. */
export interface BodyStream {
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end' | 'aborted' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/**
 * Compares a body size (announced, received or decoded) with its limit; no other code does. Returns `undefined` when it
 * fits, otherwise `body_too_large`, which every service formats itself.
 */
const oversize = (sizeBytes: number, limitBytes: number): Error | undefined =>
  sizeBytes > limitBytes ? requestError('body_too_large', { limitBytes }) : undefined;

/** Throws `body_too_large` when the body exceeds the limit. */
export function refuseOversize(sizeBytes: number, limitBytes: number): void {
  const error = oversize(sizeBytes, limitBytes);
  if (error !== undefined) throw error;
}

/** Collects a body of at most `limitBytes`, and copies it at most once. */
export function readBody(
  stream: BodyStream,
  options: {
    readonly contentLength: string | undefined;
    readonly limitBytes: number;
    readonly memory: BodyMemory | undefined;
    readonly reservation: BodyReservation;
  },
  done: (error: Error | null, body?: Buffer) => void,
): void {
  const { contentLength, limitBytes, memory, reservation } = options;
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
    reservation.ended();
    if (error !== null) body.forget();
    if (error !== null && target !== undefined) memory?.release(target);
    done(error, whole);
  };
  // Every stream closes eventually, so the error is only created if the body is incomplete.
  const cut = (): void => {
    if (!isDone) finish(requestError('body_cut'));
  };
  stream.on('data', (chunk) => {
    sizeBytes += chunk.length;
    pieceCount++;
    if (isDone) return;
    if (pieceCount >= MIN_CRUMB_COUNT && sizeBytes < pieceCount * MIN_PIECE_BYTES) {
      finish(requestError('body_chunks_too_small'));
      return;
    }
    excess ??= oversize(sizeBytes, limitBytes);
    if (excess !== undefined) body.forget();
    else if (reservation.noteReceived(chunk.length)) body.add(chunk);
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
  reservation.awaitRest(finish);
}

/** The pieces of a body. They are copied to the target as they arrive, or joined at the end. */
class BodyPieces {
  /** Memory for the complete body. */
  readonly target: Buffer | undefined;
  #pieces: Buffer[] = [];
  #sizeBytes = 0;
  /** The part after `#usedBytes` is free. */
  #block = EMPTY;
  #usedBytes = 0;

  constructor(target: Buffer | undefined) {
    this.target = target;
  }

  add(piece: Buffer): void {
    const { target } = this;
    // Bytes beyond the announced length, which Node's parsers never pass on, are not copied. `fill` uses the fast native
    // copy; `set` copies into shared memory byte by byte, ten times slower.
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
    // Not from the buffer pool, as larger bodies are transferred to other threads.
    const body = Buffer.allocUnsafeSlow(this.#sizeBytes);
    let offset = 0;
    for (const piece of this.#pieces) {
      body.set(piece, offset);
      offset += piece.length;
    }
    return body;
  }
}

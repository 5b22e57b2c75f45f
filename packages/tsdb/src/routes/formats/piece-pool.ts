import { MemoryPool } from '../../model/memory/memory-pool.js';

/** Memory of one piece; rows that take more have memory of their own. */
const PIECE_BYTES = 512 * 1024;
/** What is given back beyond it is dropped. */
const MAX_KEPT_BYTES = 4 * PIECE_BYTES;
/** Smaller texts are often whole answers, which nobody gives back. */
const LEAST_BYTES = 64 * 1024;

/** Memory for pieces of long answers: one of two megabytes had as much to do with collecting it as with everything else. */
export class PiecePool {
  readonly #pool = new MemoryPool((sizeBytes) => new ArrayBuffer(sizeBytes), MAX_KEPT_BYTES);

  /** `undefined`: not for so few or so many bytes. Contents are those of an earlier piece. */
  take(sizeBytes: number): Uint8Array | undefined {
    if (sizeBytes <= LEAST_BYTES || sizeBytes > PIECE_BYTES) return undefined;
    return new Uint8Array(this.#pool.take(PIECE_BYTES));
  }

  /** Nobody reads the piece any more. Other memory than the pool's is ignored; what is never given back is collected. */
  release({ buffer }: Uint8Array): void {
    if (buffer instanceof ArrayBuffer && buffer.byteLength === PIECE_BYTES)
      this.#pool.release(buffer);
  }
}

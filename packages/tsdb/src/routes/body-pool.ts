import { MemoryDrain } from '../model/memory/memory-drain.js';
import { MemoryPool, roomFor } from '../model/memory/memory-pool.js';

/** Memory that is kept for later bodies; what is given back beyond it is dropped. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;

/** Freeing a smaller piece costs more than collecting it. */
const MIN_FREED_BYTES = 8 * 1024;

/**
 * Memory for large bodies: collecting it cost more than all that is done with the bodies. It is shared, so that other threads
 * read it in place.
 */
export class BodyPool {
  readonly #drain = new MemoryDrain();
  readonly #pool = new MemoryPool((sizeBytes) => new SharedArrayBuffer(sizeBytes), MAX_KEPT_BYTES);

  /** `undefined`: there is no memory. Contents are those of an earlier body. */
  take(sizeBytes: number): Buffer | undefined {
    try {
      return Buffer.from(this.#pool.take(roomFor(sizeBytes)), 0, sizeBytes);
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  }

  /** Nobody reads `body` any more. Other memory than the pool's is ignored; what is never given back is collected. */
  release(body: Uint8Array): void {
    const { buffer } = body;
    if (buffer instanceof SharedArrayBuffer) this.#pool.release(buffer);
  }

  /** Nobody looks at a piece any more that was copied. What shares its memory with something else is left alone. */
  free(piece: Uint8Array): void {
    const { buffer } = piece;
    if (buffer.byteLength < MIN_FREED_BYTES || buffer.byteLength !== piece.byteLength) return;
    if (buffer instanceof ArrayBuffer) this.#drain.free(buffer);
  }
}

import { MemoryDrain } from '@plinth/tsdb-model/memory/memory-drain.js';
import { MemoryPool, roomFor } from '@plinth/tsdb-model/memory/memory-pool.js';

/** Maximum size of released memory that is kept for later bodies. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;

/** Freeing smaller pieces explicitly costs more than leaving them to the garbage collector. */
const MIN_FREED_BYTES = 8 * 1024;

/**
 * Memory for large bodies. Garbage collection of it would cost more than processing the bodies. It is shared, so that
 * other threads read it in place.
 */
export class BodyPool {
  readonly #drain = new MemoryDrain();
  readonly #pool = new MemoryPool((sizeBytes) => new SharedArrayBuffer(sizeBytes), MAX_KEPT_BYTES);

  /** Returns `undefined` if no memory is available. The memory still contains an earlier body. */
  take(sizeBytes: number): Buffer | undefined {
    try {
      return Buffer.from(this.#pool.take(roomFor(sizeBytes)), 0, sizeBytes);
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  }

  /**
   * Returns an unused body to the pool. Ignores memory from elsewhere; memory that is never released is
   * garbage-collected.
   */
  release(body: Uint8Array): void {
    const { buffer } = body;
    if (buffer instanceof SharedArrayBuffer) this.#pool.release(buffer);
  }

  /** Frees a piece that was copied, unless it shares its memory with other data. */
  free(piece: Uint8Array): void {
    const { buffer } = piece;
    if (buffer.byteLength < MIN_FREED_BYTES || buffer.byteLength !== piece.byteLength) return;
    if (buffer instanceof ArrayBuffer) this.#drain.free(buffer);
  }
}

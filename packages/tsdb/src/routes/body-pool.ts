import { MemoryDrain } from '../model/memory-drain.js';

/** Memory that is kept for later bodies; what is given back beyond it is dropped. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;

/** Freeing a smaller piece costs more than collecting it. */
const MIN_FREED_BYTES = 8 * 1024;

/**
 * Memory for large bodies, used again and again: the runtime counts fresh memory as a reason to collect garbage, and
 * collecting it cost more than all that is done with the bodies. It is shared, so that other threads read it in place.
 */
export class BodyPool {
  readonly #drain = new MemoryDrain();
  /** By size, a power of two. */
  readonly #kept = new Map<number, SharedArrayBuffer[]>();
  #keptBytes = 0;

  /** `undefined`: there is no memory. Contents are those of an earlier body. */
  take(sizeBytes: number): Buffer | undefined {
    const capacity = 2 ** Math.ceil(Math.log2(sizeBytes));
    const kept = this.#kept.get(capacity)?.pop();
    if (kept !== undefined) {
      this.#keptBytes -= capacity;
      return Buffer.from(kept, 0, sizeBytes);
    }
    try {
      return Buffer.from(new SharedArrayBuffer(capacity), 0, sizeBytes);
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  }

  /** Nobody reads `body` any more. Other memory than the pool's is ignored; what is never given back is collected. */
  giveBack(body: Uint8Array): void {
    const { buffer } = body;
    if (!(buffer instanceof SharedArrayBuffer)) return;
    const capacity = buffer.byteLength;
    if (this.#keptBytes + capacity > MAX_KEPT_BYTES) return;
    const kept = this.#kept.get(capacity);
    if (kept === undefined) this.#kept.set(capacity, [buffer]);
    else kept.push(buffer);
    this.#keptBytes += capacity;
  }

  /** Nobody looks at a piece any more that was copied. What shares its memory with something else is left alone. */
  free(piece: Uint8Array): void {
    const { buffer } = piece;
    if (buffer.byteLength < MIN_FREED_BYTES || buffer.byteLength !== piece.byteLength) return;
    if (buffer instanceof ArrayBuffer) this.#drain.free(buffer);
  }
}

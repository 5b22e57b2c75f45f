import { MemoryDrain } from '../../model/memory/memory-drain.js';
import { MemoryPool } from '../../model/memory/memory-pool.js';

/** Smaller memory costs next to nothing to make and to collect. */
const MIN_KEPT_BYTES = 16 * 1024;
/** What is kept for later blocks: some blocks of a wide table. What is given back beyond it is freed. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;

/** Blocks of all tables whose rows are in the engine, and that queries look at instead. */
const MAX_RECENT_BYTES = 32 * 1024 * 1024;

/** Memory of blocks whose rows are in the engine, for later blocks. */
export class BlockMemory {
  readonly #drain = new MemoryDrain();
  readonly #pool = new MemoryPool((sizeBytes) => new ArrayBuffer(sizeBytes), MAX_KEPT_BYTES);
  #recentBytes = 0;

  /** Contents are those of an earlier block, or zeros. */
  take(sizeBytes: number): ArrayBuffer {
    return this.#pool.take(sizeBytes);
  }

  /** False: so much more is too much. */
  takeForRecent(sizeBytes: number): boolean {
    if (this.#recentBytes + sizeBytes > MAX_RECENT_BYTES) return false;
    this.#recentBytes += sizeBytes;
    return true;
  }

  releaseRecent(sizeBytes: number): void {
    this.#recentBytes -= sizeBytes;
  }

  /** Nobody looks at `memory` any more. */
  release(memory: ArrayBuffer): void {
    if (memory.byteLength >= MIN_KEPT_BYTES && !this.#pool.release(memory))
      this.#drain.free(memory);
  }
}

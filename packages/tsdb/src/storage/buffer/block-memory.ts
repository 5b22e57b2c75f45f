import { MemoryDrain } from '../../model/memory-drain.js';

/** Smaller memory costs next to nothing to make and to collect. */
const MIN_KEPT_BYTES = 16 * 1024;
/** What is kept for later blocks: some blocks of a wide table. What is given back beyond it is freed. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;

/** Blocks of all tables whose rows are in the engine, and that queries look at instead. */
const MAX_RECENT_BYTES = 32 * 1024 * 1024;

/**
 * Memory of blocks whose rows are in the engine, for later blocks: the runtime counts fresh memory outside of its heap as a
 * reason to collect garbage, and the system has to clear it.
 */
export class BlockMemory {
  readonly #drain = new MemoryDrain();
  readonly #kept = new Map<number, ArrayBuffer[]>();
  #keptBytes = 0;
  #recentBytes = 0;

  /** Contents are those of an earlier block, or zeros. */
  take(sizeBytes: number): ArrayBuffer {
    const kept = this.#kept.get(sizeBytes)?.pop();
    if (kept === undefined) return new ArrayBuffer(sizeBytes);
    this.#keptBytes -= sizeBytes;
    return kept;
  }

  /** False: so much more is too much. */
  takeForRecent(sizeBytes: number): boolean {
    if (this.#recentBytes + sizeBytes > MAX_RECENT_BYTES) return false;
    this.#recentBytes += sizeBytes;
    return true;
  }

  giveBackRecent(sizeBytes: number): void {
    this.#recentBytes -= sizeBytes;
  }

  /** Nobody looks at `memory` any more. */
  giveBack(memory: ArrayBuffer): void {
    const sizeBytes = memory.byteLength;
    if (sizeBytes < MIN_KEPT_BYTES) return;
    if (this.#keptBytes + sizeBytes > MAX_KEPT_BYTES) {
      this.#drain.free(memory);
      return;
    }
    this.#keptBytes += sizeBytes;
    const kept = this.#kept.get(sizeBytes);
    if (kept === undefined) this.#kept.set(sizeBytes, [memory]);
    else kept.push(memory);
  }
}

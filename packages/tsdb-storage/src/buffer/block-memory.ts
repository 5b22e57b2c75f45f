import { MemoryDrain } from '@plinth/tsdb-model/memory/memory-drain.js';
import { MemoryPool } from '@plinth/tsdb-model/memory/memory-pool.js';

/** Minimum size of pooled memory; pooling smaller memory would not be worth the overhead. */
const MIN_KEPT_BYTES = 16 * 1024;
/**
 * Memory kept for later blocks, enough for a few blocks of a wide table. Memory released above this
 * limit is freed.
 */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;

/**
 * Maximum size of the blocks kept for queries after they were moved to DuckDB, over all tables.
 */
const MAX_RECENT_BYTES = 32 * 1024 * 1024;

/** Allocates memory for blocks. Reuses it when the rows have moved to DuckDB, and limits the memory of recent blocks. */
export class BlockMemory {
  readonly #drain = new MemoryDrain();
  readonly #pool = new MemoryPool((sizeBytes) => new ArrayBuffer(sizeBytes), MAX_KEPT_BYTES);
  #recentBytes = 0;

  /** Returns memory with zeros or the content of an earlier block. */
  take(sizeBytes: number): ArrayBuffer {
    return this.#pool.take(sizeBytes);
  }

  /** Reserves memory for recent blocks. Returns false if the limit would be exceeded. */
  takeForRecent(sizeBytes: number): boolean {
    if (this.#recentBytes + sizeBytes > MAX_RECENT_BYTES) return false;
    this.#recentBytes += sizeBytes;
    return true;
  }

  releaseRecent(sizeBytes: number): void {
    this.#recentBytes -= sizeBytes;
  }

  /** Returns unused memory to the pool. */
  release(memory: ArrayBuffer): void {
    if (memory.byteLength >= MIN_KEPT_BYTES && !this.#pool.release(memory))
      this.#drain.free(memory);
  }
}

import { MemoryPool } from '@plinth/tsdb-model/memory/memory-pool.js';

/** Leaves space for batches slightly above the target size. A single huge row does not fit. */
const BODY_BYTES = 256 * 1024;
/** One body is being sent, one is being encoded, and one waits for a slow socket. */
const MAX_KEPT_BYTES = 3 * BODY_BYTES;

/** Bytes that the holder releases after use. */
export interface PooledBytes {
  readonly bytes: Buffer;
  release(): void;
}

/** Reusable memory for the batch bodies of one stream. */
export class BatchBodies {
  readonly #pool = new MemoryPool((sizeBytes) => new ArrayBuffer(sizeBytes), MAX_KEPT_BYTES);

  take(sizeBytes: number): PooledBytes {
    // Small bodies would waste a pooled buffer, and huge ones exceed it.
    if (sizeBytes < BODY_BYTES / 4 || sizeBytes > BODY_BYTES)
      return { bytes: Buffer.allocUnsafeSlow(sizeBytes), release: () => undefined };
    let pooled: ArrayBuffer | undefined = this.#pool.take(BODY_BYTES);
    return {
      bytes: Buffer.from(pooled, 0, sizeBytes),
      release: () => {
        if (pooled !== undefined) this.#pool.release(pooled);
        pooled = undefined;
      },
    };
  }
}

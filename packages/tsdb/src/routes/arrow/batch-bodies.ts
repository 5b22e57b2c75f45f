import { MemoryPool } from '../../model/memory/memory-pool.js';

/** Batches that are a little larger than they should be fit, too; one huge row does not. */
const BODY_BYTES = 256 * 1024;
/** One is on its way, one in the making, one behind a slow socket. */
const MAX_KEPT_BYTES = 3 * BODY_BYTES;

/** Bytes that their holder gives back when nobody reads them any more. */
export interface PooledBytes {
  readonly bytes: Buffer;
  release(): void;
}

/** Memory for the bodies of one stream's batches, used again when they have been sent. */
export class BatchBodies {
  readonly #pool = new MemoryPool((sizeBytes) => new ArrayBuffer(sizeBytes), MAX_KEPT_BYTES);

  take(sizeBytes: number): PooledBytes {
    // A few rows do not need the room of many, and a huge one has its own.
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

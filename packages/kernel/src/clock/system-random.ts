import { randomFillSync, randomUUID } from 'node:crypto';
import type { Clock } from './clock.js';
import type { Random } from './random.js';
import { UuidV7Maker } from './uuid-v7.js';

/** The number of random bytes per system call, which is enough for hundreds of ids. */
const POOL_SIZE_BYTES = 4096;

/** Cryptographically secure randomness from the operating system. */
export class SystemRandom implements Random {
  readonly #uuids: UuidV7Maker;
  readonly #pool = new Uint8Array(POOL_SIZE_BYTES);
  #usedBytes = POOL_SIZE_BYTES;

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#uuids = new UuidV7Maker(clock, (sizeBytes) => this.bytes(sizeBytes));
  }

  bytes(sizeBytes: number): Uint8Array {
    if (sizeBytes > POOL_SIZE_BYTES) return randomFillSync(new Uint8Array(sizeBytes));
    if (this.#usedBytes + sizeBytes > POOL_SIZE_BYTES) {
      randomFillSync(this.#pool);
      this.#usedBytes = 0;
    }
    const start = this.#usedBytes;
    this.#usedBytes += sizeBytes;
    const taken = this.#pool.slice(start, this.#usedBytes);
    // Returned bytes may become a secret, so the pool keeps no copy.
    this.#pool.fill(0, start, this.#usedBytes);
    return taken;
  }

  float(): number {
    const bytes = this.bytes(8);
    const view = new DataView(bytes.buffer, bytes.byteOffset, 8);
    return (view.getUint32(0) * 2 ** 21 + (view.getUint32(4) >>> 11)) / 2 ** 53;
  }

  uuidV4(): string {
    return randomUUID();
  }

  uuidV7(): string {
    return this.#uuids.next();
  }
}

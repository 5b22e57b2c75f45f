import type { Clock } from '@plinth/kernel';

/** Maximum size of all values; the oldest are evicted. */
const MAX_SIZE_BYTES = 64 * 1024 * 1024;

interface Entry {
  readonly value: Uint8Array;
  readonly endMs: number;
}

/** The global cache of plugins that run in separate processes: pickled values by key. */
export class GlobalCache {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  #sizeBytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(key: string): Uint8Array | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.endMs > this.#clock.monotonicMs()) return entry?.value;
    this.#remove(key);
    return undefined;
  }

  /**
   * @param ttlSec as received from the worker: a number of seconds, or another value for no limit.
   */
  put(key: string, value: Uint8Array, ttlSec: unknown): void {
    this.#remove(key);
    const endMs =
      typeof ttlSec === 'number'
        ? this.#clock.monotonicMs() + ttlSec * 1000
        : Number.POSITIVE_INFINITY;
    this.#entries.set(key, { value, endMs });
    this.#sizeBytes += value.byteLength;
    for (const oldest of this.#entries.keys()) {
      if (this.#sizeBytes <= MAX_SIZE_BYTES) break;
      this.#remove(oldest);
    }
  }

  /** Returns whether the key existed. */
  delete(key: string): boolean {
    const isThere = this.get(key) !== undefined;
    this.#remove(key);
    return isThere;
  }

  #remove(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#sizeBytes -= entry.value.byteLength;
  }
}

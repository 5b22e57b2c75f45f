import { LoadQueue } from './load-queue.js';

/**
 * Entries used this recently are not evicted to admit new ones, so that a working set larger than
 * the cache does not cause thrashing.
 */
const LEAST_IDLE_MS = 5000;

/**
 * Maximum number of rows of one segment that are cached as one range. A load needs 16 bytes per row
 * in addition to its result.
 */
const SEGMENT_RANGE_ROWS = 1024 * 1024;

/** An object whose memory the cache counts. */
export interface CacheEntry {
  readonly sizeBytes: number;
  lastUsedMs: number;
  /** Called when the cache evicts the entry. */
  drop(): void;
}

/** Limits the memory of decoded columns over all tables; evicts the least recently used first. */
export class ColumnCache {
  readonly limitBytes: number;
  readonly cachedRangeRows: number;
  readonly #nowMs: () => number;
  readonly #entries = new Set<CacheEntry>();
  /**
   * Entries used by running results, with the number of pins. Evicted entries count until the last
   * of these results has ended.
   */
  readonly #pins = new Map<CacheEntry, number>();
  #sizeBytes = 0;
  readonly loads: LoadQueue;

  constructor(options: {
    readonly limitBytes: number;
    readonly nowMs: () => number;
    /** Used only by tests. */
    readonly cachedRangeRows?: number | undefined;
  }) {
    this.limitBytes = options.limitBytes;
    this.cachedRangeRows = options.cachedRangeRows ?? SEGMENT_RANGE_ROWS;
    this.#nowMs = options.nowMs;
    this.loads = new LoadQueue(options.nowMs);
  }

  get isEnabled(): boolean {
    return this.limitBytes > 0;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  nowMs(): number {
    return this.#nowMs();
  }

  /** Returns false if this many more bytes do not fit and no entry is old enough to evict. */
  makeRoom(sizeBytes: number): boolean {
    if (this.#sizeBytes + sizeBytes <= this.limitBytes) return true;
    const latestMs = this.#nowMs() - LEAST_IDLE_MS;
    const idle = [...this.#entries]
      .filter((entry) => entry.lastUsedMs <= latestMs && !this.#pins.has(entry))
      .sort((a, b) => a.lastUsedMs - b.lastUsedMs);
    const idleBytes = idle.reduce((sum, entry) => sum + entry.sizeBytes, 0);
    if (this.#sizeBytes - idleBytes + sizeBytes > this.limitBytes) return false;
    for (const entry of idle) {
      if (this.#sizeBytes + sizeBytes <= this.limitBytes) break;
      this.remove(entry);
      entry.drop();
    }
    return true;
  }

  add(entry: CacheEntry): void {
    if (this.#entries.has(entry)) return;
    this.#entries.add(entry);
    this.#sizeBytes += entry.sizeBytes;
  }

  remove(entry: CacheEntry): void {
    if (this.#entries.delete(entry) && !this.#pins.has(entry)) this.#sizeBytes -= entry.sizeBytes;
  }

  isPinned(entry: CacheEntry): boolean {
    return this.#pins.has(entry);
  }

  /**
   * Keeps the memory of an entry counted while a result is built from it. Returns the unpin
   * function; call it exactly once.
   */
  pin(entry: CacheEntry): () => void {
    const pins = this.#pins.get(entry) ?? 0;
    if (pins === 0 && !this.#entries.has(entry)) this.#sizeBytes += entry.sizeBytes;
    this.#pins.set(entry, pins + 1);
    return () => {
      const left = (this.#pins.get(entry) ?? 1) - 1;
      if (left > 0) {
        this.#pins.set(entry, left);
        return;
      }
      this.#pins.delete(entry);
      if (!this.#entries.has(entry)) this.#sizeBytes -= entry.sizeBytes;
    };
  }
}

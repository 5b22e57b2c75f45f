import { LoadQueue } from './load-queue.js';

/** What was used this recently is not given up for something new: a working set that does not fit must not churn. */
const LEAST_IDLE_MS = 5000;

/** Rows of a segment that are kept as one, at most: a load takes 16 bytes a row beside what it brings. */
const SEGMENT_UNIT_ROWS = 1024 * 1024;

/** Something whose memory the cache counts. */
export interface CacheEntry {
  readonly sizeBytes: number;
  lastUsedMs: number;
  /** Called when the cache gives it up. */
  drop(): void;
}

/** Bounds the memory of decoded columns over all tables; what was not used for longest goes first. */
export class ColumnCache {
  readonly limitBytes: number;
  readonly segmentUnitRows: number;
  readonly #nowMs: () => number;
  readonly #entries = new Set<CacheEntry>();
  /** Entries that answers are made of, and how many. They count until the last of these has ended, also when given up. */
  readonly #holders = new Map<CacheEntry, number>();
  #sizeBytes = 0;
  readonly loads: LoadQueue;

  constructor(options: {
    readonly limitBytes: number;
    readonly nowMs: () => number;
    /** In tests. */
    readonly segmentUnitRows?: number | undefined;
  }) {
    this.limitBytes = options.limitBytes;
    this.segmentUnitRows = options.segmentUnitRows ?? SEGMENT_UNIT_ROWS;
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

  /** False: there is no room for so much more, and nothing is old enough to make way. */
  makeRoom(sizeBytes: number): boolean {
    if (this.#sizeBytes + sizeBytes <= this.limitBytes) return true;
    const latestMs = this.#nowMs() - LEAST_IDLE_MS;
    const idle = [...this.#entries]
      .filter((entry) => entry.lastUsedMs <= latestMs && !this.#holders.has(entry))
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
    if (this.#entries.delete(entry) && !this.#holders.has(entry))
      this.#sizeBytes -= entry.sizeBytes;
  }

  isHeld(entry: CacheEntry): boolean {
    return this.#holders.has(entry);
  }

  /** Whoever makes an answer of an entry slowly keeps its memory. Returns what lets it go, to be called once. */
  hold(entry: CacheEntry): () => void {
    const holders = this.#holders.get(entry) ?? 0;
    if (holders === 0 && !this.#entries.has(entry)) this.#sizeBytes += entry.sizeBytes;
    this.#holders.set(entry, holders + 1);
    return () => {
      const left = (this.#holders.get(entry) ?? 1) - 1;
      if (left > 0) {
        this.#holders.set(entry, left);
        return;
      }
      this.#holders.delete(entry);
      if (!this.#entries.has(entry)) this.#sizeBytes -= entry.sizeBytes;
    };
  }
}

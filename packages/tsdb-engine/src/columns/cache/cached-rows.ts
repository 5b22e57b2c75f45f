import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { CacheEntry, ColumnCache } from './column-cache.js';
import { columnSizeBytes, type Part, partSizeBytes, type StoredColumn, timesOf } from './part.js';

/** Field types that can be kept in memory. */
export type CacheableKind = 'float64' | 'int64' | 'uint64' | 'bool';

export function isCacheableKind(kind: Column['kind']): kind is CacheableKind {
  return kind === 'float64' || kind === 'int64' || kind === 'uint64' || kind === 'bool';
}

/** Series and timestamps of some rows, with the fields that queries have read so far. */
export class CachedRows {
  readonly #cache: ColumnCache;
  /** Series and timestamps of the rows, sorted by series and time; the columns follow its row order. */
  #part: (CacheEntry & { readonly part: Part }) | undefined;
  readonly #columns = new Map<number, CacheEntry & { readonly column: StoredColumn }>();
  readonly #uncacheable = new Set<number>();
  #isUncacheable = false;
  #isForgotten = false;
  #times: { readonly min: bigint; readonly max: bigint } | undefined;

  constructor(cache: ColumnCache) {
    this.#cache = cache;
  }

  /** True if the rows, or one of the columns, cannot be kept in memory. */
  isUncacheable(columns: readonly Column[]): boolean {
    return this.#isUncacheable || columns.some((column) => this.#uncacheable.has(column.id));
  }

  /** False if no row is known to be between the two timestamps. */
  touches(minTime: bigint, maxTime: bigint): boolean {
    return this.#times === undefined || (this.#times.min <= maxTime && this.#times.max >= minTime);
  }

  /** Records the time range of the rows before they are loaded. */
  noteTimes(times: { readonly min: bigint; readonly max: bigint }): void {
    this.#times = times;
  }

  get part(): Part | undefined {
    const entry = this.#part;
    if (entry !== undefined) entry.lastUsedMs = this.#cache.nowMs();
    return entry?.part;
  }

  column(id: number): StoredColumn | undefined {
    const entry = this.#columns.get(id);
    if (entry !== undefined) entry.lastUsedMs = this.#cache.nowMs();
    return entry?.column;
  }

  /**
   * True once the rows no longer exist. The result of a load that is still running is then
   * discarded.
   */
  get isForgotten(): boolean {
    return this.#isForgotten;
  }

  /** Bytes that are freed when these rows are evicted. */
  get freeableBytes(): number {
    let sum = 0;
    for (const entry of [this.#part, ...this.#columns.values()])
      if (entry !== undefined && !this.#cache.isPinned(entry)) sum += entry.sizeBytes;
    return sum;
  }

  /**
   * Returns a function that pins the part and these columns and returns the unpin function, which must be called
   * exactly once. Pinned memory remains counted while a result uses it, even after eviction.
   */
  pinner(ids: Iterable<number>): () => () => void {
    const entries = [this.#part, ...Array.from(ids, (id) => this.#columns.get(id))];
    return () => {
      const unpins = entries.flatMap((entry) =>
        entry === undefined ? [] : [this.#cache.pin(entry)],
      );
      return () => {
        for (const unpin of unpins) unpin();
      };
    };
  }

  has(id: number): boolean {
    return this.#columns.has(id);
  }

  setPart(part: Part | undefined): void {
    if (part === undefined) this.#isUncacheable = true;
    if (part === undefined || this.#part !== undefined || this.#isForgotten) return;
    const entry = {
      part,
      sizeBytes: partSizeBytes(part),
      lastUsedMs: this.#cache.nowMs(),
      drop: () => this.#clear(),
    };
    this.#part = entry;
    this.#times = timesOf(part);
    this.#cache.add(entry);
  }

  setColumn(id: number, column: StoredColumn | undefined): void {
    if (column === undefined) this.#uncacheable.add(id);
    if (column === undefined || this.#columns.has(id) || this.#isForgotten) return;
    const entry = {
      column,
      sizeBytes: columnSizeBytes(column),
      lastUsedMs: this.#cache.nowMs(),
      drop: () => this.#columns.delete(id),
    };
    this.#columns.set(id, entry);
    this.#cache.add(entry);
  }

  /** Call when the rows no longer exist. The results of later loads are discarded. */
  forget(): void {
    this.#isForgotten = true;
    this.#clear();
  }

  /** Drops the columns with the part, because their values follow its row order. */
  #clear(): void {
    if (this.#part !== undefined) this.#cache.remove(this.#part);
    this.#part = undefined;
    for (const entry of this.#columns.values()) this.#cache.remove(entry);
    this.#columns.clear();
  }
}

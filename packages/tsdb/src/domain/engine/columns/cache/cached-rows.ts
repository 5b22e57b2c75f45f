import type { Column } from '../../../../model/columns/column.js';
import type { CacheEntry, ColumnCache } from './column-cache.js';
import { columnSizeBytes, type Part, partSizeBytes, type StoredColumn, timesOf } from './part.js';

/** Kinds of fields that have a form in memory. */
export type InMemoryKind = 'float64' | 'int64' | 'uint64' | 'bool';

export function isInMemoryKind(kind: Column['kind']): kind is InMemoryKind {
  return kind === 'float64' || kind === 'int64' || kind === 'uint64' || kind === 'bool';
}

/** Series and times of some rows, with those of their fields that were asked for. */
export class CachedRows {
  readonly #cache: ColumnCache;
  #part: (CacheEntry & { readonly part: Part }) | undefined;
  readonly #columns = new Map<number, CacheEntry & { readonly column: StoredColumn }>();
  readonly #unfit = new Set<number>();
  #isUnfit = false;
  #isForgotten = false;
  #times: { readonly min: bigint; readonly max: bigint } | undefined;

  constructor(cache: ColumnCache) {
    this.#cache = cache;
  }

  /** True when the rows, or one of the columns, have no form in memory. */
  isUnfit(columns: readonly Column[]): boolean {
    return this.#isUnfit || columns.some((column) => this.#unfit.has(column.id));
  }

  /** False: no row lies between the two instants, as far as is known. */
  touches(minTime: bigint, maxTime: bigint): boolean {
    return this.#times === undefined || (this.#times.min <= maxTime && this.#times.max >= minTime);
  }

  /** What is known of the rows before they are in memory. */
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

  /** What a load brings is not kept any more. */
  get isForgotten(): boolean {
    return this.#isForgotten;
  }

  /** What the cache has again once this is given up. */
  get freeableBytes(): number {
    let sum = 0;
    for (const entry of [this.#part, ...this.#columns.values()])
      if (entry !== undefined && !this.#cache.isHeld(entry)) sum += entry.sizeBytes;
    return sum;
  }

  /**
   * The part and these columns, for whoever keeps them counted while an answer is made of them, also when they are given up
   * here. It returns what lets them go, to be called once.
   */
  holder(ids: Iterable<number>): () => () => void {
    const entries = [this.#part, ...Array.from(ids, (id) => this.#columns.get(id))];
    return () => {
      const lettingGo = entries.flatMap((entry) =>
        entry === undefined ? [] : [this.#cache.hold(entry)],
      );
      return () => {
        for (const letGo of lettingGo) letGo();
      };
    };
  }

  has(id: number): boolean {
    return this.#columns.has(id);
  }

  setPart(part: Part | undefined): void {
    if (part === undefined) this.#isUnfit = true;
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
    if (column === undefined) this.#unfit.add(id);
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

  /** The rows are gone; what a load brings later is not kept. */
  forget(): void {
    this.#isForgotten = true;
    this.#clear();
  }

  /** Columns mean nothing without the order of the rows. */
  #clear(): void {
    if (this.#part !== undefined) this.#cache.remove(this.#part);
    this.#part = undefined;
    for (const entry of this.#columns.values()) this.#cache.remove(entry);
    this.#columns.clear();
  }
}

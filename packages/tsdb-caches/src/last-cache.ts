import type { SeriesIndex } from '@plinth/tsdb-engine/series/series-index.js';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { isValid, type RowBatch, takeRows } from '@plinth/tsdb-model/columns/row-batch.js';
import type { TagCondition } from '@plinth/tsdb-model/scan.js';
import { createRowKeys, type KeyValue, type RowKeys } from './row-keys.js';
import { thresholdOf } from './threshold.js';
import { type CachedValue, ValueColumn } from './value-column.js';

const NONE = -1;
/** Maximum number of the newest rows of a key with which a row can merge. Bounds the search for late rows. */
const MAX_MERGE_DEPTH = 64;

export interface LastCacheOptions {
  readonly index: SeriesIndex;
  readonly keyColumns: readonly Column[];
  /** Fields and tags stored in addition to `time`; `undefined` stores all columns. */
  readonly valueColumns: readonly Column[] | undefined;
  /** Maximum number of rows per key. */
  readonly count: number;
  readonly ttlMs: number;
}

/** One row of a key. The rows of a key are ordered newest first. */
export interface LastEntry {
  readonly slot: number;
  readonly entry: number;
}

/**
 * A row of the current batch that adds its fields to an entry. Row `base` of the batch created that
 * entry.
 */
interface Merge {
  readonly entry: number;
  readonly row: number;
  readonly base: number;
}

/**
 * The newest rows of each key. A row is accepted if it has all key columns and is later than the
 * last accepted row of its key. Missing values read as NULL. A row of an existing point (same
 * series and time) adds its fields.
 * Rows expire `ttlMs` after their first arrival.
 * Source: tsdb-http, "Last value cache".
 */
export class LastCache {
  readonly #options: LastCacheOptions;
  readonly #keys: RowKeys;
  readonly #columns = new Map<number, ValueColumn>();
  // Indexed by key.
  #newest = new Int32Array(64).fill(NONE);
  #oldest = new Int32Array(64).fill(NONE);
  #length = new Int32Array(64);
  // Indexed by entry.
  #series = new Int32Array(64);
  #times = new BigInt64Array(64);
  #timeWords = new Int32Array(this.#times.buffer);
  #arrivalsMs = new Float64Array(64);
  /** The next newer entry of the key; for a free entry, the next free one. */
  #newer = new Int32Array(64);
  #older = new Int32Array(64);
  #firstFree = NONE;
  #entryCount = 0;
  #usedCount = 0;
  /** The row of the current batch that created each entry. */
  #rowOfEntry = new Int32Array(64);

  constructor(options: LastCacheOptions) {
    this.#options = options;
    const { index, keyColumns } = options;
    this.#keys = createRowKeys({ index, columns: keyColumns, keepsMissing: false });
    for (const column of options.valueColumns ?? []) this.#columnOf(column);
  }

  get entryCount(): number {
    return this.#usedCount;
  }

  get sizeBytes(): number {
    const entryBytes = 4 + 8 + 8 + 4 + 4 + 4;
    let size = this.#keys.sizeBytes + this.#newest.length * 12 + this.#series.length * entryBytes;
    for (const column of this.#columns.values()) size += column.sizeBytes;
    return size;
  }

  /** Bytes of the stored rows; `sizeBytes` includes spare capacity. */
  get usedBytes(): number {
    return (this.sizeBytes * this.#usedCount) / this.#series.length;
  }

  /** @param arrivalsMs the arrival of each row, or one arrival for all rows. */
  take(batch: RowBatch, arrivalsMs: number | Float64Array): void {
    this.#take(batch, arrivalsMs, true);
  }

  #take(batch: RowBatch, arrivalsMs: number | Float64Array, isMerged: boolean): void {
    const slots = new Int32Array(batch.rowCount);
    this.#keys.locate(batch, slots);
    if (this.#newest.length < this.#keys.size) this.#growKeys(this.#keys.size);
    const entries = new Int32Array(batch.rowCount);
    const timeWords = new Int32Array(
      batch.times.buffer,
      batch.times.byteOffset,
      batch.rowCount * 2,
    );
    const isOne = typeof arrivalsMs === 'number';
    const merges: Merge[] = [];
    for (let row = 0; row < batch.rowCount; row++) {
      const arrivalMs = isOne ? arrivalsMs : (arrivalsMs[row] as number);
      const slot = slots[row] as number;
      const entry = this.#takeRow(slot, timeWords, row, arrivalMs);
      entries[row] = entry;
      if (entry === NONE) {
        const same = isMerged ? this.#samePoint(slot, batch, row) : NONE;
        if (same !== NONE)
          merges.push({ entry: same, row, base: this.#baseOf(same, row, entries) });
        continue;
      }
      this.#rowOfEntry[entry] = row;
      this.#series[entry] = batch.seriesOrdinals[row] as number;
    }
    this.#takeValues(batch, entries, merges);
  }

  /**
   * Takes stored rows, which are already merged. Rows that arrived at or before `oldestMs` are
   * skipped.
   */
  takeArrivedSince(batch: RowBatch, arrivalsMs: Float64Array, oldestMs: number): void {
    const recent = [...arrivalsMs.keys()].filter((row) => (arrivalsMs[row] as number) > oldestMs);
    if (recent.length === batch.rowCount) this.#take(batch, arrivalsMs, false);
    else if (recent.length > 0) {
      const arrivalTimes = Float64Array.from(recent, (row) => arrivalsMs[row] as number);
      this.#take(takeRows(batch, recent), arrivalTimes, false);
    }
  }

  /** Yields the rows that have not expired, key by key. */
  *entries(conditions: readonly TagCondition[], nowMs: number): Iterable<LastEntry> {
    const newestFirst: number[] = [];
    for (const slot of this.#keys.select(conditions)) {
      if (slot >= this.#newest.length) continue;
      newestFirst.length = 0;
      let entry = this.#oldest[slot] as number;
      for (let i = this.#length[slot] as number; i > 0; i--) {
        if (!this.#isExpired(entry, nowMs)) newestFirst.push(entry);
        entry = this.#newer[entry] as number;
      }
      for (let i = newestFirst.length - 1; i >= 0; i--)
        yield { slot, entry: newestFirst[i] as number };
    }
  }

  keyOf(slot: number, position: number): KeyValue {
    return this.#keys.valueOf(slot, position);
  }

  timeOf(entry: number): bigint {
    return this.#times[entry] as bigint;
  }

  /** Returns the value of a field or tag; `undefined` if the row has none. */
  valueOf(entry: number, column: Column): CachedValue {
    if (column.kind === 'tag') {
      return this.#options.index.tagValue(this.#series[entry] as number, column.name);
    }
    return this.#columns.get(column.id)?.get(entry);
  }

  /** Removes expired rows and frees keys without rows. Returns the number of rows removed. */
  evictExpired(nowMs: number): number {
    return this.#removeWhere((entry) => this.#isExpired(entry, nowMs));
  }

  /** Removes about this share of the rows, earliest arrival first. Returns the number removed. */
  evictOldest(share: number): number {
    const arrivalTimes = new Float64Array(this.#usedCount);
    let at = 0;
    for (const { entry } of this.entries([], Number.NEGATIVE_INFINITY)) {
      arrivalTimes[at++] = this.#arrivalsMs[entry] as number;
    }
    const untilMs = thresholdOf(arrivalTimes.subarray(0, at), Math.ceil(at * share));
    return this.#removeWhere((entry) => (this.#arrivalsMs[entry] as number) <= untilMs);
  }

  #isExpired(entry: number, nowMs: number): boolean {
    return (this.#arrivalsMs[entry] as number) + this.#options.ttlMs <= nowMs;
  }

  /** @returns the entry that the row fills; `NONE` if the row is not accepted. */
  #takeRow(slot: number, timeWords: Int32Array, row: number, arrivalMs: number): number {
    if (slot < 0) return NONE;
    const low = timeWords[row * 2] as number;
    const high = timeWords[row * 2 + 1] as number;
    let newest = this.#newest[slot] as number;
    if (newest !== NONE && this.#isExpired(newest, arrivalMs)) {
      // The newest row expires last, so the key is empty and its last time no longer applies.
      this.#removeOldest(slot, this.#length[slot] as number);
      newest = NONE;
    }
    if (newest === NONE) {
      if (high < 0 || (high === 0 && low === 0)) return NONE;
    } else {
      const lastHigh = this.#timeWords[newest * 2 + 1] as number;
      if (high < lastHigh) return NONE;
      const lastLow = (this.#timeWords[newest * 2] as number) >>> 0;
      if (high === lastHigh && low >>> 0 <= lastLow) return NONE;
    }
    const entry = this.#newEntry(slot);
    this.#timeWords[entry * 2] = low;
    this.#timeWords[entry * 2 + 1] = high;
    this.#arrivalsMs[entry] = arrivalMs;
    return entry;
  }

  /** Returns the entry of the key with the same series and time; `NONE` if there is none. */
  #samePoint(slot: number, batch: RowBatch, row: number): number {
    if (slot < 0) return NONE;
    const time = batch.times[row] as bigint;
    const depth = Math.min(this.#length[slot] as number, MAX_MERGE_DEPTH);
    let entry = this.#newest[slot] as number;
    for (let i = 0; i < depth; i++) {
      const entryTime = this.#times[entry] as bigint;
      if (entryTime < time) return NONE;
      if (entryTime === time)
        return this.#series[entry] === batch.seriesOrdinals[row] ? entry : NONE;
      entry = this.#older[entry] as number;
    }
    return NONE;
  }

  /**
   * Returns the row of the current batch that created an entry; `NONE` if the entry is older than
   * the batch.
   */
  #baseOf(entry: number, row: number, entries: Int32Array): number {
    const base = this.#rowOfEntry[entry] as number;
    if (base < row && entries[base] === entry) return base;
    this.#rowOfEntry[entry] = NONE;
    return NONE;
  }

  /** Adds an entry at the newest end of the key. If the key is full, its oldest entry is reused. */
  #newEntry(slot: number): number {
    let length = this.#length[slot] as number;
    if (length === this.#options.count) {
      if (length === 1) return this.#newest[slot] as number;
      this.#removeOldest(slot, 1);
      length--;
    }
    let entry = this.#firstFree;
    if (entry === NONE) {
      entry = this.#entryCount++;
      if (entry === this.#series.length) this.#growEntries();
    } else this.#firstFree = this.#newer[entry] as number;
    this.#usedCount++;
    if (length === 0) this.#oldest[slot] = entry;
    else this.#newer[this.#newest[slot] as number] = entry;
    this.#older[entry] = this.#newest[slot] as number;
    this.#newest[slot] = entry;
    this.#length[slot] = length + 1;
    return entry;
  }

  #removeOldest(slot: number, count: number): void {
    for (let i = 0; i < count; i++) {
      const entry = this.#oldest[slot] as number;
      this.#oldest[slot] = this.#newer[entry] as number;
      this.#newer[entry] = this.#firstFree;
      this.#firstFree = entry;
      for (const column of this.#columns.values()) column.clear(entry);
    }
    this.#usedCount -= count;
    const length = (this.#length[slot] as number) - count;
    this.#length[slot] = length;
    if (length === 0) {
      this.#newest[slot] = NONE;
      this.#oldest[slot] = NONE;
    }
  }

  /** Arrivals of a key never decrease, so the rows to remove are at its oldest end. */
  #removeWhere(isGone: (entry: number) => boolean): number {
    const before = this.#usedCount;
    const slotCount = Math.min(this.#keys.size, this.#newest.length);
    for (let slot = 0; slot < slotCount; slot++) {
      while ((this.#length[slot] as number) > 0 && isGone(this.#oldest[slot] as number)) {
        this.#removeOldest(slot, 1);
        if (this.#length[slot] === 0) this.#keys.free(slot);
      }
    }
    return before - this.#usedCount;
  }

  /**
   * Stores the values of accepted rows. If several rows wrote to one entry, only the last one and the rows merged with
   * it are stored.
   */
  #takeValues(batch: RowBatch, entries: Int32Array, merges: readonly Merge[]): void {
    if (this.#options.valueColumns === undefined) {
      for (const { column } of batch.fields) this.#columnOf(column);
    }
    for (const column of this.#columns.values()) {
      const field = batch.fields.find((each) => each.column.id === column.id);
      for (let row = 0; row < entries.length; row++) {
        const entry = entries[row] as number;
        if (entry === NONE || this.#rowOfEntry[entry] !== row) continue;
        if (field !== undefined && isValid(field.validity, row)) column.set(entry, field.data, row);
        else column.clear(entry);
      }
      if (field === undefined) continue;
      for (const { entry, row, base } of merges) {
        if (this.#rowOfEntry[entry] !== base || !isValid(field.validity, row)) continue;
        column.set(entry, field.data, row);
      }
    }
  }

  #columnOf(column: Column): void {
    const { kind, id } = column;
    if (kind === 'tag' || kind === 'time' || this.#columns.has(id)) return;
    // Values of key columns are read from the keys.
    if (this.#options.keyColumns.some((key) => key.id === id)) return;
    this.#columns.set(id, new ValueColumn(id, kind, this.#series.length));
  }

  #growKeys(least: number): void {
    const size = Math.max(least, this.#newest.length * 2);
    this.#newest = grown(this.#newest, new Int32Array(size).fill(NONE));
    this.#oldest = grown(this.#oldest, new Int32Array(size).fill(NONE));
    this.#length = grown(this.#length, new Int32Array(size));
  }

  #growEntries(): void {
    const size = this.#series.length * 2;
    this.#series = grown(this.#series, new Int32Array(size));
    this.#newer = grown(this.#newer, new Int32Array(size));
    this.#older = grown(this.#older, new Int32Array(size));
    this.#rowOfEntry = grown(this.#rowOfEntry, new Int32Array(size));
    this.#arrivalsMs = grown(this.#arrivalsMs, new Float64Array(size));
    this.#times = grown(this.#times, new BigInt64Array(size));
    this.#timeWords = new Int32Array(this.#times.buffer);
    for (const column of this.#columns.values()) column.grow(size);
  }
}

/** Copies `from` to the start of `to` and returns `to`. */
function grown<T extends Int32Array | Float64Array | BigInt64Array>(from: T, to: T): T {
  to.set(from as never); // both have the same type
  return to;
}

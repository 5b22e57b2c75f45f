import type { SeriesIndex } from '@plinth/tsdb-engine/series/series-index.js';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { MIN_INT64 } from '@plinth/tsdb-model/columns/int64.js';
import type { RowBatch } from '@plinth/tsdb-model/columns/row-batch.js';
import { MIN_TIME_NS, type TagCondition } from '@plinth/tsdb-model/scan.js';
import { createRowKeys, type KeyValue, type RowKeys } from './row-keys.js';
import { thresholdOf } from './threshold.js';

const NEVER = MIN_INT64;
const NEVER_HIGH = -(2 ** 31);
/** More than this many combinations above the limit are removed immediately, not at the next eviction. */
const SURPLUS_COUNT = 10_000;

export interface DistinctCacheOptions {
  readonly index: SeriesIndex;
  readonly columns: readonly Column[];
  readonly maxCardinality: number;
  readonly maxAgeNs: bigint;
}

/**
 * The combinations of values in some columns, each with the latest time of its rows. Combinations older than `maxAgeNs`
 * are hidden; an eviction removes them, and the oldest ones above `maxCardinality`. Between two evictions the cache can
 * exceed the limit, but readers never see the excess combinations. Source: tsdb-http, "Distinct value cache".
 */
export class DistinctCache {
  readonly #options: DistinctCacheOptions;
  readonly #keys: RowKeys;
  /** Latest time by combination; `NEVER` for a free slot. */
  #lastSeen = new BigInt64Array(64).fill(NEVER);
  #words = new Int32Array(this.#lastSeen.buffer);
  #count = 0;

  constructor(options: DistinctCacheOptions) {
    this.#options = options;
    const { index, columns } = options;
    this.#keys = createRowKeys({ index, columns, keepsMissing: true });
  }

  get entryCount(): number {
    return this.#count;
  }

  get sizeBytes(): number {
    return this.#keys.sizeBytes + this.#lastSeen.byteLength;
  }

  /** Bytes of the stored combinations; `sizeBytes` includes spare capacity. */
  get usedBytes(): number {
    return (this.sizeBytes * this.#count) / this.#lastSeen.length;
  }

  take(batch: RowBatch, nowNs: bigint): void {
    const slots = new Int32Array(batch.rowCount);
    this.#keys.locate(batch, slots);
    if (this.#lastSeen.length < this.#keys.size) this.#grow(this.#keys.size);
    const times = new Int32Array(batch.times.buffer, batch.times.byteOffset, batch.rowCount * 2);
    const words = this.#words;
    for (let row = 0; row < batch.rowCount; row++) {
      const slot = slots[row] as number;
      const high = times[row * 2 + 1] as number;
      const lastHigh = words[slot * 2 + 1] as number;
      if (high < lastHigh) continue;
      const low = times[row * 2] as number;
      const lastLow = words[slot * 2] as number;
      if (high === lastHigh && low >>> 0 <= lastLow >>> 0) continue;
      if (lastHigh === NEVER_HIGH && lastLow === 0) this.#count++;
      words[slot * 2] = low;
      words[slot * 2 + 1] = high;
    }
    if (this.#count > this.#options.maxCardinality * 2 + SURPLUS_COUNT) this.evict(nowNs);
  }

  /**
   * Yields the combinations that are recent enough, were seen at or after `fromNs` and meet the
   * conditions, in no particular order. Never yields more than `maxCardinality`, even if rows
   * arrive during the iteration.
   */
  *slots(
    conditions: readonly TagCondition[],
    nowNs: bigint,
    fromNs: bigint = MIN_TIME_NS,
  ): Iterable<number> {
    if (this.#count > this.#options.maxCardinality) this.evict(nowNs);
    const tooOldNs = nowNs - this.#options.maxAgeNs;
    const oldestNs = tooOldNs < fromNs ? fromNs - 1n : tooOldNs;
    const isShown = (slot: number): boolean =>
      slot < this.#lastSeen.length && (this.#lastSeen[slot] as bigint) > oldestNs;
    const shown = [...this.#keys.select(conditions)].filter(isShown);
    // Skip combinations that were removed during the iteration.
    for (const slot of shown) if (isShown(slot)) yield slot;
  }

  valueOf(slot: number, position: number): KeyValue {
    return this.#keys.valueOf(slot, position);
  }

  /**
   * Removes expired combinations, then the oldest ones above the limit. Returns the number removed.
   */
  evict(nowNs: bigint): number {
    const oldestNs = nowNs - this.#options.maxAgeNs;
    let removed = this.#removeWhere(
      (slot) => (this.#lastSeen[slot] as bigint) <= oldestNs,
      Infinity,
    );
    const surplus = this.#count - this.#options.maxCardinality;
    if (surplus > 0) removed += this.#removeOldest(surplus);
    return removed;
  }

  /**
   * Removes about this share of the combinations, least recently seen first. Returns the number
   * removed.
   */
  evictOldest(share: number): number {
    return this.#removeOldest(Math.ceil(this.#count * share));
  }

  #removeOldest(count: number): number {
    const times = new Float64Array(this.#count);
    let at = 0;
    for (const time of this.#lastSeen) if (time !== NEVER) times[at++] = Number(time);
    const threshold = thresholdOf(times, count);
    const timeOf = (slot: number): number => Number(this.#lastSeen[slot]);
    const removed = this.#removeWhere((slot) => timeOf(slot) < threshold, count);
    return removed + this.#removeWhere((slot) => timeOf(slot) === threshold, count - removed);
  }

  #removeWhere(isGone: (slot: number) => boolean, atMost: number): number {
    let removed = 0;
    for (let slot = 0; slot < this.#lastSeen.length && removed < atMost; slot++) {
      if (this.#lastSeen[slot] === NEVER || !isGone(slot)) continue;
      this.#lastSeen[slot] = NEVER;
      this.#keys.free(slot);
      removed++;
    }
    this.#count -= removed;
    return removed;
  }

  #grow(least: number): void {
    const larger = new BigInt64Array(Math.max(least, this.#lastSeen.length * 2)).fill(NEVER);
    larger.set(this.#lastSeen);
    this.#lastSeen = larger;
    this.#words = new Int32Array(larger.buffer);
  }
}

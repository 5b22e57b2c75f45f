import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import { floorMod, NS_PER_DAY } from '@plinth/tsdb-model/time/calendar.js';
import type { Interval } from '../../plan/compile/compiled-select.js';
import { ZoneOffsets } from './zone-offsets.js';

export interface TimeBucket {
  readonly start: bigint;
  /** Exclusive end. */
  readonly end: bigint;
}

/**
 * The buckets of GROUP BY time, in wall-clock time if the statement has a zone. Source:
 * query-languages, "GROUP BY time".
 */
export class TimeBuckets {
  readonly everyNs: bigint;
  readonly offsetNs: bigint;
  readonly #zone: ZoneOffsets | undefined;

  constructor(interval: Interval, zone: string | undefined) {
    this.everyNs = interval.everyNs;
    this.offsetNs = interval.offsetNs;
    this.#zone = zone === undefined || zone === 'UTC' ? undefined : new ZoneOffsets(zone);
  }

  /** True if every bucket has the same length. */
  get isUniform(): boolean {
    return this.#zone === undefined;
  }

  bucketOf(timeNs: bigint): TimeBucket {
    const { everyNs, offsetNs } = this;
    const zoneNs = this.#zone?.at(timeNs) ?? 0n;
    const local = timeNs + zoneNs;
    const localStart = local - floorMod(local - offsetNs, everyNs);
    let start = localStart;
    let end = localStart + everyNs;
    if (this.#zone !== undefined) {
      start = this.#instantOf(localStart, zoneNs);
      end = this.#instantOf(end, zoneNs);
      // An hour that the clock shows twice is two buckets, unless a bucket is longer than the
      // repeated span.
      if (end - start >= 2n * everyNs) end = start + everyNs;
    }
    return {
      start: start < MIN_TIME_NS ? MIN_TIME_NS : start,
      end: end > MAX_TIME_NS ? MAX_TIME_NS + 1n : end,
    };
  }

  /**
   * Returns the instant at which clocks of the zone show `local`. A skipped time maps to the clock
   * change.
   * A repeated time maps to its first occurrence or, for short buckets, to the one with offset
   * `zoneNs`.
   */
  #instantOf(local: bigint, zoneNs: bigint): bigint {
    const zone = this.#zone as ZoneOffsets; // called only with a zone
    const before = zone.at(local - NS_PER_DAY);
    const after = zone.at(local + NS_PER_DAY);
    if (before === after) return local - before;
    const isEarlier = zone.at(local - before) === before;
    const isLater = zone.at(local - after) === after;
    if (isEarlier && isLater) {
      return this.everyNs > magnitude(before - after) ? local - before : local - zoneNs;
    }
    if (isEarlier) return local - before;
    return isLater ? local - after : zone.changeAfter(local - after);
  }

  /** Returns the start of the bucket after the one that starts at `start`. */
  nextStart(start: bigint): bigint {
    // The first bucket starts at the earliest valid time and may be shorter.
    if (this.#zone === undefined && start > MIN_TIME_NS) return start + this.everyNs;
    const { end } = this.bucketOf(start);
    return end > start ? end : start + this.everyNs;
  }
}

const magnitude = (value: bigint): bigint => (value < 0n ? -value : value);

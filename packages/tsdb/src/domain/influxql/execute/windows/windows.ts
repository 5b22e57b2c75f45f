import { MAX_TIME_NS, MIN_TIME_NS } from '../../../../model/scan.js';
import { floorMod, NS_PER_DAY } from '../../../../model/time/calendar.js';
import type { Interval } from '../../plan/compile/compiled-select.js';
import { ZoneOffsets } from './zone-offsets.js';

export interface Window {
  readonly start: bigint;
  /** Not included. */
  readonly end: bigint;
}

/** The buckets of GROUP BY time: on the wall clock when there is a zone. Source: query-languages, "GROUP BY time". */
export class Windows {
  readonly everyNs: bigint;
  readonly offsetNs: bigint;
  readonly #zone: ZoneOffsets | undefined;

  constructor(interval: Interval, zone: string | undefined) {
    this.everyNs = interval.everyNs;
    this.offsetNs = interval.offsetNs;
    this.#zone = zone === undefined || zone === 'UTC' ? undefined : new ZoneOffsets(zone);
  }

  /** Every bucket has the same length. */
  get isUniform(): boolean {
    return this.#zone === undefined;
  }

  of(timeNs: bigint): Window {
    const { everyNs, offsetNs } = this;
    const zoneNs = this.#zone?.at(timeNs) ?? 0n;
    const local = timeNs + zoneNs;
    const localStart = local - floorMod(local - offsetNs, everyNs);
    let start = localStart;
    let end = localStart + everyNs;
    if (this.#zone !== undefined) {
      start = this.#instantOf(localStart, zoneNs);
      end = this.#instantOf(end, zoneNs);
      // An hour that the clock shows twice is two buckets, unless the buckets are longer than what is repeated.
      if (end - start >= 2n * everyNs) end = start + everyNs;
    }
    return {
      start: start < MIN_TIME_NS ? MIN_TIME_NS : start,
      end: end > MAX_TIME_NS ? MAX_TIME_NS + 1n : end,
    };
  }

  /**
   * The instant at which the zone's clocks show a time. For a time that they skip it is the change; of a time that they
   * show twice it is the earlier one, or in short buckets that with the offset `zoneNs`.
   */
  #instantOf(local: bigint, zoneNs: bigint): bigint {
    const zone = this.#zone as ZoneOffsets; // only asked where there is one
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

  /** Start of the bucket behind the one that starts at `start`. */
  next(start: bigint): bigint {
    // The first one begins with the earliest time, and may be shorter.
    if (this.#zone === undefined && start > MIN_TIME_NS) return start + this.everyNs;
    const { end } = this.of(start);
    return end > start ? end : start + this.everyNs;
  }
}

const magnitude = (value: bigint): bigint => (value < 0n ? -value : value);

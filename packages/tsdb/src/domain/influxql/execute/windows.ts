import { floorMod } from '../../../model/calendar.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '../../../model/scan.js';
import type { Interval } from '../plan/compiled-select.js';
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
    const t = timeNs - offsetNs;
    const zoneNs = this.#zone?.at(t) ?? 0n;
    const within = floorMod(t + zoneNs, everyNs);
    let start = t - within + offsetNs;
    let end = t - within + everyNs;
    if (this.#zone !== undefined) {
      const startShift = zoneNs - this.#zone.at(start);
      if (startShift !== 0n && magnitude(startShift) < everyNs) start += startShift;
      const endOffset = this.#zone.at(end);
      const endShift = zoneNs - endOffset;
      if (endShift !== 0n && magnitude(endShift) < everyNs) {
        // Skipped time belongs to the bucket behind the change: the shifted end must lie behind it, too.
        if (endShift > 0n || this.#zone.at(end + endShift) === endOffset) end += endShift;
      }
    }
    end += offsetNs;
    return {
      start: start < MIN_TIME_NS ? MIN_TIME_NS : start,
      end: end > MAX_TIME_NS ? MAX_TIME_NS + 1n : end,
    };
  }

  /** Start of the bucket behind the one that starts at `start`. */
  next(start: bigint): bigint {
    if (this.#zone === undefined) return start + this.everyNs;
    const { end } = this.of(start);
    return end > start ? end : start + this.everyNs;
  }
}

const magnitude = (value: bigint): bigint => (value < 0n ? -value : value);

import { Memo } from '@plinth/kernel';
import { floorDiv, NS_PER_DAY } from '@plinth/tsdb-model/time/calendar.js';
import { offsetNsAt } from '@plinth/tsdb-model/time/time-zone.js';

const MAX_CACHED_DAYS = 100_000;
/** Clock changes occur only at multiples of this interval. */
const QUARTER_NS = 900_000_000_000n;

/**
 * UTC offsets of one zone. They are cached per day because `Intl` is slow; a day without a change
 * needs only the offsets at its bounds.
 */
export class ZoneOffsets {
  readonly #zone: string;
  readonly #starts = new Memo<bigint, bigint>({ maxCount: MAX_CACHED_DAYS });
  readonly #readStart = (day: bigint): bigint => offsetNsAt(this.#zone, day * NS_PER_DAY);
  readonly #quarters = new Map<bigint, bigint>();

  constructor(zone: string) {
    this.#zone = zone;
  }

  at(timeNs: bigint): bigint {
    const day = floorDiv(timeNs, NS_PER_DAY);
    const start = this.#startOf(day);
    if (start === this.#startOf(day + 1n)) return start;
    const quarter = floorDiv(timeNs, QUARTER_NS);
    let offset = this.#quarters.get(quarter);
    if (offset === undefined) {
      offset = offsetNsAt(this.#zone, quarter * QUARTER_NS);
      this.#quarters.set(quarter, offset);
    }
    return offset;
  }

  /** Returns the next offset change, which must be less than a day away. */
  changeAfter(timeNs: bigint): bigint {
    const offset = this.at(timeNs);
    let quarter = floorDiv(timeNs, QUARTER_NS);
    while (this.at(quarter * QUARTER_NS) === offset) quarter++;
    return quarter * QUARTER_NS;
  }

  #startOf(day: bigint): bigint {
    return this.#starts.of(day, this.#readStart);
  }
}

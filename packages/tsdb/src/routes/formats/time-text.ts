import { civilFromDays, floorDiv } from '@plinth/tsdb-model/time/calendar.js';
import { EncodedText, type TextBytes } from './text-bytes.js';

const SECONDS_PER_DAY = 86_400;
const NS_PER_SECOND = 1_000_000_000;
const POINT = 46;
const TEN_TO: readonly number[] = Array.from({ length: 9 }, (_, power) => 10 ** power);
const TWO_DIGITS: readonly string[] = Array.from({ length: 100 }, (_, n) =>
  n < 10 ? `0${n}` : String(n),
);

export function twoDigits(n: number): string {
  return TWO_DIGITS[n] as string; // n is below 100
}

/** Formats days since 1970 as `2065-01-07`. Years with more than four digits have a sign. */
export function dateText(days: number): string {
  const { year, month, day } = civilFromDays(days);
  const yearText =
    year >= 0 && year <= 9999
      ? String(year).padStart(4, '0')
      : `${year < 0 ? '-' : '+'}${String(Math.abs(year)).padStart(4, '0')}`;
  return `${yearText}-${twoDigits(month)}-${twoDigits(day)}`;
}

/** Digits of a fraction: 0, 3, 6 or 9 (the shortest exact form), or as few as possible. */
export type Fraction = 'thousands' | 'fewest';

/** Returns the digits for nanoseconds above 0. */
function digitCount(nanos: number, fraction: Fraction): number {
  if (fraction === 'thousands') {
    return nanos % 1_000_000 === 0 ? 3 : nanos % 1000 === 0 ? 6 : 9;
  }
  let count = 9;
  for (let rest = nanos; rest % 10 === 0; rest /= 10) count--;
  return count;
}

/** Formats a second of the day and its nanoseconds as `17:28:51.500`. */
export function clockText(second: number, nanos: number, fraction: Fraction = 'thousands'): string {
  const hour = Math.floor(second / 3600);
  const minute = Math.floor((second % 3600) / 60);
  const clock = `${twoDigits(hour)}:${twoDigits(minute)}:${twoDigits(second % 60)}`;
  if (nanos === 0) return clock;
  return `${clock}.${String(nanos).padStart(9, '0').slice(0, digitCount(nanos, fraction))}`;
}

/**
 * Splits a time into second and nanoseconds without 64-bit arithmetic. The second is computed as a
 * double and may be off by one; the exact low 32 bits give the nanoseconds and the correction.
 */
class TimeParts {
  /** Seconds since 1970, rounded down. */
  second = 0;
  nanos = 0;

  /** @param halves the memory of a `BigInt64Array` as 32-bit integers. */
  split(halves: Int32Array, row: number): void {
    // Little-endian, like all platforms of Node. `row` is within the array.
    const low = halves[row * 2] as number;
    const high = halves[row * 2 + 1] as number;
    const approximateNs = high * 4_294_967_296 + (low >>> 0);
    let second = Math.floor(approximateNs / NS_PER_SECOND);
    let nanos = (low - Math.imul(second | 0, NS_PER_SECOND)) | 0;
    if (nanos < 0) {
      second -= 1;
      nanos += NS_PER_SECOND;
    } else if (nanos >= NS_PER_SECOND) {
      second += 1;
      nanos -= NS_PER_SECOND;
    }
    this.second = second;
    this.nanos = nanos;
  }
}

/** Formats timestamps as `2065-01-07T17:28:51.500`, or `.5`. */
export class TimeWriter {
  readonly #suffix: string;
  readonly #quote: string;
  readonly #fraction: Fraction;
  readonly #end: EncodedText;
  readonly #one = new BigInt64Array(1);
  readonly #parts = new TimeParts();
  #day = Number.NaN;
  #dayText = '';
  #encodedDay = new EncodedText('');

  /**
   * @param suffix `Z`; empty for local times without a time zone.
   * @param quote written by `put` before and after the text.
   */
  constructor(suffix: string, fraction: Fraction, quote = '') {
    this.#suffix = suffix;
    this.#quote = quote;
    this.#fraction = fraction;
    this.#end = new EncodedText(suffix + quote);
  }

  text(timeNs: bigint): string {
    this.#one[0] = timeNs;
    return this.textAt(new Int32Array(this.#one.buffer), 0);
  }

  /** @param halves the memory of a `BigInt64Array` as 32-bit integers. */
  textAt(halves: Int32Array, row: number): string {
    const second = this.#secondOfDay(halves, row);
    return this.#dayText + clockText(second, this.#parts.nanos, this.#fraction) + this.#suffix;
  }

  /** Writes the same text as bytes, with the quotes. */
  put(halves: Int32Array, row: number, out: TextBytes): void {
    const second = this.#secondOfDay(halves, row);
    const { nanos } = this.#parts;
    out.put(this.#encodedDay);
    out.clock(second);
    if (nanos !== 0) {
      out.byte(POINT);
      const count = digitCount(nanos, this.#fraction);
      out.padded(nanos / (TEN_TO[9 - count] as number), count); // 1 to 9 digits
    }
    if (this.#end.length > 0) out.put(this.#end);
  }

  /** Splits the time and formats its day. */
  #secondOfDay(halves: Int32Array, row: number): number {
    this.#parts.split(halves, row);
    const { second } = this.#parts;
    const day = Math.floor(second / SECONDS_PER_DAY);
    if (day !== this.#day) {
      this.#day = day;
      this.#dayText = `${dateText(day)}T`;
      this.#encodedDay = new EncodedText(this.#quote + this.#dayText);
    }
    return second - day * SECONDS_PER_DAY;
  }
}

/** Formats timestamps as integers of a unit. */
export class EpochWriter {
  readonly #epochNs: bigint;
  readonly #unitNs: number;
  readonly #unitSec: number;
  readonly #perSecond: number;
  readonly #digitCount: number;
  readonly #parts = new TimeParts();

  constructor(epochNs: bigint) {
    this.#epochNs = epochNs;
    this.#unitNs = Number(epochNs);
    this.#unitSec = this.#unitNs / NS_PER_SECOND;
    this.#perSecond = Math.floor(NS_PER_SECOND / this.#unitNs);
    this.#digitCount = String(this.#perSecond).length - 1;
  }

  put(halves: Int32Array, row: number, out: TextBytes): void {
    this.#parts.split(halves, row);
    const { second, nanos } = this.#parts;
    if (this.#perSecond <= 1) out.whole(Math.floor(second / this.#unitSec));
    else if (second > 0) {
      out.whole(second);
      out.padded(nanos / this.#unitNs, this.#digitCount);
    } else if (second === 0) out.whole(Math.floor(nanos / this.#unitNs));
    else {
      const timeNs = BigInt(second) * BigInt(NS_PER_SECOND) + BigInt(nanos);
      out.ascii(String(floorDiv(timeNs, this.#epochNs)));
    }
  }
}

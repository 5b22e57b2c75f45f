import type { Precision } from '@plinth/tsdb-model/parsed-body.js';
import { isDigit, storeProduct } from './numbers.js';

const NEWLINE = 10;
const RETURN = 13;
const MINUS = 45;
const POWERS = Array.from({ length: 10 }, (_, exponent) => 10 ** exponent);
const MAX_DIGITS = 19;
const MAX_EXACT = 2 ** 53;
/** Timestamps beyond this may be outside the valid range; the slow path checks them. */
const MAX_SURE_NS = 9.2e18;

/** Nanoseconds per unit are `first * second`, so that each factor fits `storeProduct`. */
const UNIT_FACTORS: Record<Exclude<Precision, 'auto'>, readonly [number, number]> = {
  nanosecond: [1, 1],
  microsecond: [1, 1e3],
  millisecond: [1, 1e6],
  second: [1, 1e9],
  minute: [60, 1e9],
  hour: [3600, 1e9],
};

/** Parses plain timestamps at the end of lines; the reference is `toNanoseconds`. */
export class FastTime {
  readonly #isAuto: boolean;
  readonly #first: number;
  readonly #second: number;

  constructor(precision: Precision) {
    this.#isAuto = precision === 'auto';
    [this.#first, this.#second] = UNIT_FACTORS[precision === 'auto' ? 'nanosecond' : precision];
  }

  /**
   * Parses the timestamp at `start` and writes its nanoseconds to two words at `words[index]`.
   * @returns the index after its last digit; -1 if the slow path must parse the line.
   */
  read(bytes: Uint8Array, start: number, words: Int32Array, index: number): number {
    const isNegative = bytes[start] === MINUS;
    const digits = isNegative ? start + 1 : start;
    let at = digits;
    let left = 0;
    for (const border = digits + 10; at < border && isDigit(bytes[at] as number); at++) {
      left = left * 10 + (bytes[at] as number) - 48;
    }
    let plus = 0;
    const middle = at;
    while (isDigit(bytes[at] as number) && at - digits < MAX_DIGITS) {
      plus = plus * 10 + (bytes[at++] as number) - 48;
    }
    if (at === digits) return -1;
    const right = POWERS[at - middle] as number;
    const size = left * right + plus;
    const second = this.#isAuto ? autoFactors(size) : this.#second;
    if (second === 1) {
      if (size > MAX_SURE_NS) return -1;
      return storeProduct(words, index, { left, right, plus, isNegative }) ? at : -1;
    }
    const count = size * this.#first;
    if (count >= MAX_EXACT) return -1;
    const product = { left: count, right: second, plus: 0, isNegative };
    return storeProduct(words, index, product) ? at : -1;
  }
}

/**
 * Returns the number of nanoseconds in the unit that `auto` precision selects for a timestamp of
 * this size. Source: tsdb-http, "`auto` rule".
 */
function autoFactors(size: number): number {
  if (size < 5e9) return 1e9;
  if (size < 5e12) return 1e6;
  if (size < 5e15) return 1e3;
  return 1;
}

/** Returns the start of the next line if the line ends at `at`; otherwise -1. */
export function nextLineAfter(bytes: Uint8Array, at: number): number {
  if (bytes[at] === NEWLINE) return at + 1;
  return bytes[at] === RETURN && bytes[at + 1] === NEWLINE ? at + 2 : -1;
}

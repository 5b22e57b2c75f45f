const PLUS = 43;
const MINUS = 45;
const POINT = 46;
const UPPER_E = 69;
const LOWER_E = 101;

/** Powers of ten that are exact doubles. */
const EXACT_POWERS = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));
const TWO_16 = 65_536;
const TWO_32 = 4_294_967_296;
const TWO_31 = 2_147_483_648;
/** Every number of this many digits is below 2^53. */
const EXACT_DIGITS = 15;
/** Every number of this many digits fits in 64 unsigned bits. */
const MAX_LONG_DIGITS = 19;

/**
 * Writes the integer of the decimal digits `[start, end)` as two 32-bit words, at `words[index]`
 * (low) and the next.
 * @returns false if it does not fit or has more than 19 digits; the words are then undefined.
 */
export function storeDigits(
  target: { readonly words: Int32Array; readonly index: number; readonly isUnsigned: boolean },
  digits: { readonly bytes: Uint8Array; readonly start: number; readonly end: number },
  isNegative: boolean,
): boolean {
  const { bytes, start, end } = digits;
  if (end - start > MAX_LONG_DIGITS) return false;
  const middle = Math.max(start, end - 9);
  const product = {
    left: digitsToNumber(bytes, start, middle),
    right: 1e9,
    plus: digitsToNumber(bytes, middle, end),
    isNegative,
  };
  return storeProduct(target.words, target.index, product, target.isUnsigned);
}

/**
 * Writes the exact value of `left * right + plus` as two 32-bit words. `left < 2^53`, `right <=
 * 1e9` and `plus < 1e9` are non-negative integers. Returns false if the result exceeds 64 bits.
 */
export function storeProduct(
  words: Int32Array,
  index: number,
  product: { left: number; right: number; plus: number; isNegative: boolean },
  isUnsigned = false,
): boolean {
  const { left, right } = product;
  // Schoolbook multiplication in base 2^16; every partial sum stays below 2^53.
  const top = Math.floor(left / TWO_32);
  const rest = left - top * TWO_32;
  const middle = Math.floor(rest / TWO_16) * right;
  const carry = Math.floor(middle / TWO_16);
  const bottom = (rest % TWO_16) * right + product.plus + (middle - carry * TWO_16) * TWO_16;
  const high = top * right + carry + Math.floor(bottom / TWO_32);
  if (high >= (isUnsigned ? TWO_32 : TWO_31)) return false;
  const low = bottom % TWO_32;
  if (product.isNegative) {
    words[index] = -low;
    words[index + 1] = low === 0 ? -high : ~high;
  } else {
    words[index] = low;
    words[index + 1] = high;
  }
  return true;
}

/** Returns the exact value of at most 15 digits. */
function digitsToNumber(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) value = value * 10 + (bytes[at] as number) - 48;
  return value;
}

/**
 * Parses floats, rounded to nearest like `Number(text)`. `value` is the result of the last `read`.
 */
export class FloatReader {
  value = 0;

  /**
   * Parses the unsigned float at `start`, which must be a digit. The buffer must extend beyond the
   * number.
   * @returns the index after it; -1 if digits are missing after a point or an exponent.
   */
  read(bytes: Uint8Array, start: number): number {
    let mantissa = 0;
    let at = start;
    let byte = bytes[at] as number;
    for (; isDigit(byte); byte = bytes[++at] as number) mantissa = mantissa * 10 + (byte - 48);
    let digitCount = at - start;
    let fractionCount = 0;
    if (byte === POINT) {
      const fraction = at + 1;
      byte = bytes[++at] as number;
      for (; isDigit(byte); byte = bytes[++at] as number) mantissa = mantissa * 10 + (byte - 48);
      fractionCount = at - fraction;
      digitCount += fractionCount;
      if (fractionCount === 0) return -1;
    }
    if (byte === LOWER_E || byte === UPPER_E) return this.#readExponent(bytes, start, at + 1);
    // One division of two exact doubles rounds once, to nearest.
    if (digitCount > EXACT_DIGITS) this.value = Number(latin1(bytes, start, at));
    else this.value = mantissa / (EXACT_POWERS[fractionCount] as number);
    return at;
  }

  #readExponent(bytes: Uint8Array, start: number, exponent: number): number {
    const sign = bytes[exponent];
    const digits = sign === MINUS || sign === PLUS ? exponent + 1 : exponent;
    let at = digits;
    while (isDigit(bytes[at] as number)) at++;
    if (at === digits) return -1;
    this.value = Number(latin1(bytes, start, at));
    return at;
  }
}

export function isDigit(byte: number): boolean {
  return (byte - 48) >>> 0 < 10;
}

export function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
}

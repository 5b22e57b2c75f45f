const PLUS = 43;
const MINUS = 45;
const POINT = 46;
const UPPER_E = 69;
const LOWER_E = 101;

/** Powers of ten that a double holds exactly. */
const EXACT_POWERS = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));
const TWO_16 = 65_536;
const TWO_32 = 4_294_967_296;
const TWO_31 = 2_147_483_648;
/** Any number of so many digits is below 2^53. */
const EXACT_DIGITS = 15;
/** A number of so many digits fits into 64 unsigned bits. */
const MAX_LONG_DIGITS = 19;

/**
 * Writes the integer of the decimal digits `[start, end)` as two 32-bit words at `words[index]` (low) and the next.
 * @returns false, and nothing is sure about the words, when it does not fit or has more than 19 digits.
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
 * Writes `left * right + plus`, exact, as two 32-bit words.
 * `left < 2^53`, `right <= 1e9` and `plus < 1e9` are whole and not negative. False when 64 bits do not hold the result.
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

/** Value of at most 15 digits, exact. */
function digitsToNumber(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) value = value * 10 + (bytes[at] as number) - 48;
  return value;
}

/** Reads floats, rounded to nearest like `Number(text)`. `value` is what `read` read last. */
export class FloatReader {
  value = 0;

  /**
   * Reads the unsigned float at `start`, where a digit stands. The bytes must hold something behind it.
   * @returns index behind it, or -1 when a point or an exponent lacks its digits.
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

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
}

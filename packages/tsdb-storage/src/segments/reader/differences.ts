import { UnknownLayout } from './file-index.js';

const TWO_31 = 2 ** 31;
const TWO_32 = 2 ** 32;

/**
 * Reads delta-encoded integers, starting with number `skip`, as pairs of 32-bit words (low word
 * first), until `words` is full. Source: parquet-format, Encodings.md, "Delta Encoding
 * (DELTA_BINARY_PACKED = 5)".
 * @param paddingBytes number of ignored bytes at the end of `bytes`; at least eight.
 */
export function readDifferences(
  bytes: Uint8Array,
  { skip, words, paddingBytes }: { skip: number; words: Int32Array; paddingBytes: number },
): void {
  const varints = new Varints(bytes, bytes.length - paddingBytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const blockValues = varints.next();
  const miniblockCount = varints.next();
  const total = varints.next();
  const end = skip + words.length / 2;
  const miniblockValues = blockValues / miniblockCount;
  if (end > total) throw new UnknownLayout('a page has fewer differences than rows');
  if (!Number.isInteger(miniblockValues / 32))
    throw new UnknownLayout('a block size is not a multiple of 32');
  const sums = new Sums(varints.nextZigzag(), words);
  if (skip === 0) sums.put(0);
  for (let at = 1; at < end; ) {
    const least = varints.nextZigzag();
    const widths = varints.take(miniblockCount);
    for (let miniblock = 0; miniblock < miniblockCount && at < end; miniblock++) {
      const width = bytes[widths + miniblock] as number;
      if (width > 64) throw new UnknownLayout(`${width}-bit differences are not supported`);
      const packed = { words: view, bit: varints.take((miniblockValues * width) / 8) * 8, width };
      const count = Math.min(miniblockValues, end - at);
      const passed = Math.max(0, Math.min(count, skip - at));
      if (passed > 0) sums.pass(packed, least, passed);
      sums.add(packed, least, { from: passed, to: count, at: at + passed - skip });
      at += count;
    }
  }
}

interface Packed {
  /** The page, which is read in 32-bit words. */
  readonly words: DataView;
  /** Position of the first difference. */
  readonly bit: number;
  readonly width: number;
}

interface Halves {
  readonly low: number;
  readonly high: number;
}

/** A 64-bit sum of differences that wraps on overflow. */
class Sums {
  readonly #words: Int32Array;
  #low: number;
  #high: number;

  constructor(first: Halves, words: Int32Array) {
    this.#words = words;
    this.#low = first.low;
    this.#high = first.high;
  }

  put(at: number): void {
    this.#words[at * 2] = this.#low;
    this.#words[at * 2 + 1] = this.#high;
  }

  /** Adds skipped differences without storing the sums. */
  pass(packed: Packed, least: Halves, count: number): void {
    const { words, bit, width } = packed;
    let low = 0;
    let high = 0;
    // Sums of 32-bit halves are exact as doubles, because there are only a few thousand of them.
    if (width > 24) {
      const lowMask = maskOf(Math.min(width, 32));
      const highMask = maskOf(width - 32);
      for (let i = 0, from = bit; i < count; i++, from += width) {
        low += (bitsAt(words, from) & lowMask) >>> 0;
        if (width > 32) high += (bitsAt(words, from + 32) & highMask) >>> 0;
      }
    } else if (width > 0) low = sumOfNarrow(packed, count);
    low += this.#low >>> 0;
    low += (least.low >>> 0) * count;
    high += this.#high + least.high * count + Math.floor(low / TWO_32);
    this.#low = low | 0; // modulo 2 ** 32, like the next line
    this.#high = high | 0;
  }

  /** Adds the differences `[from, to)` one by one and stores each sum, starting at index `at`. */
  add(packed: Packed, least: Halves, rows: PlacedRows): void {
    const largest = Math.abs(least.low) + 2 ** packed.width;
    const isNarrow = least.high === least.low >> 31 && this.#high === this.#low >> 31;
    if (isNarrow && Math.abs(this.#low) + (rows.to - rows.from) * largest < TWO_31)
      this.#addNarrow(packed, least.low, rows);
    else this.#addWide(packed, least, rows);
  }

  /** Like `add`, for sums that fit into 32 bits. */
  #addNarrow({ words, bit, width }: Packed, least: number, { from, to, at }: PlacedRows): void {
    const target = this.#words;
    const mask = maskOf(width);
    let sum = this.#low;
    let next = bit + from * width;
    let place = at * 2;
    for (let i = from; i < to; i++, next += width) {
      const above =
        width <= 24
          ? (words.getInt32(next >>> 3, true) >>> (next & 7)) & mask
          : bitsAt(words, next) & mask;
      sum = (sum + least + above) | 0;
      target[place++] = sum;
      target[place++] = sum >> 31;
    }
    this.#low = sum;
    this.#high = sum >> 31;
  }

  #addWide({ words, bit, width }: Packed, least: Halves, { from, to, at }: PlacedRows): void {
    const target = this.#words;
    const lowMask = maskOf(Math.min(width, 32));
    const highMask = maskOf(width - 32);
    let low = this.#low;
    let high = this.#high;
    let next = bit + from * width;
    let place = at * 2;
    for (let i = from; i < to; i++, next += width) {
      const above = bitsAt(words, next) & lowMask;
      const difference = (least.low + above) | 0;
      const sum = (low + difference) | 0;
      // A half that became smaller has overflowed.
      const carry = (difference >>> 0 < above >>> 0 ? 1 : 0) + (sum >>> 0 < low >>> 0 ? 1 : 0);
      const aboveHigh = width > 32 ? bitsAt(words, next + 32) & highMask : 0;
      high = (high + least.high + aboveHigh + carry) | 0;
      low = sum;
      target[place++] = low;
      target[place++] = high;
    }
    this.#low = low;
    this.#high = high;
  }
}

/** Differences `[from, to)` of a miniblock, and the index of the first sum. */
interface PlacedRows {
  readonly from: number;
  readonly to: number;
  readonly at: number;
}

/** Returns the sum of differences of at most 24 bits. Up to 6 bits, it adds four of them at once. */
function sumOfNarrow({ words, bit, width }: Packed, count: number): number {
  const mask = maskOf(width);
  let sum = 0;
  let i = 0;
  let from = bit;
  if (width <= 6) {
    const pairMask = mask | (mask << (2 * width));
    const sumMask = maskOf(2 * width);
    for (; i + 4 <= count; i += 4, from += 4 * width) {
      const four = words.getInt32(from >>> 3, true) >>> (from & 7);
      const pairs = (four & pairMask) + ((four >>> width) & pairMask);
      sum += (pairs & sumMask) + ((pairs >>> (2 * width)) & sumMask);
    }
  }
  for (; i < count; i++, from += width)
    sum += (words.getInt32(from >>> 3, true) >>> (from & 7)) & mask;
  return sum;
}

function maskOf(width: number): number {
  if (width <= 0) return 0;
  return width >= 32 ? -1 : 2 ** width - 1;
}

/** Reads 32 bits at any bit offset. */
function bitsAt(words: DataView, bit: number): number {
  const at = bit >>> 3;
  const shift = bit & 7;
  const word = words.getInt32(at, true);
  return shift === 0 ? word : (word >>> shift) | (words.getUint8(at + 4) << (32 - shift));
}

class Varints {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #at = 0;

  constructor(bytes: Uint8Array, end: number) {
    this.#bytes = bytes;
    this.#end = end;
  }

  /** Returns the position of the next `count` bytes and skips them. */
  take(count: number): number {
    const from = this.#at;
    this.#at += count;
    if (this.#at > this.#end) throw new UnknownLayout('the differences are truncated');
    return from;
  }

  next(): number {
    const { low, high } = this.#words();
    if (high !== 0 || low < 0) throw new UnknownLayout('a count is too large');
    return low;
  }

  nextZigzag(): Halves {
    const { low, high } = this.#words();
    const sign = -(low & 1);
    return { low: ((low >>> 1) | (high << 31)) ^ sign, high: (high >>> 1) ^ sign };
  }

  #words(): Halves {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#bytes[this.take(1)] as number;
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high |= bits >>> 4;
      } else high |= bits << (shift - 32);
      if (byte < 0x80) return { low, high };
    }
    throw new UnknownLayout('a variable-length number is too long');
  }
}

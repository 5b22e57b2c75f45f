/** Size of the sample count in bytes. */
const HEADER_BYTES = 2;
/** Maximum size of a sample in bytes: 68 bits for the time and 77 bits for the value. */
const MAX_SAMPLE_BYTES = 19;
/** Marks that no window of meaningful bits was written yet. */
const NO_LEADING = 0xff;
const TWO_32 = 2 ** 32;

/** Widths for the second difference of timestamps, with their prefixes; the last one is for all others. */
const TIME_WIDTHS = [
  { width: 14, prefix: 0b10, prefixWidth: 2 },
  { width: 17, prefix: 0b110, prefixWidth: 3 },
  { width: 20, prefix: 0b1110, prefixWidth: 4 },
] as const;

/**
 * Encodes samples as an XOR chunk. Values are passed as words, because JavaScript does not preserve the bits of a NaN.
 * Source: Prometheus, `tsdb/docs/format/chunks.md`, "XOR chunk data", and `tsdb/chunkenc/xor.go`.
 */
export class XorChunk {
  #bytes: Uint8Array<ArrayBuffer>;
  #at = HEADER_BYTES;
  /** Number of free bits in the last byte. */
  #free = 0;
  #count = 0;
  #timeMs = 0;
  #delta = 0;
  #low = 0;
  #high = 0;
  #leading = NO_LEADING;
  #trailing = 0;

  constructor(maxCount: number) {
    this.#bytes = new Uint8Array(HEADER_BYTES + maxCount * MAX_SAMPLE_BYTES);
  }

  get count(): number {
    return this.#count;
  }

  /** @param low and @param high words of the value. */
  add(timeMs: number, low: number, high: number): void {
    if (this.#count === 0) {
      this.#varint(timeMs < 0 ? -2 * timeMs - 1 : 2 * timeMs);
      this.#bits(high, 32);
      this.#bits(low, 32);
    } else {
      const delta = timeMs - this.#timeMs;
      if (this.#count === 1) this.#varint(delta);
      else this.#timeDifference(delta - this.#delta);
      this.#delta = delta;
      this.#value(low, high);
    }
    this.#timeMs = timeMs;
    this.#low = low;
    this.#high = high;
    this.#count++;
  }

  /** Returns the bytes of the chunk and resets it for new samples. */
  take(): Uint8Array {
    this.#bytes[0] = this.#count >> 8;
    this.#bytes[1] = this.#count & 0xff;
    const taken = this.#bytes.slice(0, this.#at);
    this.#bytes.fill(0, 0, this.#at);
    this.#at = HEADER_BYTES;
    this.#free = 0;
    this.#count = 0;
    this.#leading = NO_LEADING;
    return taken;
  }

  #timeDifference(difference: number): void {
    if (difference === 0) {
      this.#bits(0, 1);
      return;
    }
    for (const { width, prefix, prefixWidth } of TIME_WIDTHS) {
      const half = 2 ** (width - 1);
      if (difference < 1 - half || difference > half) continue;
      this.#bits(prefix, prefixWidth);
      this.#bits(difference & (2 ** width - 1), width);
      return;
    }
    this.#bits(0b1111, 4);
    this.#bits(Math.floor(difference / TWO_32), 32);
    this.#bits(difference % TWO_32, 32);
  }

  #value(low: number, high: number): void {
    const lowXor = (low ^ this.#low) >>> 0;
    const highXor = (high ^ this.#high) >>> 0;
    if (lowXor === 0 && highXor === 0) {
      this.#bits(0, 1);
      return;
    }
    this.#bits(1, 1);
    const zeros = highXor !== 0 ? Math.clz32(highXor) : 32 + Math.clz32(lowXor);
    // The number of leading zeros has 5 bits.
    const leading = Math.min(zeros, 31);
    const trailing = lowXor !== 0 ? trailingZeros(lowXor) : 32 + trailingZeros(highXor);
    if (this.#leading !== NO_LEADING && leading >= this.#leading && trailing >= this.#trailing) {
      this.#bits(0, 1);
    } else {
      this.#leading = leading;
      this.#trailing = trailing;
      this.#bits(1, 1);
      this.#bits(leading, 5);
      // A width of 64 bits is written as 0.
      this.#bits((64 - leading - trailing) & 63, 6);
    }
    this.#middle(lowXor, highXor);
  }

  /** Writes the bits between the leading and trailing zeros of the current window. */
  #middle(low: number, high: number): void {
    const width = 64 - this.#leading - this.#trailing;
    const trailing = this.#trailing;
    if (trailing >= 32) {
      this.#bits(high >>> (trailing - 32), width);
      return;
    }
    const shiftedLow = trailing === 0 ? low : (low >>> trailing) | (high << (32 - trailing));
    if (width > 32) this.#bits(high >>> trailing, width - 32);
    this.#bits(shiftedLow, Math.min(width, 32));
  }

  /** Writes a varint at the current bit. */
  #varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#bits((rest % 0x80) | 0x80, 8);
      rest = Math.floor(rest / 0x80);
    }
    this.#bits(rest, 8);
  }

  /** Writes the lowest `width` bits, up to 32, the highest bit first. */
  #bits(value: number, width: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    let free = this.#free;
    let left = width;
    while (left > 0) {
      if (free === 0) {
        at++;
        free = 8;
      }
      const count = left < free ? left : free;
      const part = (value >>> (left - count)) & ((1 << count) - 1);
      free -= count;
      left -= count;
      bytes[at - 1] = (bytes[at - 1] as number) | (part << free);
    }
    this.#at = at;
    this.#free = free;
  }
}

const trailingZeros = (word: number): number => 31 - Math.clz32(word & -word);

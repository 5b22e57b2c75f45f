import type { PiecePool } from './piece-pool.js';

const FIRST_SIZE = 1024;
/** Longer byte runs are copied by one call, shorter ones word by word. */
const FEW_BYTES = 64;
const WORD_BYTES = 4;
const CLOCK_BYTES = 8;
const LONGEST_WHOLE = 17;
/** Row lengths in a result differ by a few digits. */
const ROOM_FOR_LONGER = 1.125;
/** Limits the estimate, because one row may be much longer than the following ones. */
const MOST_EXPECTED = 256 * 1024;
const ZERO = 48;
const SPACE = 32;
const QUOTE = 34;
const MINUS = 45;
const POINT = 46;
const COLON = 58;
const BACKSLASH = 92;
const TILDE = 126;

/** A short text that is encoded once and written many times, such as the comma before a cell. */
export class EncodedText {
  readonly text: string;
  /** Length in bytes. */
  readonly length: number;
  readonly bytes: Uint8Array;
  /** The same bytes as words, padded with zeros. */
  readonly words: Int32Array;

  constructor(text: string) {
    this.text = text;
    const source = Buffer.from(text);
    const padded = new Uint8Array(Math.ceil(source.length / WORD_BYTES) * WORD_BYTES);
    padded.set(source);
    this.length = source.length;
    this.bytes = padded.subarray(0, source.length);
    this.words = new Int32Array(padded.buffer);
  }
}

/** Two-digit numbers as 16 bits of text. */
const TWO_DIGITS = Uint16Array.from(
  { length: 100 },
  (_, number) => ZERO + Math.floor(number / 10) + ((ZERO + (number % 10)) << 8),
);

/**
 * A growing UTF-8 buffer. For many short values, it costs a fraction of string concatenation and creates no garbage.
 */
export class TextBytes {
  readonly #pool: PiecePool | undefined;
  #bytes: Uint8Array = new Uint8Array(0);
  #view = new DataView(this.#bytes.buffer);
  #size = 0;
  /** Initial size of the next piece, estimated from the last one. */
  #nextSize = FIRST_SIZE;

  /**
   * @param pool source of memory for large pieces, if the caller releases the taken pieces to it.
   */
  constructor(pool?: PiecePool) {
    this.#pool = pool;
  }

  /** Bytes written since the last `take`. */
  get size(): number {
    return this.#size;
  }

  /** Returns the bytes written since the last `take`. */
  take(): Buffer {
    const { buffer, byteOffset } = this.#bytes;
    const taken = Buffer.from(buffer as ArrayBuffer, byteOffset, this.#size); // allocated by #grow
    this.#nextSize = Math.max(FIRST_SIZE, this.#size + WORD_BYTES);
    this.#bytes = new Uint8Array(0);
    this.#size = 0;
    return taken;
  }

  /**
   * Announces `count` more rows like the one written since the size was `start`, so that memory is
   * allocated once.
   */
  expect(count: number, start: number): void {
    const expected = Math.ceil(count * (this.#size - start) * ROOM_FOR_LONGER) + WORD_BYTES;
    this.#nextSize = Math.max(this.#nextSize, this.#size + Math.min(expected, MOST_EXPECTED));
  }

  /** Discards everything after `size`, which must be a size since the last `take`. */
  cutTo(size: number): void {
    this.#size = size;
  }

  /** Writes an ASCII character. */
  byte(code: number): void {
    if (this.#size === this.#bytes.length) this.#grow(1);
    this.#bytes[this.#size++] = code;
  }

  /** Replaces a byte written since the last `take`. */
  setByte(at: number, code: number): void {
    this.#bytes[at] = code;
  }

  put({ length, words, bytes }: EncodedText): void {
    this.#reserve(length + WORD_BYTES);
    if (length > FEW_BYTES) this.#bytes.set(bytes, this.#size);
    else {
      // DataView words need no alignment; bytes written beyond the end are overwritten later.
      for (let i = 0; i < words.length; i++)
        this.#view.setInt32(this.#size + i * WORD_BYTES, words[i] as number, true);
    }
    this.#size += length;
  }

  /** Writes a cached text from `words`: its length at `place`, then its bytes. */
  putEncoded(words: Int32Array, offset: number): void {
    const length = words[offset] as number;
    this.#reserve(length + WORD_BYTES);
    const view = this.#view;
    const end = this.#size + length;
    for (let at = this.#size, from = offset + 1; at < end; at += WORD_BYTES, from++)
      view.setInt32(at, words[from] as number, true);
    this.#size = end;
  }

  /** Returns the bytes after `size`, which must be a size since the last `take`. */
  since(size: number): Uint8Array {
    return this.#bytes.subarray(size, this.#size);
  }

  text(text: string): void {
    // A code unit takes at most three bytes.
    this.#reserve(text.length * 3);
    const { buffer, byteOffset, length } = this.#bytes;
    this.#size += Buffer.from(buffer as ArrayBuffer, byteOffset, length).write(text, this.#size); // allocated by #grow
  }

  jsonText(text: string): void {
    const { length } = text;
    this.#reserve(length + 2);
    const bytes = this.#bytes;
    let at = this.#size;
    bytes[at++] = QUOTE;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code < SPACE || code > TILDE || code === QUOTE || code === BACKSLASH) {
        this.text(JSON.stringify(text));
        return;
      }
      bytes[at++] = code;
    }
    bytes[at++] = QUOTE;
    this.#size = at;
  }

  /** Writes a short ASCII text, such as a number. */
  ascii(text: string): void {
    const { length } = text;
    this.#reserve(length);
    const bytes = this.#bytes;
    const at = this.#size;
    for (let i = 0; i < length; i++) bytes[at + i] = text.charCodeAt(i);
    this.#size = at + length;
  }

  /** Writes a safe integer. */
  whole(value: number): void {
    this.#reserve(LONGEST_WHOLE);
    this.#size = putWhole(this.#bytes, this.#size, value);
  }

  /**
   * Writes `scaled` with a decimal point before its last `fractionDigits` digits, without trailing
   * zeros. The value must not be integral.
   */
  decimal(scaled: number, fractionDigits: number): void {
    const magnitude = Math.abs(scaled);
    const scale = 10 ** fractionDigits;
    const whole = Math.floor(magnitude / scale);
    if (scaled < 0) this.byte(MINUS);
    this.whole(whole);
    this.byte(POINT);
    this.padded(magnitude - whole * scale, fractionDigits);
    while (this.#bytes[this.#size - 1] === ZERO) this.#size--;
  }

  /** Writes the last `count` digits of an integer, padded with zeros. */
  padded(value: number, count: number): void {
    this.#reserve(count);
    let left = value | 0;
    for (let at = this.#size + count - 1; at >= this.#size; at--) {
      const tens = (left / 10) | 0;
      this.#bytes[at] = ZERO + (left - tens * 10);
      left = tens;
    }
    this.#size += count;
  }

  /** Writes a second of the day as `17:28:51`. */
  clock(second: number): void {
    this.#reserve(CLOCK_BYTES);
    const minute = (second / 60) | 0;
    const hour = (minute / 60) | 0;
    const bytes = this.#bytes;
    const view = this.#view;
    const at = this.#size;
    view.setUint16(at, TWO_DIGITS[hour] as number, true);
    bytes[at + 2] = COLON;
    view.setUint16(at + 3, TWO_DIGITS[minute - hour * 60] as number, true);
    bytes[at + 5] = COLON;
    view.setUint16(at + 6, TWO_DIGITS[second - minute * 60] as number, true);
    this.#size = at + CLOCK_BYTES;
  }

  #reserve(size: number): void {
    if (this.#size + size > this.#bytes.length) this.#grow(size);
  }

  #grow(by: number): void {
    const size = Math.max(this.#size + by, this.#bytes.length * 2, this.#nextSize);
    const { buffer, byteOffset, length } = this.#pool?.take(size) ?? Buffer.allocUnsafe(size);
    const before = this.#bytes;
    const bytes = new Uint8Array(buffer, byteOffset, length);
    bytes.set(before.subarray(0, this.#size));
    this.#bytes = bytes;
    this.#view = new DataView(buffer, byteOffset, length);
    this.#pool?.release(before);
  }
}

/** Returns the end of the written digits. */
function putWhole(bytes: Uint8Array, start: number, value: number): number {
  let at = start;
  let rest = value;
  if (rest < 0) {
    bytes[at++] = MINUS;
    rest = -rest;
  }
  let digitCount = 1;
  for (let power = 10; power <= rest; power *= 10) digitCount++;
  const end = at + digitCount;
  at = end - 1;
  // Above 31 bits, digits are split off by division of doubles.
  for (; rest > 0x7fffffff; at--) {
    const tens = Math.floor(rest / 10);
    bytes[at] = ZERO + (rest - tens * 10);
    rest = tens;
  }
  for (let left = rest | 0; ; at--) {
    const tens = (left / 10) | 0;
    bytes[at] = ZERO + (left - tens * 10);
    if (tens === 0) return end;
    left = tens;
  }
}

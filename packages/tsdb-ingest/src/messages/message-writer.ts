const FIRST_BYTES = 512;
/** More memory is not kept for the next message. */
const MAX_KEPT_BYTES = 128 * 1024;
const LONGEST_NUMBER_BYTES = 10;

/** Writes Protocol Buffers into one growing buffer. */
export class MessageWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #at = 0;

  get size(): number {
    return this.#at;
  }

  uint(value: number): void {
    this.#reserve(LONGEST_NUMBER_BYTES);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#at++] = rest;
  }

  int(value: number): void {
    if (value >= 0) this.uint(value);
    else this.long(BigInt(value));
  }

  /** Writes a double given as two words. */
  words(low: number, high: number): void {
    this.#reserve(8);
    const bytes = this.#bytes;
    const at = this.#at;
    bytes[at] = low;
    bytes[at + 1] = low >>> 8;
    bytes[at + 2] = low >>> 16;
    bytes[at + 3] = low >>> 24;
    bytes[at + 4] = high;
    bytes[at + 5] = high >>> 8;
    bytes[at + 6] = high >>> 16;
    bytes[at + 7] = high >>> 24;
    this.#at = at + 8;
  }

  /** A fixed64 or sfixed64. */
  fixed(value: bigint): void {
    this.words(Number(BigInt.asUintN(32, value)), Number(BigInt.asUintN(32, value >> 32n)));
  }

  double(value: number): void {
    this.#reserve(8);
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  /** Writes a varint of at most 64 bits. */
  long(value: bigint): void {
    this.#reserve(LONGEST_NUMBER_BYTES);
    let rest = BigInt.asUintN(64, value);
    for (; rest >= 0x80n; rest >>= 7n) this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80;
    this.#bytes[this.#at++] = Number(rest);
  }

  bytes(part: Uint8Array): void {
    this.#reserve(part.length);
    this.#bytes.set(part, this.#at);
    this.#at += part.length;
  }

  /** Writes a field with its length before its bytes. */
  field(tag: number, part: Uint8Array): void {
    this.uint(tag);
    this.uint(part.length);
    this.bytes(part);
  }

  text(tag: number, text: string): void {
    this.field(tag, Buffer.from(text));
  }

  /** Returns a copy of the bytes, and starts a new message. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#at));
    this.#at = 0;
    if (this.#bytes.length > MAX_KEPT_BYTES) this.#bytes = Buffer.allocUnsafe(FIRST_BYTES);
    return taken;
  }

  #reserve(size: number): void {
    if (this.#at + size <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#at + size));
    this.#bytes.copy(grown, 0, 0, this.#at);
    this.#bytes = grown;
  }
}

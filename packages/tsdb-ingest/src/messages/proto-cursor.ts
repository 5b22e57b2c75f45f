/** Wire types of Protocol Buffers. */
export const VARINT = 0;
export const FIXED_64 = 1;
export const BYTES = 2;
const FIXED_32 = 5;
const MAX_VARINT_BYTES = 10;
/** Bits of the NaN that Prometheus sends when a series ends. Source: Prometheus, `value.StaleNaN`. */
const STALE_LOW = 2;
const STALE_HIGH = 0x7ff00000;
const TWO_28 = 2 ** 28;
const TWO_32 = 2 ** 32;

/**
 * Thrown for bytes that are not a message. Not an `Error`: the parser of the body catches it and
 * keeps the message.
 */
export class MessageInvalid {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

/**
 * Reads Protocol Buffers in place. Objects of messages would cost more than all other steps of
 * parsing a sample. Each method moves `at` to the end of the data that it reads; `end` is the end
 * of the message that is read. Throws `MessageInvalid`.
 */
export class ProtoCursor {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  at: number;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
  }

  /** Reads the tag of the next field: number and wire type. */
  tag(end: number): number {
    const first = this.bytes[this.at] as number;
    if (first < 0x80 && this.at < end) {
      this.at++;
      return first;
    }
    return this.uint(end);
  }

  /** Reads a varint without its bits above 2^53. */
  uint(end: number): number {
    let value = 0;
    let factor = 1;
    for (let i = 0; i < MAX_VARINT_BYTES && this.at < end; i++) {
      const byte = this.bytes[this.at++] as number;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 128;
    }
    throw this.#invalid('a number has no end');
  }

  /** Reads an int64; inexact beyond 53 bits. */
  int(end: number): number {
    // The low 28 bits are read separately, so that negative numbers remain exact.
    let low = 0;
    let high = 0;
    let factor = 1;
    for (let i = 0; i < MAX_VARINT_BYTES && this.at < end; i++) {
      const byte = this.bytes[this.at++] as number;
      if (i < 4) low |= (byte & 0x7f) << (7 * i);
      else {
        high += (byte & 0x7f) * factor;
        factor *= 128;
      }
      if (byte >= 0x80) continue;
      // A negative number has 10 bytes; its bit 63 is bit 35 of `high`.
      const signed = high >= 8 * TWO_32 ? high - 16 * TWO_32 : high;
      return signed * TWO_28 + low;
    }
    throw this.#invalid('a number has no end');
  }

  /** Reads a zigzag-encoded number; inexact beyond 53 bits. */
  sint(end: number): number {
    const value = this.uint(end);
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** Reads an int64 as decimal digits. */
  longText(end: number): string {
    const start = this.at;
    const value = this.int(end);
    if (Number.isSafeInteger(value)) return String(value);
    let exact = 0n;
    for (let at = start; at < this.at; at++)
      exact |= BigInt((this.bytes[at] as number) & 0x7f) << BigInt(7 * (at - start));
    return String(BigInt.asIntN(64, exact));
  }

  double(end: number): number {
    return this.view.getFloat64(this.fixed(end), true);
  }

  /** Reads a fixed64; inexact beyond 53 bits. */
  fixedUint(end: number): number {
    const at = this.fixed(end);
    return this.view.getUint32(at + 4, true) * TWO_32 + this.view.getUint32(at, true);
  }

  /** Reads an sfixed64; inexact beyond 53 bits. */
  fixedInt(end: number): number {
    const at = this.fixed(end);
    return this.view.getInt32(at + 4, true) * TWO_32 + this.view.getUint32(at, true);
  }

  /** Reads a repeated numeric field, packed or not, into a list. */
  numbers(
    tag: number,
    end: number,
    { into, type }: { into: number[]; type: 'uint' | 'sint' | 'double' | 'fixedUint' },
  ): void {
    if ((tag & 7) !== BYTES) {
      into.push(this[type](end));
      return;
    }
    const listEnd = this.enter(end);
    while (this.at < listEnd) into.push(this[type](listEnd));
  }

  /** Skips 8 bytes. @returns their position. */
  fixed(end: number): number {
    const { at } = this;
    this.#jump(8, end);
    return at;
  }

  /**
   * Whether the double at `at` has the bits of a stale marker. Reads the bytes, because the runtime
   * may change the bits of a NaN.
   */
  isStaleMarker(at: number): boolean {
    return (
      this.view.getUint32(at, true) === STALE_LOW &&
      this.view.getUint32(at + 4, true) === STALE_HIGH
    );
  }

  /** Reads the length of a message, a string or bytes. @returns their end; `at` is their start. */
  enter(end: number): number {
    const size = this.tag(end);
    const inner = this.at + size;
    if (inner > end) throw this.#invalid(`a length of ${size} bytes exceeds its message`);
    return inner;
  }

  skip(tag: number, end: number): void {
    switch (tag & 7) {
      case VARINT:
        this.uint(end);
        return;
      case FIXED_64:
        this.#jump(8, end);
        return;
      case BYTES:
        this.at = this.enter(end);
        return;
      case FIXED_32:
        this.#jump(4, end);
        return;
      default:
        throw this.#invalid(`unsupported wire type ${tag & 7}`);
    }
  }

  text(start: number, end: number): string {
    const { buffer, byteOffset } = this.bytes;
    return Buffer.from(buffer, byteOffset + start, end - start).toString();
  }

  #jump(size: number, end: number): void {
    if (this.at + size > end) throw this.#invalid('a number exceeds its message');
    this.at += size;
  }

  #invalid(why: string): MessageInvalid {
    return new MessageInvalid(`${why}, at byte ${this.at}`);
  }
}

/** Returns the tag of a field. */
export const tagOf = (field: number, wireType: number): number => field * 8 + wireType;

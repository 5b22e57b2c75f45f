/** Field types of a struct. Source: thrift-compact-protocol.md, "Struct encoding". */
const ThriftType = { true: 1, false: 2, binary: 8, list: 9, set: 10, map: 11, struct: 12 };

/**
 * Reads Thrift's compact protocol, the encoding of Parquet metadata. Throws `RangeError` for
 * truncated bytes.
 */
export class ThriftReader {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  /** Calls `onField` for each field. It reads the value, or returns false to skip it. */
  struct(onField: (id: number) => boolean): void {
    let id = 0;
    for (;;) {
      const head = this.#byte();
      if (head === 0) return;
      const type = head & 0x0f;
      id = head >> 4 === 0 ? this.int() : id + (head >> 4);
      if (!onField(id)) this.#skip(type);
    }
  }

  list(onItem: () => void): void {
    for (let left = this.#listHead().count; left > 0; left--) onItem();
  }

  /** Reads a signed integer, exact up to 2 ** 53. */
  int(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** Returns a view, not a copy. */
  binary(): Uint8Array {
    const length = this.#varint();
    const from = this.at;
    if (from + length > this.#bytes.length)
      throw new RangeError('a string extends beyond the metadata');
    this.at = from + length;
    return this.#bytes.subarray(from, this.at);
  }

  #byte(): number {
    const byte = this.#bytes[this.at++];
    if (byte === undefined) throw new RangeError('the metadata is truncated');
    return byte;
  }

  #varint(): number {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#byte();
      if (shift < 28) low |= (byte & 0x7f) << shift;
      else high += (byte & 0x7f) * 2 ** (shift - 28);
      if (byte < 0x80) return low + high * 2 ** 28;
    }
    throw new RangeError('a variable-length number is too long');
  }

  #listHead(): { readonly count: number; readonly type: number } {
    const head = this.#byte();
    return { type: head & 0x0f, count: head >> 4 === 15 ? this.#varint() : head >> 4 };
  }

  #skip(type: number): void {
    switch (type) {
      case ThriftType.true:
      case ThriftType.false:
        return;
      case 3:
        this.at++;
        return;
      case 4:
      case 5:
      case 6:
        this.#varint();
        return;
      case 7:
        this.at += 8;
        return;
      case ThriftType.binary:
        this.binary();
        return;
      case ThriftType.list:
      case ThriftType.set: {
        const { count, type: itemType } = this.#listHead();
        // Booleans in lists have one byte each.
        for (let i = 0; i < count; i++) this.#skip(itemType <= 2 ? 3 : itemType);
        return;
      }
      case ThriftType.struct:
        this.struct(() => false);
        return;
      default:
        throw new RangeError(`type ${type} does not occur in Parquet metadata`);
    }
  }
}

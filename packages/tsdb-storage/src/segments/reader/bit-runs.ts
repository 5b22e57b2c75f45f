import { UnknownLayout } from './file-index.js';

/**
 * Reads small numbers from runs of one value and bit-packed runs. Source: parquet-format,
 * Encodings.md, "Run Length Encoding / Bit-Packing Hybrid".
 */
export class BitRuns {
  readonly #bytes: Uint8Array;
  readonly #width: number;
  #at: number;

  constructor(bytes: Uint8Array, at: number, width: number) {
    if (width > 24) throw new UnknownLayout(`${width}-bit numbers are not supported`);
    this.#bytes = bytes;
    this.#at = at;
    this.#width = width;
  }

  /** Skips `skip` numbers and fills `out` with the following ones. */
  read(skip: number, out: Uint8Array | Uint32Array): void {
    let left = skip;
    for (let at = 0; at < out.length; ) {
      const head = this.#varint();
      const isPacked = (head & 1) === 1;
      const runLength = isPacked ? (head >>> 1) * 8 : head >>> 1;
      const passed = Math.min(left, runLength);
      const taken = Math.min(runLength - passed, out.length - at);
      left -= passed;
      if (isPacked) {
        if (taken > 0) this.#unpack(passed, out.subarray(at, at + taken));
        this.#at += (runLength / 8) * this.#width;
      } else {
        out.fill(this.#number(), at, at + taken);
        if (runLength === 0) throw new UnknownLayout('a run is empty');
      }
      at += taken;
    }
  }

  /** Passes the first `count` numbers to `visit`, a run of equal numbers at a time. */
  readRuns(count: number, visit: (number: number, length: number) => void): void {
    for (let at = 0; at < count; ) {
      const head = this.#varint();
      const isPacked = (head & 1) === 1;
      const length = Math.min(count - at, isPacked ? (head >>> 1) * 8 : head >>> 1);
      if (length === 0) throw new UnknownLayout('a run is empty');
      if (isPacked) {
        const numbers = new Uint32Array(length);
        this.#unpack(0, numbers);
        this.#at += (head >>> 1) * this.#width;
        for (const number of numbers) visit(number, 1);
      } else visit(this.#number(), length);
      at += length;
    }
  }

  /** Returns whether the data is a single run of ones. */
  isAllOnes(count: number): boolean {
    const at = this.#at;
    const head = this.#varint();
    const isRun = (head & 1) === 0 && head >>> 1 >= count && this.#bytes[this.#at] === 1;
    this.#at = at;
    return isRun;
  }

  #unpack(skip: number, out: Uint8Array | Uint32Array): void {
    const bytes = this.#bytes;
    const width = this.#width;
    const mask = 2 ** width - 1;
    let bit = this.#at * 8 + skip * width;
    for (let i = 0; i < out.length; i++, bit += width) {
      const at = bit >>> 3;
      const word =
        (bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24);
      out[i] = (word >>> (bit & 7)) & mask;
    }
  }

  #number(): number {
    let number = 0;
    for (let i = 0; i * 8 < this.#width; i++)
      number |= (this.#bytes[this.#at++] as number) << (i * 8);
    return number;
  }

  #varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) break;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw new UnknownLayout('the numbers are truncated');
  }
}

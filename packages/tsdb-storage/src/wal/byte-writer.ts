type NumberArray = Uint32Array | Float64Array | BigInt64Array | BigUint64Array;

/**
 * Up to this size, V8 stores a typed array inside the object and has not allocated its `buffer`.
 */
const SCRATCH_SIZE = 64;

// One memory block viewed as every type. Small arrays are copied through it. Reading `buffer` of a
// small array would allocate memory outside the heap, which costs more than processing a line.
const SCRATCH = new Uint8Array(SCRATCH_SIZE);
const SCRATCH_WORDS = new Uint32Array(SCRATCH.buffer);
const SCRATCH_DOUBLES = new Float64Array(SCRATCH.buffer);
const SCRATCH_LONGS = new BigInt64Array(SCRATCH.buffer);
const SCRATCH_UNSIGNED = new BigUint64Array(SCRATCH.buffer);

/** Writes little-endian values to a growing buffer. Arrays are copied, or become separate parts. */
export class ByteWriter {
  readonly #copiesArrays: boolean;
  readonly #parts: Uint8Array[] = [];
  #buffer: Buffer;
  #at = 0;

  /** @param sizeBytes expected size of the copied data. */
  constructor(sizeBytes: number, copiesArrays: boolean) {
    this.#buffer = Buffer.allocUnsafe(sizeBytes);
    this.#copiesArrays = copiesArrays;
  }

  u8(value: number): void {
    this.#at = this.#room(1).writeUInt8(value, this.#at);
  }

  u16(value: number): void {
    this.#at = this.#room(2).writeUInt16LE(value, this.#at);
  }

  u32(value: number): void {
    this.#at = this.#room(4).writeUInt32LE(value, this.#at);
  }

  i64(value: bigint): void {
    this.#at = this.#room(8).writeBigInt64LE(value, this.#at);
  }

  numbers(values: NumberArray): void {
    const sizeBytes = values.byteLength;
    if (sizeBytes > SCRATCH_SIZE) {
      this.raw(new Uint8Array(values.buffer, values.byteOffset, sizeBytes));
      return;
    }
    const buffer = this.#room(sizeBytes);
    toScratch(values);
    for (let i = 0; i < sizeBytes; i++) buffer[this.#at + i] = SCRATCH[i] as number;
    this.#at += sizeBytes;
  }

  raw(bytes: Uint8Array): void {
    if (this.#copiesArrays) {
      this.#room(bytes.length).set(bytes, this.#at);
      this.#at += bytes.length;
      return;
    }
    this.#closePart();
    this.#parts.push(bytes);
  }

  /** Returns everything written, in order. The writer must not be used afterwards. */
  parts(): readonly Uint8Array[] {
    this.#closePart();
    return this.#parts;
  }

  #closePart(): void {
    if (this.#at === 0) return;
    this.#parts.push(this.#buffer.subarray(0, this.#at));
    this.#buffer = this.#buffer.subarray(this.#at);
    this.#at = 0;
  }

  #room(sizeBytes: number): Buffer {
    if (this.#at + sizeBytes > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#at + sizeBytes));
      this.#buffer.copy(larger, 0, 0, this.#at);
      this.#buffer = larger;
    }
    return this.#buffer;
  }
}

function toScratch(values: NumberArray): void {
  if (values instanceof BigInt64Array) SCRATCH_LONGS.set(values);
  else if (values instanceof Float64Array) SCRATCH_DOUBLES.set(values);
  else if (values instanceof BigUint64Array) SCRATCH_UNSIGNED.set(values);
  else SCRATCH_WORDS.set(values);
}

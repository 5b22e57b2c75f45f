import { crc32 } from 'node:zlib';
import { snappyUncompress } from 'hyparquet';

/** Block types, by first byte. */
export const TSM_TYPES = ['float', 'integer', 'boolean', 'string', 'unsigned'] as const;
export type TsmType = (typeof TSM_TYPES)[number];

/** The contents of a block: as many values as timestamps. */
export interface TsmBlock {
  /** Nanoseconds since 1970, ascending. */
  readonly times: BigInt64Array;
  readonly values:
    | Float64Array
    | BigInt64Array
    | BigUint64Array
    | readonly boolean[]
    | readonly string[];
}

/** A corrupt block; the reader of the file adds the position. */
class DamagedBlock extends Error {
  override readonly name = 'DamagedBlock';
  readonly kind = 'damaged_block';
}

const MAX_VALUE_COUNT = 1 << 20;
const MAX_TEXT_BYTES = 1 << 30;

/**
 * Decodes a block of a TSM file of InfluxDB 1.x: checksum, type, timestamps and values, each in the encoding that was smallest.
 * Source: "TSM files" and "Compression" of the storage engine's page in the documentation of InfluxDB 1.x.
 */
export function readBlock(bytes: Buffer, type: TsmType): TsmBlock {
  if (bytes.length < 6) throw new DamagedBlock('the block is too short');
  if (crc32(bytes.subarray(4)) !== bytes.readUInt32BE(0))
    throw new DamagedBlock('checksum mismatch');
  if (TSM_TYPES[bytes.readUInt8(4)] !== type)
    throw new DamagedBlock('the block type does not match the type in the index');
  const [timesSize, start] = varint(bytes, 5);
  const valuesStart = start + Number(timesSize);
  if (valuesStart >= bytes.length)
    throw new DamagedBlock('the timestamps extend beyond the end of the block');
  const times = readTimes(bytes.subarray(start, valuesStart));
  const values = readValues(bytes.subarray(valuesStart), type);
  if (times.length !== values.length) {
    throw new DamagedBlock(
      `the numbers of timestamps (${times.length}) and values (${values.length}) differ`,
    );
  }
  return { times, values };
}

function readValues(bytes: Buffer, type: TsmType): TsmBlock['values'] {
  if (type === 'float') return readFloats(bytes);
  if (type === 'boolean') return readBooleans(bytes);
  if (type === 'string') return readTexts(bytes);
  const values = readIntegers(bytes);
  return type === 'integer' ? values : new BigUint64Array(values.buffer);
}

/** Returns the encoding, which is the upper half of the first byte. */
const formOf = (bytes: Buffer): number => (bytes[0] ?? 0) >> 4;

function readTimes(bytes: Buffer): BigInt64Array {
  const form = formOf(bytes);
  if (form === 0) return sums(words(bytes.subarray(1)));
  if (bytes.length < 9) throw new DamagedBlock('the timestamp data is too short');
  const unit = 10n ** BigInt((bytes[0] ?? 0) & 0xf);
  const first = bytes.readBigUInt64BE(1);
  if (form === 1) {
    const deltas = unpack(bytes.subarray(9), first);
    for (let i = 1; i < deltas.length; i++) deltas[i] = (deltas[i] ?? 0n) * unit;
    return sums(deltas);
  }
  if (form !== 2) throw new DamagedBlock(`unknown timestamp encoding ${form}`);
  const [delta, at] = varint(bytes, 9);
  const [count] = varint(bytes, at);
  return sums(repeated(first, delta * unit, bounded(count)));
}

function readIntegers(bytes: Buffer): BigInt64Array {
  const form = formOf(bytes);
  let deltas: BigUint64Array;
  if (form === 0) deltas = words(bytes.subarray(1));
  else if (bytes.length < 9) throw new DamagedBlock('the value data is too short');
  else if (form === 1) deltas = unpack(bytes.subarray(9), bytes.readBigUInt64BE(1));
  else if (form === 2) {
    const [delta, at] = varint(bytes, 9);
    const [count] = varint(bytes, at);
    deltas = repeated(bytes.readBigUInt64BE(1), delta, bounded(count) + 1);
  } else throw new DamagedBlock(`unknown value encoding ${form}`);
  for (let i = 0; i < deltas.length; i++) {
    const zigzag = deltas[i] ?? 0n;
    deltas[i] = BigInt.asUintN(64, (zigzag >> 1n) ^ -(zigzag & 1n));
  }
  return sums(deltas);
}

/** Each value is stored as XOR with the previous one; NaN marks the end. */
function readFloats(bytes: Buffer): Float64Array {
  if (formOf(bytes) !== 1) throw new DamagedBlock(`unknown value encoding ${formOf(bytes)}`);
  const bits = new Bits(bytes, 1);
  const word = new DataView(new ArrayBuffer(8));
  let high = bits.take(32);
  let low = bits.take(32);
  let leading = 0;
  let length = 64;
  const values: number[] = [];
  for (;;) {
    word.setUint32(0, high);
    word.setUint32(4, low);
    const value = word.getFloat64(0);
    if (Number.isNaN(value)) return Float64Array.from(values);
    if (values.length === MAX_VALUE_COUNT)
      throw new DamagedBlock('the end marker of the values is missing');
    values.push(value);
    if (bits.take(1) === 0) continue;
    if (bits.take(1) === 1) {
      leading = bits.take(5);
      length = bits.take(6) || 64;
    }
    const trailing = 64 - leading - length;
    if (trailing < 0) throw new DamagedBlock('a value is longer than 64 bits');
    const upper = length > 32 ? BigInt(bits.take(length - 32)) : 0n;
    const changed = ((upper << 32n) | BigInt(bits.take(Math.min(length, 32)))) << BigInt(trailing);
    high = (high ^ Number(changed >> 32n)) >>> 0;
    low = (low ^ Number(changed & 0xffffffffn)) >>> 0;
  }
}

function readBooleans(bytes: Buffer): boolean[] {
  if (formOf(bytes) !== 1) throw new DamagedBlock(`unknown value encoding ${formOf(bytes)}`);
  const [count, at] = varint(bytes, 1);
  const bits = new Bits(bytes, at);
  return Array.from({ length: bounded(count) }, () => bits.take(1) === 1);
}

function readTexts(bytes: Buffer): string[] {
  if (formOf(bytes) !== 1) throw new DamagedBlock(`unknown value encoding ${formOf(bytes)}`);
  const [size] = varint(bytes, 1);
  if (size > BigInt(MAX_TEXT_BYTES))
    throw new DamagedBlock(`the strings are longer than ${MAX_TEXT_BYTES / 2 ** 30} GiB`);
  const plain = Buffer.alloc(Number(size));
  try {
    snappyUncompress(bytes.subarray(1), plain);
  } catch {
    throw new DamagedBlock('the strings cannot be decompressed');
  }
  const texts: string[] = [];
  for (let at = 0; at < plain.length; ) {
    const [length, start] = varint(plain, at);
    at = start + Number(length);
    if (at > plain.length) throw new DamagedBlock('a string extends beyond the end of the block');
    texts.push(plain.toString('utf8', start, at));
  }
  return texts;
}

/** Values per 64-bit word and bits per value, by the upper four bits. */
const PACKINGS = [
  [240, 0],
  [120, 0],
  [60, 1],
  [30, 2],
  [20, 3],
  [15, 4],
  [12, 5],
  [10, 6],
  [8, 7],
  [7, 8],
  [6, 10],
  [5, 12],
  [4, 15],
  [3, 20],
  [2, 30],
  [1, 60],
] as const;

/** Simple-8b. Source: V. N. Anh, A. Moffat: Index compression using 64-bit words (2010). With width 0, all values are 1. */
function unpack(bytes: Buffer, first: bigint): BigUint64Array {
  const values = [first];
  for (const word of words(bytes)) {
    const [count, width] = PACKINGS[Number(word >> 60n)] ?? [0, 0];
    const mask = (1n << BigInt(width)) - 1n;
    for (let i = 0; i < count; i++) {
      values.push(width === 0 ? 1n : (word >> BigInt(i * width)) & mask);
    }
    if (values.length > MAX_VALUE_COUNT)
      throw new DamagedBlock(`the block contains more than ${MAX_VALUE_COUNT} values`);
  }
  return BigUint64Array.from(values);
}

function words(bytes: Buffer): BigUint64Array {
  if (bytes.length % 8 !== 0) throw new DamagedBlock('the last value is truncated');
  return BigUint64Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readBigUInt64BE(i * 8));
}

const repeated = (first: bigint, delta: bigint, count: number): BigUint64Array =>
  BigUint64Array.from({ length: count }, (_, i) => (i === 0 ? first : delta));

/** Converts differences to values, in 64 bits. */
function sums(deltas: BigUint64Array): BigInt64Array {
  for (let i = 1; i < deltas.length; i++) deltas[i] = (deltas[i] ?? 0n) + (deltas[i - 1] ?? 0n);
  return new BigInt64Array(deltas.buffer, deltas.byteOffset, deltas.length);
}

function bounded(count: bigint): number {
  if (count > BigInt(MAX_VALUE_COUNT))
    throw new DamagedBlock(`the block contains more than ${MAX_VALUE_COUNT} values`);
  return Number(count);
}

/** Reads an unsigned varint of one to ten bytes (seven bits each). Returns its value and the end position. */
export function varint(bytes: Buffer, start: number): readonly [bigint, number] {
  let value = 0n;
  for (let i = 0; i < 10; i++) {
    const byte = bytes[start + i];
    if (byte === undefined) break;
    value |= BigInt(byte & 0x7f) << BigInt(7 * i);
    if (byte < 0x80) return [value, start + i + 1];
  }
  throw new DamagedBlock('a variable-length number is truncated');
}

/** Reads bits, most significant first. */
class Bits {
  readonly #bytes: Buffer;
  #at: number;
  constructor(bytes: Buffer, startByte: number) {
    this.#bytes = bytes;
    this.#at = startByte * 8;
  }

  /** @param count at most 32. */
  take(count: number): number {
    let value = 0;
    for (let left = count; left > 0; ) {
      const byte = this.#bytes[this.#at >> 3];
      if (byte === undefined) throw new DamagedBlock('the end marker of the values is missing');
      const free = 8 - (this.#at & 7);
      const taken = Math.min(free, left);
      value = value * 2 ** taken + ((byte >> (free - taken)) & (2 ** taken - 1));
      this.#at += taken;
      left -= taken;
    }
    return value;
  }
}

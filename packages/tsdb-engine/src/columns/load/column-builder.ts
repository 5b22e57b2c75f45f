import type { StoredColumn } from '../cache/part.js';

const TWO_32 = 2 ** 32;

/** The numeric type of the values of a field that are passed to a builder. */
export interface ColumnType {
  /**
   * The array type that holds every value; `undefined` for 64-bit integers, which are checked one
   * by one.
   */
  readonly numbers: NumbersClass | undefined;
  /** False if every row has the field. */
  readonly mayLack: boolean;
}

/** Collects the values of one field in the order of its source. */
export class ColumnBuilder {
  readonly #columnType: ColumnType;
  #values: Numbers;
  readonly #validity: Uint8Array;
  #count = 0;
  #missing = 0;
  #isFit = true;

  constructor(columnType: ColumnType, rowCount: number) {
    this.#columnType = columnType;
    this.#values = new (columnType.numbers ?? Int32Array)(rowCount);
    this.#validity = new Uint8Array(columnType.mayLack ? (rowCount + 7) >> 3 : 0);
  }

  /**
   * `isPresent` is a bitmap, least significant bit first; `undefined` means that all values are
   * present.
   */
  add(
    values: Numbers | BigInt64Array | BigUint64Array | Uint8Array,
    rowCount: number,
    isPresent: Uint8Array | undefined,
  ): void {
    if (values instanceof BigInt64Array || values instanceof BigUint64Array)
      this.#addWords(values, rowCount, isPresent);
    else this.#values.set(values.subarray(0, rowCount), this.#count);
    if (this.#columnType.mayLack) this.#notePresent(rowCount, isPresent);
    this.#count += rowCount;
  }

  /** Returns `undefined` if a value is not an exact double. */
  finish(order: Uint16Array | Uint32Array | undefined): StoredColumn | undefined {
    if (!this.#isFit) return undefined;
    const source = this.#values;
    const kind =
      source instanceof Int8Array || source instanceof Int16Array
        ? undefined
        : narrowest(source, this.#count);
    const values =
      kind === undefined && order === undefined
        ? source
        : gatheredNumbers(source, order, new (kind ?? classOf(source))(this.#count));
    const validity =
      this.#missing === 0
        ? undefined
        : order === undefined
          ? this.#validity
          : gatheredBits(this.#validity, order);
    return { values, validity };
  }

  #addWords(
    values: BigInt64Array | BigUint64Array,
    rowCount: number,
    isPresent: Uint8Array | undefined,
  ): void {
    const words = new Int32Array(values.buffer, values.byteOffset, rowCount * 2);
    const isSigned = values instanceof BigInt64Array;
    for (let row = 0; row < rowCount; row++) {
      // Slots of missing values may contain anything.
      if (isPresent !== undefined && ((isPresent[row >> 3] as number) & (1 << (row & 7))) === 0)
        continue;
      const low = words[row * 2] as number;
      const high = words[row * 2 + 1] as number;
      if (high === low >> 31 && (isSigned || low >= 0)) {
        this.#values[this.#count + row] = low;
        continue;
      }
      const value = (isSigned ? high : high >>> 0) * TWO_32 + (low >>> 0);
      if (!Number.isSafeInteger(value)) this.#isFit = false;
      if (this.#values instanceof Int32Array) this.#values = Float64Array.from(this.#values);
      this.#values[this.#count + row] = value;
    }
  }

  #notePresent(rowCount: number, isPresent: Uint8Array | undefined): void {
    const at = this.#count;
    const bits = this.#validity;
    for (let row = 0; row < rowCount; row++) {
      const to = at + row;
      if (isPresent !== undefined && ((isPresent[row >> 3] as number) & (1 << (row & 7))) === 0) {
        this.#missing++;
        this.#values[to] = 0;
      } else bits[to >> 3] = (bits[to >> 3] as number) | (1 << (to & 7));
    }
  }
}

function classOf(values: Numbers): NumbersClass {
  if (values instanceof Int8Array) return Int8Array;
  if (values instanceof Int16Array) return Int16Array;
  return values instanceof Int32Array ? Int32Array : Float64Array;
}

function gatheredNumbers(
  source: Numbers,
  order: Uint16Array | Uint32Array | undefined,
  target: Numbers,
): Numbers {
  if (order === undefined) target.set(source.subarray(0, target.length));
  else for (let i = 0; i < order.length; i++) target[i] = source[order[i] as number] as number;
  return target;
}

function gatheredBits(bits: Uint8Array, order: Uint16Array | Uint32Array): Uint8Array {
  const result = new Uint8Array((order.length + 7) >> 3);
  for (let i = 0; i < order.length; i++) {
    const from = order[i] as number;
    if (((bits[from >> 3] as number) & (1 << (from & 7))) !== 0)
      result[i >> 3] = (result[i >> 3] as number) | (1 << (i & 7));
  }
  return result;
}

type Numbers = StoredColumn['values'];

export type NumbersClass =
  | Int8ArrayConstructor
  | Int16ArrayConstructor
  | Int32ArrayConstructor
  | Float64ArrayConstructor;

/** Returns the narrowest array type that holds the first `count` values exactly. */
function narrowest(values: Int32Array | Float64Array, count: number): NumbersClass {
  let min = 0;
  let max = 0;
  if (values instanceof Float64Array && !isWhole(values, count)) return Float64Array;
  for (let i = 0; i < count; i++) {
    const value = values[i] as number;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return narrowestFor(min, max);
}

/** Returns the narrowest array type for integers in this range. */
export function narrowestFor(min: number, max: number): NumbersClass {
  if (min < -(2 ** 31) || max >= 2 ** 31) return Float64Array;
  if (min < -32768 || max > 32767) return Int32Array;
  return min < -128 || max > 127 ? Int16Array : Int8Array;
}

/** Negative zero does not count as an integer, because integer types cannot represent it. */
function isWhole(values: Float64Array, count: number): boolean {
  for (let i = 0; i < count; i++) {
    const value = values[i] as number;
    if (!Number.isInteger(value) || Object.is(value, -0)) return false;
  }
  return true;
}

import { type Field, Type, type Vector } from 'apache-arrow';
import type { FrameColumn } from '../lib/frame/frame.js';

/** Columns with more distinct strings are stored as bytes. */
const MAX_WORD_COUNT = 5000;
const NS_PER_UNIT = [1_000_000_000n, 1_000_000n, 1000n, 1n];
const ENCODER = new TextEncoder();

/** Collects the batches of one column into a single list. */
export interface ColumnCollector {
  add(vector: Vector): void;
  finish(): FrameColumn;
}

export function collectorOf(field: Field): ColumnCollector {
  const { name, type } = field;
  const nulls = new Nulls();
  const named = () => ({ name, typeName: String(type), nulls: nulls.finish() });
  switch (type.typeId) {
    case Type.Float:
    case Type.Float32:
    case Type.Float64:
      return numbers(named, nulls);
    case Type.Int:
    case Type.Int64:
    case Type.Uint64:
    case Type.Int32:
    case Type.Int16:
    case Type.Int8:
    case Type.Uint32:
    case Type.Uint16:
    case Type.Uint8: {
      const { bitWidth, isSigned } = type as unknown as { bitWidth: number; isSigned: boolean };
      return bitWidth < 64 ? numbers(named, nulls) : integers(named, nulls, isSigned);
    }
    case Type.Timestamp:
      return times(named, nulls, NS_PER_UNIT[(type as unknown as { unit: number }).unit] ?? 1n);
    default:
      return texts(named, nulls);
  }
}

type Head = () => Pick<FrameColumn, 'name' | 'typeName' | 'nulls'>;

/** One byte per row; `undefined` until the first missing value. */
class Nulls {
  #parts: (Uint8Array | number)[] = [];
  #count = 0;
  #hasAny = false;

  add(vector: Vector): void {
    this.#count += vector.length;
    if (vector.nullCount === 0) {
      this.#parts.push(vector.length);
      return;
    }
    this.#hasAny = true;
    const bytes = new Uint8Array(vector.length);
    for (let row = 0; row < bytes.length; row++) bytes[row] = vector.isValid(row) ? 0 : 1;
    this.#parts.push(bytes);
  }

  finish(): Uint8Array | undefined {
    if (!this.#hasAny) return undefined;
    const all = new Uint8Array(this.#count);
    let at = 0;
    for (const part of this.#parts) {
      if (typeof part !== 'number') all.set(part, at);
      at += typeof part === 'number' ? part : part.length;
    }
    return all;
  }
}

/** Returns the raw values of a batch, without checking each one. */
function valuesOf<T>(vector: Vector): T {
  const [data] = vector.data;
  const { values, length } = data as unknown as { values: Float64Array; length: number };
  return values.subarray(0, length) as unknown as T;
}

function numbers(named: Head, nulls: Nulls): ColumnCollector {
  const parts: ArrayLike<number>[] = [];
  return {
    add(vector) {
      nulls.add(vector);
      parts.push(valuesOf<Float64Array>(vector));
    },
    finish: () => ({ ...named(), kind: 'number', values: joined(Float64Array, parts) }),
  };
}

function integers(named: Head, nulls: Nulls, isSigned: boolean): ColumnCollector {
  const parts: BigInt64Array[] = [];
  return {
    add(vector) {
      nulls.add(vector);
      parts.push(valuesOf<BigInt64Array>(vector));
    },
    finish() {
      const values = isSigned
        ? joined(BigInt64Array, parts)
        : joined(BigUint64Array, parts as unknown as BigUint64Array[]);
      return { ...named(), kind: 'integer', values, numbers: Float64Array.from(values, Number) };
    },
  };
}

function times(named: Head, nulls: Nulls, nsPerUnit: bigint): ColumnCollector {
  const parts: BigInt64Array[] = [];
  return {
    add(vector) {
      nulls.add(vector);
      parts.push(valuesOf<BigInt64Array>(vector));
    },
    finish() {
      const values = joined(BigInt64Array, parts);
      if (nsPerUnit !== 1n) {
        for (let row = 0; row < values.length; row++)
          values[row] = (values[row] as bigint) * nsPerUnit;
      }
      const ms = Float64Array.from(values, (ns) => Number(ns) / 1e6);
      return { ...named(), kind: 'time', values, numbers: ms };
    },
  };
}

/** Collects strings, and values of all other types as strings. */
function texts(named: Head, nulls: Nulls): ColumnCollector {
  const codes = new Growing();
  const values: string[] = [];
  const known = new Map<string, number>();
  let many: { offsets: Growing; bytes: Uint8Array[]; size: number } | undefined;
  const addToMany = (text: string): void => {
    if (many === undefined) return;
    const bytes = ENCODER.encode(text);
    many.bytes.push(bytes);
    many.size += bytes.length;
    many.offsets.push(many.size);
  };
  const spill = (): void => {
    many = { offsets: new Growing(), bytes: [], size: 0 };
    many.offsets.push(0);
    for (const code of codes.finish()) addToMany(values[code] ?? '');
  };
  return {
    add(vector) {
      nulls.add(vector);
      for (let row = 0; row < vector.length; row++) {
        const text = textOf(vector.get(row));
        if (many !== undefined) {
          addToMany(text);
          continue;
        }
        let code = known.get(text);
        if (code === undefined) {
          code = values.length;
          known.set(text, code);
          values.push(text);
        }
        codes.push(code);
        if (values.length > MAX_WORD_COUNT) spill();
      }
    },
    finish() {
      if (many === undefined) return { ...named(), kind: 'words', codes: codes.finish(), values };
      const bytes = new Uint8Array(many.size);
      let at = 0;
      for (const part of many.bytes) {
        bytes.set(part, at);
        at += part.length;
      }
      return { ...named(), kind: 'text', offsets: many.offsets.finish(), bytes };
    },
  };
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'object') {
    return JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === 'bigint' ? inner.toString() : inner,
    );
  }
  return String(value);
}

class Growing {
  #list = new Int32Array(1024);
  #count = 0;

  push(value: number): void {
    if (this.#count === this.#list.length) {
      const wider = new Int32Array(this.#count * 2);
      wider.set(this.#list);
      this.#list = wider;
    }
    this.#list[this.#count++] = value;
  }

  finish(): Int32Array {
    return this.#list.slice(0, this.#count);
  }
}

function joined<T extends { set(part: never, at: number): void }, P extends { length: number }>(
  make: new (length: number) => T,
  parts: readonly P[],
): T {
  const all = new make(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part as never, at);
    at += part.length;
  }
  return all;
}

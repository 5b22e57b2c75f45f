import type { FieldType } from '@plinth/tsdb-model/columns/column.js';
import type { FieldValues } from '@plinth/tsdb-model/parsed-body.js';
import { textAt } from './row-keys.js';

export type CachedValue = number | bigint | boolean | string | undefined;

type FixedValues =
  | Float64Array<ArrayBuffer>
  | BigInt64Array<ArrayBuffer>
  | BigUint64Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>;

/** Approximate bytes of a string in addition to its characters. */
const TEXT_SIZE_BYTES = 24;

/** Values of one field for all entries of a cache. */
export class ValueColumn {
  readonly id: number;
  readonly #kind: FieldType;
  #values: FixedValues | string[];
  #isPresent: Uint8Array<ArrayBuffer>;
  #textBytes = 0;

  constructor(id: number, kind: FieldType, size: number) {
    this.id = id;
    this.#kind = kind;
    this.#values = kind === 'utf8' ? [] : newValues(kind, size);
    this.#isPresent = new Uint8Array(size);
  }

  get sizeBytes(): number {
    const { length } = this.#isPresent;
    return Array.isArray(this.#values)
      ? length * 9 + this.#textBytes
      : this.#values.byteLength + length;
  }

  set(entry: number, data: FieldValues, row: number): void {
    if (data.type !== this.#kind) return;
    if (data.type === 'utf8') {
      const texts = this.#values as string[]; // strings, by the kind
      this.#forgetText(entry);
      const text = textAt(data, row);
      texts[entry] = text;
      this.#textBytes += text.length + TEXT_SIZE_BYTES;
    } else this.#values[entry] = data.values[row] as never; // both have the column's kind
    this.#isPresent[entry] = 1;
  }

  clear(entry: number): void {
    if (this.#kind === 'utf8') this.#forgetText(entry);
    this.#isPresent[entry] = 0;
  }

  get(entry: number): CachedValue {
    if (this.#isPresent[entry] !== 1) return undefined;
    const value = this.#values[entry];
    return this.#kind === 'bool' ? value === 1 : value;
  }

  grow(size: number): void {
    if (this.#kind !== 'utf8') {
      const larger = newValues(this.#kind, size);
      larger.set(this.#values as never); // both have the column's kind
      this.#values = larger;
    }
    const isPresent = new Uint8Array(size);
    isPresent.set(this.#isPresent);
    this.#isPresent = isPresent;
  }

  #forgetText(entry: number): void {
    if (this.#isPresent[entry] !== 1) return;
    const texts = this.#values as string[]; // only called for strings
    this.#textBytes -= (texts[entry]?.length ?? 0) + TEXT_SIZE_BYTES;
    texts[entry] = '';
  }
}

export function newValues(kind: Exclude<FieldType, 'utf8'> | 'time', size: number): FixedValues {
  switch (kind) {
    case 'float64':
      return new Float64Array(size);
    case 'int64':
    case 'time':
      return new BigInt64Array(size);
    case 'uint64':
      return new BigUint64Array(size);
    case 'bool':
      return new Uint8Array(size);
  }
}

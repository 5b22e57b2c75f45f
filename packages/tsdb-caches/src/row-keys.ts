import type { SeriesIndex } from '@plinth/tsdb-engine/series/series-index.js';
import { type Column, storedTagNameOf } from '@plinth/tsdb-model/columns/column.js';
import { isValid, type RowBatch } from '@plinth/tsdb-model/columns/row-batch.js';
import type { FieldValues } from '@plinth/tsdb-model/parsed-body.js';
import type { TagCondition } from '@plinth/tsdb-model/scan.js';

/** Value of a key column; `undefined` if the row has none. */
export type KeyValue = string | bigint | boolean | undefined;

/**
 * Numbers the combinations of values in some columns, starting at 0. A combination keeps its number
 * until `free` is called.
 */
export interface RowKeys {
  /** Highest number assigned so far, plus 1. Includes freed numbers. */
  readonly size: number;
  readonly sizeBytes: number;
  /**
   * Writes the number of each row to `slots`. Rows without a key column are set to -1, unless
   * `keepsMissing` is set.
   */
  locate(batch: RowBatch, slots: Int32Array): void;
  /** Returns the value of a combination in one column, by the column's position. */
  valueOf(slot: number, position: number): KeyValue;
  /**
   * Returns the numbers of all combinations that meet the conditions. Conditions on other columns
   * are ignored.
   */
  select(conditions: readonly TagCondition[]): Iterable<number>;
  /** Marks the number of an unused combination as available. */
  free(slot: number): void;
}

export interface RowKeysOptions {
  readonly index: SeriesIndex;
  readonly columns: readonly Column[];
  /** If true, a row without the column has the value `undefined` there. */
  readonly keepsMissing: boolean;
}

/** Keys that contain fields are computed for each row; keys of tags only once per series. */
export function createRowKeys(options: RowKeysOptions): RowKeys {
  return options.columns.every((column) => column.kind === 'tag')
    ? new TagKeys(options)
    : new ValueKeys(options);
}

const UNKNOWN = 0;
const IGNORED = -1;

/**
 * Combinations of tags. The combination of a series never changes, so a row costs one array lookup. Each combination
 * stores one of its series, and its values come from the series index, which never removes entries. Numbers are not
 * reused, because there are never more numbers than series.
 */
class TagKeys implements RowKeys {
  readonly #index: SeriesIndex;
  /** Keys of the tags. */
  readonly #tags: readonly string[];
  readonly #keepsMissing: boolean;
  #size = 0;
  /** By series: the number plus 1, `UNKNOWN` or `IGNORED`. */
  #slotOfSeries = new Int32Array(64);
  /** One series of each combination. */
  #seriesOfSlot = new Int32Array(64);
  /** Open-addressing hash table over the value codes: the number plus 1, or 0 if empty. */
  #buckets = new Int32Array(128);

  constructor({ index, columns, keepsMissing }: RowKeysOptions) {
    this.#index = index;
    this.#tags = columns.map(storedTagNameOf);
    this.#keepsMissing = keepsMissing;
  }

  get size(): number {
    return this.#size;
  }

  get sizeBytes(): number {
    return this.#slotOfSeries.byteLength + this.#seriesOfSlot.byteLength + this.#buckets.byteLength;
  }

  locate(batch: RowBatch, slots: Int32Array): void {
    if (this.#slotOfSeries.length < this.#index.count) {
      this.#slotOfSeries = grown(this.#slotOfSeries, this.#index.count);
    }
    for (let row = 0; row < batch.rowCount; row++) {
      const series = batch.seriesOrdinals[row] as number;
      let slot = this.#slotOfSeries[series] as number;
      if (slot === UNKNOWN) {
        slot = this.#resolve(series);
        this.#slotOfSeries[series] = slot;
      }
      slots[row] = slot === IGNORED ? -1 : slot - 1;
    }
  }

  valueOf(slot: number, position: number): KeyValue {
    return this.#index.tagValue(this.#seriesOfSlot[slot] as number, this.#tags[position] as string);
  }

  *select(conditions: readonly TagCondition[]): Iterable<number> {
    const exact = this.#exactCodes(conditions);
    if (exact !== undefined) {
      const slot = exact.includes(undefined) ? -1 : this.#find(exact as number[]); // no code is undefined
      if (slot >= 0) yield slot;
      return;
    }
    const checks = conditions
      .filter(({ tag }) => this.#tags.includes(this.#index.storedNameOf(tag)))
      .map((condition) => ({
        tag: condition.tag,
        codes: new Set(
          condition.values.map((value) => this.#index.codeOfValue(condition.tag, value)),
        ),
        isIn: condition.op === 'in',
      }));
    for (let slot = 0; slot < this.#size; slot++) {
      const series = this.#seriesOfSlot[slot] as number;
      if (
        checks.every(({ tag, codes, isIn }) => codes.has(this.#index.tagCode(series, tag)) === isIn)
      ) {
        yield slot;
      }
    }
  }

  free(): void {
    // Numbers belong to their series and are not reused.
  }

  /**
   * Returns the codes if each column is bound to exactly one value. An entry is undefined if no
   * series has the value.
   */
  #exactCodes(conditions: readonly TagCondition[]): (number | undefined)[] | undefined {
    const codes: (number | undefined)[] = [];
    for (const tag of this.#tags) {
      const exact = conditions.find(
        ({ tag: name, op, values }) =>
          this.#index.storedNameOf(name) === tag && op === 'in' && values.length === 1,
      );
      if (exact === undefined) return undefined;
      codes.push(this.#index.codeOfValue(tag, exact.values[0]));
    }
    return codes;
  }

  #resolve(series: number): number {
    const codes = this.#tags.map((tag) => this.#index.tagCode(series, tag));
    if (!this.#keepsMissing && codes.includes(0)) return IGNORED;
    const found = this.#find(codes);
    if (found >= 0) return found + 1;
    const slot = this.#size;
    if (slot === this.#seriesOfSlot.length)
      this.#seriesOfSlot = grown(this.#seriesOfSlot, slot + 1);
    this.#seriesOfSlot[slot] = series;
    this.#size++;
    if (this.#size * 2 > this.#buckets.length) this.#rehash();
    else this.#place(slot, codes);
    return slot + 1;
  }

  #find(codes: readonly number[]): number {
    const mask = this.#buckets.length - 1;
    for (let place = hashOf(codes) & mask; ; place = (place + 1) & mask) {
      const slot = (this.#buckets[place] as number) - 1;
      if (slot < 0) return -1;
      const series = this.#seriesOfSlot[slot] as number;
      if (codes.every((code, i) => this.#index.tagCode(series, this.#tags[i] as string) === code)) {
        return slot;
      }
    }
  }

  #place(slot: number, codes: readonly number[]): void {
    const mask = this.#buckets.length - 1;
    let place = hashOf(codes) & mask;
    while (this.#buckets[place] !== 0) place = (place + 1) & mask;
    this.#buckets[place] = slot + 1;
  }

  #rehash(): void {
    this.#buckets = new Int32Array(this.#buckets.length * 2);
    for (let slot = 0; slot < this.#size; slot++) {
      const series = this.#seriesOfSlot[slot] as number;
      this.#place(
        slot,
        this.#tags.map((tag) => this.#index.tagCode(series, tag)),
      );
    }
  }
}

/** Combinations that contain fields. Freed numbers are reused. */
class ValueKeys implements RowKeys {
  readonly #index: SeriesIndex;
  readonly #columns: readonly Column[];
  readonly #keepsMissing: boolean;
  readonly #slots = new Map<string, number>();
  /** Values of each combination; `undefined` for a free number. */
  readonly #values: (readonly KeyValue[] | undefined)[] = [];
  readonly #free: number[] = [];
  #sizeBytes = 0;

  constructor({ index, columns, keepsMissing }: RowKeysOptions) {
    this.#index = index;
    this.#columns = columns;
    this.#keepsMissing = keepsMissing;
  }

  get size(): number {
    return this.#values.length;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  locate(batch: RowBatch, slots: Int32Array): void {
    const readers = this.#columns.map((column) => this.#reader(column, batch));
    for (let row = 0; row < batch.rowCount; row++) {
      const values = readers.map((read) => read(row));
      slots[row] = !this.#keepsMissing && values.includes(undefined) ? -1 : this.#slotOf(values);
    }
  }

  valueOf(slot: number, position: number): KeyValue {
    return this.#values[slot]?.[position];
  }

  *select(conditions: readonly TagCondition[]): Iterable<number> {
    const checks = conditions.flatMap(({ tag, op, values }) => {
      const position = this.#columns.findIndex(
        ({ name, kind }) => name === tag && (kind === 'tag' || kind === 'utf8'),
      );
      return position < 0
        ? []
        : [{ position, values: new Set<KeyValue>(values), isIn: op === 'in' }];
    });
    for (let slot = 0; slot < this.#values.length; slot++) {
      const key = this.#values[slot];
      if (key === undefined) continue;
      if (checks.every(({ position, values, isIn }) => values.has(key[position]) === isIn))
        yield slot;
    }
  }

  free(slot: number): void {
    const values = this.#values[slot];
    if (values === undefined) return;
    const key = keyText(values);
    this.#slots.delete(key);
    this.#values[slot] = undefined;
    this.#free.push(slot);
    this.#sizeBytes -= sizeOf(key);
  }

  #slotOf(values: readonly KeyValue[]): number {
    const key = keyText(values);
    const known = this.#slots.get(key);
    if (known !== undefined) return known;
    const slot = this.#free.pop() ?? this.#values.length;
    this.#slots.set(key, slot);
    this.#values[slot] = values;
    this.#sizeBytes += sizeOf(key);
    return slot;
  }

  #reader(column: Column, batch: RowBatch): (row: number) => KeyValue {
    if (column.kind === 'tag') {
      return (row) => this.#index.tagValue(batch.seriesOrdinals[row] as number, column.name);
    }
    const field = batch.fields.find((each) => each.column.id === column.id);
    if (field === undefined) return () => undefined;
    const { data, validity } = field;
    return (row) => (isValid(validity, row) ? fieldValue(data, row) : undefined);
  }
}

function fieldValue(data: FieldValues, row: number): KeyValue {
  switch (data.type) {
    case 'utf8':
      return textAt(data, row);
    case 'bool':
      return data.values[row] === 1;
    case 'int64':
    case 'uint64':
      return data.values[row];
    case 'float64':
      return undefined; // key columns never have this type
  }
}

export function textAt(data: Extract<FieldValues, { type: 'utf8' }>, row: number): string {
  const { bytes, offsets } = data;
  const start = offsets[row] as number;
  const end = offsets[row + 1] as number;
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString();
}

/** Formats the values of a key. Each column has one type, so the text does not include the kind of a value. */
function keyText(values: readonly KeyValue[]): string {
  let text = '';
  for (const value of values) {
    if (value === undefined) text += '-;';
    else {
      const part = String(value);
      text += `${part.length}:${part};`;
    }
  }
  return text;
}

/**
 * Estimates the bytes of an entry: the key text, the values, and the overhead of a map and two
 * arrays.
 */
function sizeOf(key: string): number {
  return 4 * key.length + 120;
}

function hashOf(codes: readonly number[]): number {
  let hash = 0x2f6e2b1;
  for (const code of codes) {
    hash = Math.imul(hash ^ code, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}

function grown(values: Int32Array<ArrayBuffer>, least: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.max(least, values.length * 2));
  larger.set(values);
  return larger;
}

import {
  keyOrder,
  type PackedTags,
  putSize,
  readSize,
} from '@plinth/tsdb-model/series/packed-tags.js';
import { TagValues } from './tag-values.js';

/** One tag of all series. */
export interface TagCodes {
  /** Code of each series' value, by series ordinal; 0 if the tag is absent. */
  readonly codes: Int32Array;
  /**
   * `values[code]`; index 0 means "absent". Values are only ever added. Reading it creates all
   * strings.
   */
  readonly values: readonly (string | undefined)[];
  /** Length of `values`. */
  readonly valueCount: number;
  /** `values[code]`, without creating the other strings. */
  text(code: number): string | undefined;
}

export class TagColumn implements TagCodes {
  readonly key: Buffer;
  readonly distinct: TagValues;
  codes: Int32Array;
  /** By code, the latest series with that value; -1 if none. */
  readonly latest: number[] = [-1];
  /** By series, the previous one with the same value; -1 if none. */
  before: Int32Array;

  constructor(key: string, options: { readonly multiplier: number; readonly size: number }) {
    this.key = Buffer.from(key);
    this.distinct = new TagValues(options.multiplier);
    this.codes = new Int32Array(options.size);
    this.before = new Int32Array(options.size);
  }

  get values(): readonly (string | undefined)[] {
    return this.distinct.texts;
  }

  get valueCount(): number {
    return this.distinct.count;
  }

  text(code: number): string | undefined {
    return this.distinct.text(code);
  }

  /** Returns the code of a value; `undefined` if no series has it. */
  codeOf(value: string): number | undefined {
    const bytes = Buffer.from(value);
    const code = this.distinct.find(bytes, 0, bytes.length);
    return code === 0 ? undefined : code;
  }

  /** Records that a series has the value in `bytes`. */
  put(ordinal: number, bytes: Uint8Array, from: number, to: number): void {
    const code = this.distinct.findOrAdd(bytes, from, to);
    if (code === this.latest.length) this.latest.push(-1);
    this.codes[ordinal] = code;
    this.before[ordinal] = this.latest[code] as number;
    this.latest[code] = ordinal;
  }

  grow(size: number): void {
    const codes = new Int32Array(size);
    codes.set(this.codes);
    this.codes = codes;
    const before = new Int32Array(size);
    before.set(this.before);
    this.before = before;
  }
}

/** The columns of tag sets that have the same keys. */
interface Shape {
  readonly keys: readonly string[];
  /** Columns in ascending order of their keys. */
  readonly columns: readonly TagColumn[];
}

/** The tags of all series of a table, by series ordinal. */
export class TagColumns {
  readonly #multiplier: number;
  #size: number;
  readonly #columns = new Map<string, TagColumn>();
  #sorted: readonly (readonly [string, TagColumn])[] = [];
  #shape: Shape = { keys: [], columns: [] };

  /** @param size initial capacity in series. */
  constructor(multiplier: number, size: number) {
    this.#multiplier = multiplier;
    this.#size = size;
  }

  get keys(): IterableIterator<string> {
    return this.#columns.keys();
  }

  find(key: string): TagColumn | undefined {
    return this.#columns.get(key);
  }

  /**
   * Returns the columns of these keys, ascending by key. Faster if `keys` is the array of the
   * previous call.
   */
  of(keys: readonly string[]): readonly TagColumn[] {
    if (keys !== this.#shape.keys) {
      const columns = keyOrder(keys).map((index) => this.#columnOf(keys[index] as string));
      this.#shape = { keys, columns };
    }
    return this.#shape.columns;
  }

  #columnOf(key: string): TagColumn {
    let column = this.#columns.get(key);
    if (column === undefined) {
      column = new TagColumn(key, { multiplier: this.#multiplier, size: this.#size });
      this.#columns.set(key, column);
      this.#sorted = [...this.#columns].sort(([a], [b]) => (a < b ? -1 : 1));
    }
    return column;
  }

  /** Returns the tags of a series, keys ascending. */
  tagsOf(ordinal: number): { readonly keys: string[]; readonly values: string[] } {
    const keys: string[] = [];
    const values: string[] = [];
    for (const [key, column] of this.#sorted) {
      const value = column.distinct.text(column.codes[ordinal] ?? 0);
      if (value === undefined) continue;
      keys.push(key);
      values.push(value);
    }
    return { keys, values };
  }

  /**
   * Writes the packed tags of a series to `target` from `at`, where `sizeOf` bytes must fit.
   * @returns the end position.
   */
  pack(ordinal: number, target: Uint8Array, at: number): number {
    let to = at;
    for (const [, { key, codes, distinct }] of this.#sorted) {
      const code = codes[ordinal] as number; // series ordinals are below the arrays' length
      if (code === 0) continue;
      putSize(target, key.length, to);
      to += 4;
      for (let i = 0; i < key.length; i++) target[to++] = key[i] as number;
      putSize(target, distinct.sizeOf(code), to);
      to = distinct.put(code, target, to + 4);
    }
    return to;
  }

  /** Returns the size of the packed tags of a series. */
  sizeOf(ordinal: number): { readonly tagCount: number; readonly sizeBytes: number } {
    let tagCount = 0;
    let sizeBytes = 0;
    for (const [, { key, codes, distinct }] of this.#sorted) {
      const code = codes[ordinal] as number; // in bounds, as in `pack`
      if (code === 0) continue;
      tagCount++;
      sizeBytes += 8 + key.length + distinct.sizeOf(code);
    }
    return { tagCount, sizeBytes };
  }

  /** Whether the series has exactly these tags. */
  areTagsOf(ordinal: number, columns: readonly TagColumn[], { bytes, from }: PackedTags): boolean {
    let at = from;
    for (const { key, codes, distinct } of columns) {
      const valueFrom = at + 8 + key.length;
      const valueTo = valueFrom + readSize(bytes, valueFrom - 4);
      const code = codes[ordinal] as number; // in bounds, as in `pack`
      if (code === 0 || !distinct.isAt(code, bytes, valueFrom, valueTo)) return false;
      at = valueTo;
    }
    let present = 0;
    for (const [, { codes }] of this.#sorted) if (codes[ordinal] !== 0) present++;
    return present === columns.length;
  }

  /** Stores the tags of a new series. */
  put(ordinal: number, columns: readonly TagColumn[], { bytes, from }: PackedTags): void {
    let at = from;
    for (const column of columns) {
      const valueFrom = at + 8 + column.key.length;
      at = valueFrom + readSize(bytes, valueFrom - 4);
      column.put(ordinal, bytes, valueFrom, at);
    }
  }

  grow(size: number): void {
    this.#size = size;
    for (const column of this.#columns.values()) column.grow(size);
  }
}

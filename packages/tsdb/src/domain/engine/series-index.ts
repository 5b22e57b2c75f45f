import { invariant } from '@plinth/kernel';
import type { TagCondition } from '../../model/scan.js';
import { seriesId } from '../../model/series-id.js';

/** Smallest 64-bit integer: no time has been seen. */
const NEVER = -(2n ** 63n);

/** One tag over all series. */
export interface TagCodes {
  /** By dense number, the code of the series' value; 0 where the tag is absent. */
  readonly codes: Int32Array;
  /** `values[code]`; index 0 stands for "absent". Values are only ever added. */
  readonly values: readonly (string | undefined)[];
}

interface TagColumn extends TagCodes {
  codes: Int32Array;
  readonly values: (string | undefined)[];
  readonly codeOf: Map<string, number>;
  /** By code, the latest series with that value; -1: none. */
  readonly latest: number[];
  /** By series, the one before it with the same value; -1: none. */
  before: Int32Array;
}

/**
 * The distinct tag sets of one table. A series has a dense number (position in memory, this process only) and an id (63-bit
 * hash, the same everywhere). Also knows each series' greatest time so far, so that a row that is later than all before it
 * is known to be a new point without looking anything up.
 */
export class SeriesIndex {
  readonly #seed: bigint;
  #count = 0;
  #ids = new BigInt64Array(64);
  /** The ids as pairs of 32-bit words: comparing them makes no BigInt. */
  #idWords = new Int32Array(this.#ids.buffer);
  #lastTimes = new BigInt64Array(64).fill(NEVER);
  #lastWords = new Int32Array(this.#lastTimes.buffer);
  /** Open addressing over the ids: dense number + 1, 0 = free. */
  #slots = new Int32Array(256);
  readonly #tags = new Map<string, TagColumn>();
  #sortedTags: readonly (readonly [string, TagColumn])[] = [];
  readonly #keyOrder = new KeyOrder();

  constructor(seed: bigint) {
    this.#seed = seed;
  }

  get count(): number {
    return this.#count;
  }

  /** Ids by dense number; valid until the next `resolve` or `load`. */
  get idWords(): Int32Array {
    return this.#idWords;
  }

  idOf(dense: number): bigint {
    return this.#ids[dense] as bigint;
  }

  /** Dense number of the id made of two 32-bit words; -1 when there is none. */
  denseOf(low: number, high: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = (low ^ high) & mask; ; slot = (slot + 1) & mask) {
      const dense = (this.#slots[slot] as number) - 1;
      if (dense < 0) return -1;
      if (this.#idWords[dense * 2] === low && this.#idWords[dense * 2 + 1] === high) return dense;
    }
  }

  get tagKeys(): IterableIterator<string> {
    return this.#tags.keys();
  }

  /** No row of the series is later. */
  lastTimeOf(dense: number): bigint {
    return this.#lastTimes[dense] as bigint;
  }

  tagValue(dense: number, tag: string): string | undefined {
    const column = this.#tags.get(tag);
    return column?.values[column.codes[dense] ?? 0];
  }

  /** Stands for the value among the values of the tag, as long as this process lives; 0 where it is absent. */
  tagCode(dense: number, tag: string): number {
    return this.#tags.get(tag)?.codes[dense] ?? 0;
  }

  /** A tag of all series at once; `undefined`: no series has it. What is read stays right for the series that are there. */
  tagColumn(tag: string): TagCodes | undefined {
    return this.#tags.get(tag);
  }

  /** Distinct values of a tag, in the order in which they appeared. */
  tagValues(tag: string): readonly string[] {
    // The first place stands for "absent".
    return (this.#tags.get(tag)?.values.slice(1) ?? []) as string[];
  }

  /** Code of a value of a tag; `undefined`: no series has it. */
  codeOfValue(tag: string, value: string | undefined): number | undefined {
    return value === undefined ? 0 : this.#tags.get(tag)?.codeOf.get(value);
  }

  /** Tags of a series, keys ascending. */
  tagsOf(dense: number): { readonly keys: string[]; readonly values: string[] } {
    const keys: string[] = [];
    const values: string[] = [];
    for (const [key, column] of this.#sortedTags) {
      const value = column.values[column.codes[dense] ?? 0];
      if (value === undefined) continue;
      keys.push(key);
      values.push(value);
    }
    return { keys, values };
  }

  /** Dense number of a tag set (any order of tags), made when it is new. */
  resolve(tagKeys: readonly string[], tagValues: readonly string[]): number {
    const [keys, values] = this.#keyOrder.apply(tagKeys, tagValues);
    for (let salt = 0; ; salt++) {
      const id = seriesId(this.#seed, salt, keys, values);
      const found = this.#find(id);
      if (found < 0) return this.#add(id, keys, values, NEVER);
      if (this.#hasTags(found, keys, values)) return found;
    }
  }

  /**
   * Takes over a series from storage under the id it has there.
   * @param lastTime nothing of this series is stored after it.
   */
  load(
    id: bigint,
    tagKeys: readonly string[],
    tagValues: readonly string[],
    lastTime: bigint,
  ): number {
    const [keys, values] = this.#keyOrder.apply(tagKeys, tagValues);
    const found = this.#find(id);
    if (found < 0) return this.#add(id, keys, values, lastTime);
    invariant(this.#hasTags(found, keys, values), 'a stored series id has one tag set');
    if (lastTime > (this.#lastTimes[found] as bigint)) this.#lastTimes[found] = lastTime;
    return found;
  }

  /**
   * Notes a row's time. True when it is later than every earlier row of its series: then it cannot be a point that was
   * written before. `times` must be a whole array of its own buffer position.
   */
  advance(dense: number, timeWords: Int32Array, row: number): boolean {
    const low = timeWords[row * 2] as number;
    const high = timeWords[row * 2 + 1] as number;
    const words = this.#lastWords;
    const lastHigh = words[dense * 2 + 1] as number;
    if (high < lastHigh) return false;
    if (high === lastHigh && low >>> 0 <= (words[dense * 2] as number) >>> 0) return false;
    words[dense * 2] = low;
    words[dense * 2 + 1] = high;
    return true;
  }

  /** Dense numbers of the series that meet all conditions, ascending; `undefined` when there are more than `limit`. */
  select(conditions: readonly TagCondition[], limit: number): number[] | undefined {
    const checks = conditions.map((condition) => this.#matcher(condition));
    const selected: number[] = [];
    const candidates = this.#candidates(conditions);
    if (candidates !== undefined) {
      const found = candidates.filter((dense) => checks.every((check) => check(dense)));
      return found.length > limit ? undefined : found;
    }
    for (let dense = 0; dense < this.#count; dense++) {
      if (!checks.every((check) => check(dense))) continue;
      if (selected.length === limit) return undefined;
      selected.push(dense);
    }
    return selected;
  }

  /** Ascending; all that meet one of the conditions, where a tag has to have certain values. */
  #candidates(conditions: readonly TagCondition[]): number[] | undefined {
    const condition = conditions.find(
      ({ op, values }) => op === 'in' && !values.includes(undefined),
    );
    if (condition === undefined) return undefined;
    const column = this.#tags.get(condition.tag);
    const found: number[] = [];
    for (const value of new Set(condition.values)) {
      const code = value === undefined ? undefined : column?.codeOf.get(value);
      if (column === undefined || code === undefined) continue;
      for (let dense = column.latest[code] ?? -1; dense >= 0; dense = column.before[dense] ?? -1)
        found.push(dense);
    }
    return found.sort((a, b) => a - b);
  }

  #matcher(condition: TagCondition): (dense: number) => boolean {
    const column = this.#tags.get(condition.tag);
    const wanted = new Set<number>();
    for (const value of condition.values) {
      const code = value === undefined ? 0 : column?.codeOf.get(value);
      if (code !== undefined) wanted.add(code);
    }
    const isIn = condition.op === 'in';
    return (dense) => wanted.has(column?.codes[dense] ?? 0) === isIn;
  }

  #hasTags(dense: number, keys: readonly string[], values: readonly string[]): boolean {
    for (let i = 0; i < keys.length; i++) {
      if (this.tagValue(dense, keys[i] as string) !== values[i]) return false;
    }
    let present = 0;
    for (const column of this.#tags.values()) if ((column.codes[dense] ?? 0) !== 0) present++;
    return present === keys.length;
  }

  #find(id: bigint): number {
    return this.denseOf(Number(BigInt.asIntN(32, id)), Number(id >> 32n));
  }

  #add(id: bigint, keys: readonly string[], values: readonly string[], lastTime: bigint): number {
    const dense = this.#count;
    if (dense === this.#ids.length) this.#grow();
    this.#ids[dense] = id;
    this.#lastTimes[dense] = lastTime;
    for (let i = 0; i < keys.length; i++)
      this.#setTag(dense, keys[i] as string, values[i] as string);
    this.#count++;
    if (this.#count * 2 > this.#slots.length) this.#rehash(this.#slots.length * 2);
    else this.#place(dense);
    return dense;
  }

  #setTag(dense: number, key: string, value: string): void {
    let column = this.#tags.get(key);
    if (column === undefined) {
      column = {
        codes: new Int32Array(this.#ids.length),
        values: [undefined],
        codeOf: new Map(),
        latest: [-1],
        before: new Int32Array(this.#ids.length),
      };
      this.#tags.set(key, column);
      this.#sortedTags = [...this.#tags].sort(([a], [b]) => (a < b ? -1 : 1));
    }
    let code = column.codeOf.get(value);
    if (code === undefined) {
      code = column.values.length;
      column.values.push(value);
      column.latest.push(-1);
      column.codeOf.set(value, code);
    }
    column.codes[dense] = code;
    column.before[dense] = column.latest[code] as number;
    column.latest[code] = dense;
  }

  #place(dense: number): void {
    const mask = this.#slots.length - 1;
    const words = this.#idWords;
    let slot = ((words[dense * 2] as number) ^ (words[dense * 2 + 1] as number)) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = dense + 1;
  }

  #rehash(size: number): void {
    this.#slots = new Int32Array(size);
    for (let dense = 0; dense < this.#count; dense++) this.#place(dense);
  }

  #grow(): void {
    const size = this.#ids.length * 2;
    const ids = new BigInt64Array(size);
    ids.set(this.#ids);
    this.#ids = ids;
    this.#idWords = new Int32Array(ids.buffer);
    const lastTimes = new BigInt64Array(size).fill(NEVER);
    lastTimes.set(this.#lastTimes);
    this.#lastTimes = lastTimes;
    this.#lastWords = new Int32Array(lastTimes.buffer);
    for (const column of this.#tags.values()) {
      const codes = new Int32Array(size);
      codes.set(column.codes);
      column.codes = codes;
      const before = new Int32Array(size);
      before.set(column.before);
      column.before = before;
    }
  }
}

/** Brings tags into the order of their keys. Series that come together share one array of keys, looked at once. */
class KeyOrder {
  #given: readonly string[] = [];
  #sorted: readonly string[] = [];
  /** Place of each sorted key among the given ones; `undefined`: they are sorted. */
  #places: readonly number[] | undefined;

  apply(
    keys: readonly string[],
    values: readonly string[],
  ): readonly [readonly string[], readonly string[]] {
    if (keys !== this.#given) this.#look(keys);
    const places = this.#places;
    if (places === undefined) return [keys, values];
    return [this.#sorted, places.map((place) => values[place] as string)];
  }

  #look(keys: readonly string[]): void {
    const places = keys.map((_, i) => i);
    places.sort((a, b) => ((keys[a] as string) < (keys[b] as string) ? -1 : 1));
    const isSorted = places.every((place, i) => place === i);
    this.#given = keys;
    this.#sorted = isSorted ? keys : places.map((place) => keys[place] as string);
    this.#places = isSorted ? undefined : places;
  }
}

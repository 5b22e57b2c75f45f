import { invariant } from '@plinth/kernel';
import { keyOrder, type PackedTags, packTags, putSize, readSize } from '../../model/packed-tags.js';
import type { TagCondition } from '../../model/scan.js';
import { seriesId, type Words } from '../../model/series-id.js';
import { TagValues } from './tag-values.js';

/** Smallest 64-bit integer: no time has been seen. */
const NEVER = -(2n ** 63n);

/** One tag over all series. */
export interface TagCodes {
  /** By dense number, the code of the series' value; 0 where the tag is absent. */
  readonly codes: Int32Array;
  /** `values[code]`; index 0 stands for "absent". Values are only ever added. */
  readonly values: readonly (string | undefined)[];
}

class TagColumn implements TagCodes {
  readonly key: Buffer;
  readonly distinct: TagValues;
  codes: Int32Array;
  /** By code, the latest series with that value; -1: none. */
  readonly latest: number[] = [-1];
  /** By series, the one before it with the same value; -1: none. */
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
}

/** The columns of tag sets that have the same keys. */
interface Shape {
  readonly keys: readonly string[];
  /** By key, ascending. */
  readonly columns: readonly TagColumn[];
}

/**
 * The distinct tag sets of one table. A series has a dense number (position in memory, this process only) and an id (63-bit
 * hash, the same everywhere). Also knows each series' greatest time so far, so that a row that is later than all before it
 * is known to be a new point without looking anything up.
 */
export class SeriesIndex {
  readonly #seed: bigint;
  readonly #seedWords: Words;
  readonly #id: Words = { low: 0, high: 0 };
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
  #shape: Shape = { keys: [], columns: [] };

  /** @param seed a secret of the table. */
  constructor(seed: bigint) {
    this.#seed = seed;
    this.#seedWords = wordsOf(seed);
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
    return column?.distinct.text(column.codes[dense] ?? 0);
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
    if (value === undefined) return 0;
    const column = this.#tags.get(tag);
    return column && codeOf(column, value);
  }

  /** Tags of a series, keys ascending. */
  tagsOf(dense: number): { readonly keys: string[]; readonly values: string[] } {
    const keys: string[] = [];
    const values: string[] = [];
    for (const [key, column] of this.#sortedTags) {
      const value = column.distinct.text(column.codes[dense] ?? 0);
      if (value === undefined) continue;
      keys.push(key);
      values.push(value);
    }
    return { keys, values };
  }

  /** Tags of a series, packed, from `at` on in `target`, where `sizeOfTags` bytes must fit. @returns where they end. */
  putTags(dense: number, target: Uint8Array, at: number): number {
    let to = at;
    for (const [, { key, codes, distinct }] of this.#sortedTags) {
      const code = codes[dense] as number; // dense numbers are below the arrays' length
      if (code === 0) continue;
      putSize(target, key.length, to);
      to += 4;
      for (let i = 0; i < key.length; i++) target[to++] = key[i] as number;
      putSize(target, distinct.sizeOf(code), to);
      to = distinct.put(code, target, to + 4);
    }
    return to;
  }

  sizeOfTags(dense: number): { readonly tagCount: number; readonly sizeBytes: number } {
    let tagCount = 0;
    let sizeBytes = 0;
    for (const [, { key, codes, distinct }] of this.#sortedTags) {
      const code = codes[dense] as number; // see `putTags`
      if (code === 0) continue;
      tagCount++;
      sizeBytes += 8 + key.length + distinct.sizeOf(code);
    }
    return { tagCount, sizeBytes };
  }

  /** Dense number of a tag set (any order of tags), made when it is new. */
  resolve(tagKeys: readonly string[], tagValues: readonly string[]): number {
    const [keys, values] = this.#keyOrder.apply(tagKeys, tagValues);
    return this.resolvePacked(keys, packTags(keys, values));
  }

  /** The same for packed tags. @param keys theirs, in any order; costs less when it is the array of the call before. */
  resolvePacked(keys: readonly string[], tags: PackedTags): number {
    const { columns } = this.#shapeOf(keys);
    const id = this.#id;
    for (let salt = 0; ; salt++) {
      seriesId(salt === 0 ? this.#seedWords : wordsOf(this.#seed + BigInt(salt)), tags, id);
      const found = this.denseOf(id.low, id.high);
      if (found < 0) return this.#add(id, columns, tags);
      if (this.#hasTags(found, columns, tags)) return found;
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
    const tags = packTags(keys, values);
    const { columns } = this.#shapeOf(keys);
    const words = wordsOf(id);
    const known = this.denseOf(words.low, words.high);
    invariant(
      known < 0 || this.#hasTags(known, columns, tags),
      'a stored series id has one tag set',
    );
    const dense = known < 0 ? this.#add(words, columns, tags) : known;
    if (lastTime > (this.#lastTimes[dense] as bigint)) this.#lastTimes[dense] = lastTime;
    return dense;
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
      const code = value === undefined ? undefined : this.codeOfValue(condition.tag, value);
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
      const code = this.codeOfValue(condition.tag, value);
      if (code !== undefined) wanted.add(code);
    }
    const isIn = condition.op === 'in';
    return (dense) => wanted.has(column?.codes[dense] ?? 0) === isIn;
  }

  #shapeOf(keys: readonly string[]): Shape {
    if (keys !== this.#shape.keys) {
      const columns = keyOrder(keys).map((place) => this.#columnOf(keys[place] as string));
      this.#shape = { keys, columns };
    }
    return this.#shape;
  }

  #columnOf(key: string): TagColumn {
    let column = this.#tags.get(key);
    if (column === undefined) {
      const multiplier = Math.imul(this.#seedWords.low ^ this.#seedWords.high, 0x9e3779b1);
      column = new TagColumn(key, { multiplier, size: this.#ids.length });
      this.#tags.set(key, column);
      this.#sortedTags = [...this.#tags].sort(([a], [b]) => (a < b ? -1 : 1));
    }
    return column;
  }

  #hasTags(dense: number, columns: readonly TagColumn[], { bytes, from }: PackedTags): boolean {
    let at = from;
    for (const { key, codes, distinct } of columns) {
      const valueFrom = at + 8 + key.length;
      const valueTo = valueFrom + readSize(bytes, valueFrom - 4);
      const code = codes[dense] as number; // dense numbers are below the arrays' length
      if (code === 0 || !distinct.isAt(code, bytes, valueFrom, valueTo)) return false;
      at = valueTo;
    }
    let present = 0;
    for (const [, { codes }] of this.#sortedTags) if (codes[dense] !== 0) present++;
    return present === columns.length;
  }

  #add(id: Words, columns: readonly TagColumn[], { bytes, from }: PackedTags): number {
    const dense = this.#count;
    if (dense === this.#ids.length) this.#grow();
    this.#idWords[dense * 2] = id.low;
    this.#idWords[dense * 2 + 1] = id.high;
    let at = from;
    for (const column of columns) {
      const valueFrom = at + 8 + column.key.length;
      at = valueFrom + readSize(bytes, valueFrom - 4);
      const code = column.distinct.findOrAdd(bytes, valueFrom, at);
      if (code === column.latest.length) column.latest.push(-1);
      column.codes[dense] = code;
      column.before[dense] = column.latest[code] as number;
      column.latest[code] = dense;
    }
    this.#count++;
    if (this.#count * 2 > this.#slots.length) this.#rehash(this.#slots.length * 2);
    else this.#place(dense);
    return dense;
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

function wordsOf(number: bigint): Words {
  return { low: Number(BigInt.asIntN(32, number)), high: Number(BigInt.asIntN(32, number >> 32n)) };
}

function codeOf({ distinct }: TagColumn, value: string): number | undefined {
  const bytes = Buffer.from(value);
  const code = distinct.find(bytes, 0, bytes.length);
  return code === 0 ? undefined : code;
}

/** Brings tags into the order of their keys. Series that come together have the same keys, looked at once. */
class KeyOrder {
  #given: readonly string[] = [];
  #sorted: readonly string[] = [];
  /** Place of each sorted key among the given ones; `undefined`: they are sorted. */
  #places: readonly number[] | undefined;

  apply(
    keys: readonly string[],
    values: readonly string[],
  ): readonly [readonly string[], readonly string[]] {
    if (keys !== this.#given && !areSame(keys, this.#given)) this.#look(keys);
    const places = this.#places;
    if (places === undefined) return [this.#sorted, values];
    return [this.#sorted, places.map((place) => values[place] as string)];
  }

  #look(keys: readonly string[]): void {
    const places = keyOrder(keys);
    const isSorted = places.every((place, i) => place === i);
    this.#given = keys;
    this.#sorted = isSorted ? keys : places.map((place) => keys[place] as string);
    this.#places = isSorted ? undefined : places;
  }
}

function areSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((key, i) => key === b[i]);
}

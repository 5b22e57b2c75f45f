import { invariant } from '@plinth/kernel';
import type { TagCondition } from '../../../model/scan.js';
import { type PackedTags, packTags } from '../../../model/series/packed-tags.js';
import { seriesId, type Words } from '../../../model/series/series-id.js';
import { KeyOrder } from './key-order.js';
import { SeriesIds } from './series-ids.js';
import { type TagCodes, type TagColumn, TagColumns } from './tag-columns.js';

/** Smallest 64-bit integer: no time has been seen. */
const NEVER = -(2n ** 63n);

/**
 * The distinct tag sets of one table. A series has a dense number (position in memory, this process only) and an id (63-bit
 * hash, the same everywhere). Also knows each series' greatest time so far, so that a row that is later than all before it
 * is known to be a new point without looking anything up.
 */
export class SeriesIndex {
  readonly #seed: bigint;
  readonly #seedWords: Words;
  readonly #id: Words = { low: 0, high: 0 };
  readonly #ids = new SeriesIds();
  readonly #tags: TagColumns;
  readonly #keyOrder = new KeyOrder();
  #lastTimes = new BigInt64Array(this.#ids.capacity).fill(NEVER);
  #lastWords = new Int32Array(this.#lastTimes.buffer);

  /** @param seed a secret of the table. */
  constructor(seed: bigint) {
    this.#seed = seed;
    this.#seedWords = wordsOf(seed);
    const multiplier = Math.imul(this.#seedWords.low ^ this.#seedWords.high, 0x9e3779b1);
    this.#tags = new TagColumns(multiplier, this.#ids.capacity);
  }

  get count(): number {
    return this.#ids.count;
  }

  /** Ids by dense number; valid until the next `resolve` or `load`. */
  get idWords(): Int32Array {
    return this.#ids.words;
  }

  idOf(dense: number): bigint {
    return this.#ids.idOf(dense);
  }

  /** Dense number of the id made of two 32-bit words; -1 when there is none. */
  denseOf(low: number, high: number): number {
    return this.#ids.denseOf(low, high);
  }

  get tagKeys(): IterableIterator<string> {
    return this.#tags.keys;
  }

  /** No row of the series is later. */
  lastTimeOf(dense: number): bigint {
    return this.#lastTimes[dense] as bigint;
  }

  tagValue(dense: number, tag: string): string | undefined {
    const column = this.#tags.find(tag);
    return column?.distinct.text(column.codes[dense] ?? 0);
  }

  /** Stands for the value among the values of the tag, as long as this process lives; 0 where it is absent. */
  tagCode(dense: number, tag: string): number {
    return this.#tags.find(tag)?.codes[dense] ?? 0;
  }

  /** A tag of all series at once; `undefined`: no series has it. What is read stays right for the series that are there. */
  tagColumn(tag: string): TagCodes | undefined {
    return this.#tags.find(tag);
  }

  /** How many distinct values a tag has. */
  valueCount(tag: string): number {
    return (this.#tags.find(tag)?.distinct.count ?? 1) - 1;
  }

  /** Value of a tag by its code; codes start at 1. */
  valueOfCode(tag: string, code: number): string | undefined {
    return this.#tags.find(tag)?.distinct.text(code);
  }

  /** Distinct values of a tag, in the order in which they appeared. */
  tagValues(tag: string): readonly string[] {
    // The first place stands for "absent".
    return (this.#tags.find(tag)?.values.slice(1) ?? []) as string[];
  }

  /** Code of a value of a tag; `undefined`: no series has it. */
  codeOfValue(tag: string, value: string | undefined): number | undefined {
    if (value === undefined) return 0;
    const column = this.#tags.find(tag);
    return column?.codeOf(value);
  }

  /** Tags of a series, keys ascending. */
  tagsOf(dense: number): { readonly keys: string[]; readonly values: string[] } {
    return this.#tags.tagsOf(dense);
  }

  /** Tags of a series, packed, from `at` on in `target`, where `sizeOfTags` bytes must fit. @returns where they end. */
  putTags(dense: number, target: Uint8Array, at: number): number {
    return this.#tags.pack(dense, target, at);
  }

  sizeOfTags(dense: number): { readonly tagCount: number; readonly sizeBytes: number } {
    return this.#tags.sizeOf(dense);
  }

  /** Dense number of a tag set (any order of tags), made when it is new. */
  resolve(tagKeys: readonly string[], tagValues: readonly string[]): number {
    const [keys, values] = this.#keyOrder.apply(tagKeys, tagValues);
    return this.resolvePacked(keys, packTags(keys, values));
  }

  /** The same for packed tags. @param keys theirs, in any order; costs less when it is the array of the call before. */
  resolvePacked(keys: readonly string[], tags: PackedTags): number {
    const columns = this.#tags.of(keys);
    const id = this.#id;
    for (let salt = 0; ; salt++) {
      seriesId(salt === 0 ? this.#seedWords : wordsOf(this.#seed + BigInt(salt)), tags, id);
      const found = this.denseOf(id.low, id.high);
      if (found < 0) return this.#add(id, columns, tags);
      if (this.#tags.areTagsOf(found, columns, tags)) return found;
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
    const columns = this.#tags.of(keys);
    const words = wordsOf(id);
    const known = this.denseOf(words.low, words.high);
    invariant(
      known < 0 || this.#tags.areTagsOf(known, columns, tags),
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
    for (let dense = 0; dense < this.count; dense++) {
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
    const column = this.#tags.find(condition.tag);
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
    const column = this.#tags.find(condition.tag);
    const wanted = new Set<number>();
    for (const value of condition.values) {
      const code = this.codeOfValue(condition.tag, value);
      if (code !== undefined) wanted.add(code);
    }
    const isIn = condition.op === 'in';
    return (dense) => wanted.has(column?.codes[dense] ?? 0) === isIn;
  }

  #add(id: Words, columns: readonly TagColumn[], tags: PackedTags): number {
    const { capacity } = this.#ids;
    const dense = this.#ids.add(id);
    if (this.#ids.capacity > capacity) this.#grow(this.#ids.capacity);
    this.#tags.put(dense, columns, tags);
    return dense;
  }

  #grow(size: number): void {
    this.#tags.grow(size);
    const lastTimes = new BigInt64Array(size).fill(NEVER);
    lastTimes.set(this.#lastTimes);
    this.#lastTimes = lastTimes;
    this.#lastWords = new Int32Array(lastTimes.buffer);
  }
}

function wordsOf(number: bigint): Words {
  return { low: Number(BigInt.asIntN(32, number)), high: Number(BigInt.asIntN(32, number >> 32n)) };
}

import { invariant } from '@plinth/kernel';
import { MIN_INT64 } from '@plinth/tsdb-model/columns/int64.js';
import type { TagCondition } from '@plinth/tsdb-model/scan.js';
import { type PackedTags, packTags, unpackValues } from '@plinth/tsdb-model/series/packed-tags.js';
import { seriesId, type Words } from '@plinth/tsdb-model/series/series-id.js';
import type { SeriesLookup } from '@plinth/tsdb-model/series/series-lookup.js';
import { isStepEnd, type Steps, sorted } from '@plinth/tsdb-model/time-sliced-task.js';
import { KeyOrder } from './key-order.js';
import { SeriesIds } from './series-ids.js';
import { type TagCodes, type TagColumn, TagColumns } from './tag-columns.js';
import type { TagNames } from './tag-names.js';

/** Smallest 64-bit integer: no row has been seen. */
const NEVER = MIN_INT64;

/**
 * The distinct tag sets of one table. A series has an ordinal (index in memory, valid in this
 * process) and an id (63-bit hash, the same everywhere). The index also keeps each series' latest
 * timestamp: a later row must be a new point, without any lookup.
 */
export class SeriesIndex implements SeriesLookup {
  readonly #seed: bigint;
  readonly #seedWords: Words;
  readonly #id: Words = { low: 0, high: 0 };
  readonly #ids = new SeriesIds();
  readonly #tags: TagColumns;
  readonly #keyOrder = new KeyOrder();
  /** Absent if no tag was renamed. */
  #names: TagNames | undefined;
  #lastTimes = new BigInt64Array(this.#ids.capacity).fill(NEVER);
  #lastWords = new Int32Array(this.#lastTimes.buffer);

  /** @param seed secret of the table for the id hash. */
  constructor(seed: bigint) {
    this.#seed = seed;
    this.#seedWords = wordsOf(seed);
    const multiplier = Math.imul(this.#seedWords.low ^ this.#seedWords.high, 0x9e3779b1);
    this.#tags = new TagColumns(multiplier, this.#ids.capacity);
  }

  get count(): number {
    return this.#ids.count;
  }

  /**
   * The index stores tags by their stored names: the names at their creation
   * (`Column.storedTagName`). All functions accept current, former and stored names.
   */
  set names(names: TagNames) {
    this.#names = names.areStored ? undefined : names;
  }

  /** See `Column.storedTagName`. */
  storedNameOf(tag: string): string {
    return this.#names?.storedNameOf(tag) ?? tag;
  }

  /** Ids by series ordinal; valid until the next `resolve` or `load`. */
  get seriesIdWords(): Int32Array {
    return this.#ids.words;
  }

  idOf(ordinal: number): bigint {
    return this.#ids.idOf(ordinal);
  }

  /** Returns the series ordinal of an id given as two 32-bit words; -1 if unknown. */
  ordinalOf(low: number, high: number): number {
    return this.#ids.ordinalOf(low, high);
  }

  /** Current names of the tags. */
  get tagNames(): Iterable<string> {
    const names = this.#names;
    return names === undefined ? this.#tags.keys : [...this.#tags.keys].map((k) => names.nameOf(k));
  }

  /** Returns the latest timestamp of the series. */
  lastTimeOf(ordinal: number): bigint {
    return this.#lastTimes[ordinal] as bigint;
  }

  tagValue(ordinal: number, tag: string): string | undefined {
    const column = this.#find(tag);
    return column?.distinct.text(column.codes[ordinal] ?? 0);
  }

  /** Returns the code of the series' value of the tag, valid in this process; 0 if absent. */
  tagCode(ordinal: number, tag: string): number {
    return this.#find(tag)?.codes[ordinal] ?? 0;
  }

  /**
   * Returns one tag of all series; `undefined` if no series has it. The result stays valid for the
   * series present at the call.
   */
  tagColumn(tag: string): TagCodes | undefined {
    return this.#find(tag);
  }

  /** Returns the number of distinct values of a tag. */
  valueCount(tag: string): number {
    return (this.#find(tag)?.distinct.count ?? 1) - 1;
  }

  /** Returns the value of a tag by its code; codes start at 1. */
  valueOfCode(tag: string, code: number): string | undefined {
    return this.#find(tag)?.distinct.text(code);
  }

  /** Returns the distinct values of a tag, in order of first appearance. */
  tagValues(tag: string): readonly string[] {
    // Index 0 means "absent".
    return (this.#find(tag)?.values.slice(1) ?? []) as string[];
  }

  /** Returns the code of a tag value; `undefined` if no series has it. */
  codeOfValue(tag: string, value: string | undefined): number | undefined {
    if (value === undefined) return 0;
    const column = this.#find(tag);
    return column?.codeOf(value);
  }

  /** Returns the tags of a series by their current names, ascending by key. */
  tagsOf(ordinal: number): { readonly keys: string[]; readonly values: string[] } {
    const tags = this.#tags.tagsOf(ordinal);
    const names = this.#names;
    return names === undefined ? tags : { ...tags, keys: tags.keys.map((k) => names.nameOf(k)) };
  }

  /**
   * Writes the packed tags of a series to `target` from `at`, where `sizeOfTags` bytes must fit.
   * @returns the end position.
   */
  putTags(ordinal: number, target: Uint8Array, at: number): number {
    return this.#tags.pack(ordinal, target, at);
  }

  sizeOfTags(ordinal: number): { readonly tagCount: number; readonly sizeBytes: number } {
    return this.#tags.sizeOf(ordinal);
  }

  /** Returns the series ordinal of a tag set (tags in any order); adds it if it is new. */
  resolve(tagNames: readonly string[], tagValues: readonly string[]): number {
    const [keys, values] = this.#keyOrder.apply(this.#storedNamesOf(tagNames), tagValues);
    return this.#resolveKeys(keys, packTags(keys, values));
  }

  /**
   * Like `resolve`, for packed tags. @param keys of the tags, in any order; faster if it is the
   * array of the previous call.
   */
  resolvePacked(keys: readonly string[], tags: PackedTags): number {
    const names = this.#names;
    if (names === undefined || keys.every((key) => names.storedNameOf(key) === key)) {
      return this.#resolveKeys(keys, tags);
    }
    // The keys of the packed tags, and possibly their order, differ from those of the index.
    return this.resolve(keys, unpackValues(keys, tags));
  }

  #resolveKeys(keys: readonly string[], tags: PackedTags): number {
    const columns = this.#tags.of(keys);
    const id = this.#id;
    for (let salt = 0; ; salt++) {
      seriesId(salt === 0 ? this.#seedWords : wordsOf(this.#seed + BigInt(salt)), tags, id);
      const found = this.ordinalOf(id.low, id.high);
      if (found < 0) return this.#add(id, columns, tags);
      if (this.#tags.areTagsOf(found, columns, tags)) return found;
    }
  }

  /**
   * Adds a stored series under its stored id.
   * @param lastTime timestamp after which the series has no stored row.
   */
  load(
    id: bigint,
    tagNames: readonly string[],
    tagValues: readonly string[],
    lastTime: bigint,
  ): number {
    const [keys, values] = this.#keyOrder.apply(this.#storedNamesOf(tagNames), tagValues);
    const tags = packTags(keys, values);
    const columns = this.#tags.of(keys);
    const words = wordsOf(id);
    const known = this.ordinalOf(words.low, words.high);
    invariant(
      known < 0 || this.#tags.areTagsOf(known, columns, tags),
      'a series id is stored with two tag sets',
    );
    const ordinal = known < 0 ? this.#add(words, columns, tags) : known;
    if (lastTime > (this.#lastTimes[ordinal] as bigint)) this.#lastTimes[ordinal] = lastTime;
    return ordinal;
  }

  /**
   * Updates the last timestamp of a series to that of a row. Returns false, without an update, if
   * the row is not later than every earlier row of its series, so that the point may have been
   * written before. `timeWords` must cover a complete array, from its first row.
   */
  advanceLastTime(ordinal: number, timeWords: Int32Array, row: number): boolean {
    const low = timeWords[row * 2] as number;
    const high = timeWords[row * 2 + 1] as number;
    const words = this.#lastWords;
    const lastHigh = words[ordinal * 2 + 1] as number;
    if (high < lastHigh) return false;
    if (high === lastHigh && low >>> 0 <= (words[ordinal * 2] as number) >>> 0) return false;
    words[ordinal * 2] = low;
    words[ordinal * 2 + 1] = high;
    return true;
  }

  /**
   * Returns the series ordinals of the series that meet all conditions, ascending; `undefined` if
   * there are more than `limit`. Series that are added between two steps are not selected.
   */
  *select(
    conditions: readonly TagCondition[],
    limit: number,
  ): Steps<readonly number[] | undefined> {
    const { count } = this;
    // The series with certain values of a tag are found by these values, without a check.
    const listed = conditions.find(({ op, values }) => op === 'in' && !values.includes(undefined));
    const checks: ((ordinal: number) => boolean)[] = [];
    for (const condition of conditions)
      if (condition !== listed) checks.push(yield* this.#matcher(condition));
    const isMet = (ordinal: number): boolean => checks.every((check) => check(ordinal));
    if (listed !== undefined) return yield* this.#selectListed(listed, { count, limit, isMet });
    const selected: number[] = [];
    for (let ordinal = 0; ordinal < count; ordinal++) {
      if (isStepEnd(ordinal)) yield;
      if (!isMet(ordinal)) continue;
      if (selected.length === limit) return undefined;
      selected.push(ordinal);
    }
    return selected;
  }

  /** Like `select`, for one of the listed values and a further condition. */
  *#selectListed(
    { tag, values }: TagCondition,
    options: {
      readonly count: number;
      readonly limit: number;
      readonly isMet: (ordinal: number) => boolean;
    },
  ): Steps<readonly number[] | undefined> {
    const { count, limit, isMet } = options;
    const column = this.#find(tag);
    if (column === undefined) return [];
    const selected: number[] = [];
    let stepCount = 0;
    for (const code of yield* this.#codesOf(tag, values)) {
      for (
        let ordinal = column.latest[code] ?? -1;
        ordinal >= 0;
        ordinal = column.before[ordinal] ?? -1
      ) {
        if (isStepEnd(stepCount++)) yield;
        if (ordinal >= count || !isMet(ordinal)) continue;
        if (selected.length === limit) return undefined;
        selected.push(ordinal);
      }
    }
    return yield* sorted(selected, (a, b) => a - b);
  }

  *#matcher({ tag, op, values }: TagCondition): Steps<(ordinal: number) => boolean> {
    const column = this.#find(tag);
    const codes = yield* this.#codesOf(tag, values);
    const isIn = op === 'in';
    return (ordinal) => codes.has(column?.codes[ordinal] ?? 0) === isIn;
  }

  *#codesOf(tag: string, values: readonly (string | undefined)[]): Steps<ReadonlySet<number>> {
    const codes = new Set<number>();
    for (let i = 0; i < values.length; i++) {
      if (isStepEnd(i)) yield;
      const code = this.codeOfValue(tag, values[i]);
      if (code !== undefined) codes.add(code);
    }
    return codes;
  }

  #find(tag: string): TagColumn | undefined {
    return this.#tags.find(this.storedNameOf(tag));
  }

  #storedNamesOf(tags: readonly string[]): readonly string[] {
    const names = this.#names;
    return names === undefined ? tags : tags.map((tag) => names.storedNameOf(tag));
  }

  #add(id: Words, columns: readonly TagColumn[], tags: PackedTags): number {
    const { capacity } = this.#ids;
    const ordinal = this.#ids.add(id);
    if (this.#ids.capacity > capacity) this.#grow(this.#ids.capacity);
    this.#tags.put(ordinal, columns, tags);
    return ordinal;
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

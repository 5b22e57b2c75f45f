import { compareByteOrder } from '@plinth/tsdb-model/byte-order.js';
import type { GroupKeyOrder } from '@plinth/tsdb-model/query/column-query.js';
import { isStepEnd, type Steps, sorted } from '@plinth/tsdb-model/time-sliced-task.js';
import type { SeriesIndex } from '../../series/series-index.js';
import type { TagCodes } from '../../series/tag-columns.js';
import { tagRanks } from './tag-ranks.js';

/** Groups series by the values of some of their tags. */
export class SeriesGroups {
  readonly #index: SeriesIndex;
  /** One element per tag; `undefined` if no series has the tag. */
  readonly #tags: readonly (TagCodes | undefined)[];
  /** Number of values of each tag; values that are added later are ignored. */
  readonly #valueCounts: readonly number[];
  /**
   * One map per tag: group of the preceding tags and the value's code -> group including this tag.
   */
  readonly #numbers: readonly Map<number, number>[];
  /** One series of each group. */
  readonly #example: number[] = [];

  constructor(index: SeriesIndex, tags: readonly string[]) {
    this.#index = index;
    this.#tags = tags.map((tag) => index.tagColumn(tag));
    this.#valueCounts = this.#tags.map((tag) => tag?.valueCount ?? 0);
    this.#numbers = tags.map(() => new Map());
  }

  get count(): number {
    return this.#example.length;
  }

  /**
   * Returns the number of the series' group; groups are numbered in the order of their first call.
   */
  groupOf(series: number): number {
    let group = 0;
    for (let i = 0; i < this.#tags.length; i++) {
      const tag = this.#tags[i];
      if (tag === undefined) continue;
      const numbers = this.#numbers[i] as Map<number, number>; // the array has one element per tag
      const key = group * (this.#valueCounts[i] as number) + (tag.codes[series] as number);
      const known = numbers.get(key);
      group = known ?? numbers.size;
      if (known === undefined) numbers.set(key, group);
    }
    if (group === this.#example.length) this.#example.push(series);
    return group;
  }

  /** Returns the value of one tag for each group; `undefined` where it is absent. */
  valuesOf(tag: string): readonly (string | undefined)[] {
    const column = this.#index.tagColumn(tag);
    return this.#example.map((series) => column?.text(column.codes[series] as number));
  }

  /** Group numbers in the requested tag order. */
  *sorted(order: readonly GroupKeyOrder[]): Steps<readonly number[]> {
    const groups = this.#example.map((_, group) => group);
    const keys: Float64Array[] = [];
    for (const each of order)
      if (each.key.kind === 'tag') keys.push(yield* this.#ranksOf(each.key.tag, each));
    const [first] = keys;
    if (first === undefined) return groups;
    if (keys.length === 1 && groups.length <= MAX_PACKED) return byRank(first);
    return yield* sorted(groups, (a, b) => {
      for (const ranks of keys) {
        const difference = (ranks[a] as number) - (ranks[b] as number);
        if (difference !== 0) return difference;
      }
      return a - b;
    });
  }

  /** Returns a number for each group that ascends in the order of its tag's values. */
  *#ranksOf(tag: string, { descending, nullsFirst }: GroupKeyOrder): Steps<Float64Array> {
    const column = this.#index.tagColumn(tag);
    const codes = this.#example.map((series) => column?.codes[series] ?? 0);
    const ofNull = nullsFirst ? -BEYOND_RANKS : BEYOND_RANKS;
    if (column === undefined) return new Float64Array(codes.length);
    const allRanks = yield* tagRanks(column, codes.length);
    const some = allRanks === undefined ? yield* ranksOf(column, codes) : undefined;
    const ranks = new Float64Array(codes.length);
    for (let i = 0; i < codes.length; i++) {
      if (isStepEnd(i)) yield;
      const code = codes[i] as number;
      const rank = allRanks?.[code] ?? some?.get(code) ?? 0; // one of the two contains all codes
      ranks[i] = code === 0 ? ofNull : descending ? -rank : rank;
    }
    return ranks;
  }
}

/** A number greater than every code, because codes have 32 bits. */
const BEYOND_RANKS = 2 ** 32;
/** Ranks that are further apart are sorted as numbers. */
const SLOTS_PER_GROUP = 8;
/** A rank and a group number up to this fit exactly into one double. */
const MAX_PACKED = 2 ** 20;

/**
 * Returns the group numbers by rank; equal ranks sort by group number. Sorted without a
 * comparison callback.
 */
function byRank(ranks: Float64Array): readonly number[] {
  const count = ranks.length;
  const slots = slotsOf(ranks);
  if (slots !== undefined) return bySlot(slots);
  const packed = ranks.map((rank, group) => rank * count + group).sort();
  return Array.from({ length: count }, (_, i) => {
    const both = packed[i] as number;
    return both - Math.floor(both / count) * count;
  });
}

/** Small integers from 0 in the same order; `undefined` if the ranks are too far apart. */
function slotsOf(
  ranks: Float64Array,
): { readonly of: Uint32Array; readonly count: number } | undefined {
  let least = BEYOND_RANKS;
  let greatest = -BEYOND_RANKS;
  for (let group = 0; group < ranks.length; group++) {
    const rank = ranks[group] as number;
    if (rank === BEYOND_RANKS || rank === -BEYOND_RANKS) continue;
    if (rank < least) least = rank;
    if (rank > greatest) greatest = rank;
  }
  const width = Math.max(0, greatest - least + 1);
  if (width > ranks.length * SLOTS_PER_GROUP) return undefined;
  const of = new Uint32Array(ranks.length);
  for (let group = 0; group < ranks.length; group++) {
    const rank = ranks[group] as number;
    if (rank === BEYOND_RANKS) of[group] = width + 1;
    else if (rank !== -BEYOND_RANKS) of[group] = rank - least + 1;
  }
  return { of, count: width + 2 };
}

/** This is a counting sort. */
function bySlot({ of, count }: { readonly of: Uint32Array; readonly count: number }): number[] {
  const ends = new Uint32Array(count + 1);
  for (let group = 0; group < of.length; group++)
    ends[(of[group] as number) + 1] = (ends[(of[group] as number) + 1] as number) + 1;
  for (let slot = 1; slot <= count; slot++)
    ends[slot] = (ends[slot] as number) + (ends[slot - 1] as number);
  const groups = new Array<number>(of.length).fill(0);
  for (let group = 0; group < of.length; group++) {
    const slot = of[group] as number;
    const at = ends[slot] as number;
    ends[slot] = at + 1;
    groups[at] = group;
  }
  return groups;
}

/** Returns the ranks of only these values. */
function* ranksOf(tag: TagCodes, codes: readonly number[]): Steps<ReadonlyMap<number, number>> {
  const texts = new Map<number, string>();
  for (let i = 0; i < codes.length; i++) {
    if (isStepEnd(i)) yield;
    const code = codes[i] as number;
    if (code !== 0 && !texts.has(code)) texts.set(code, tag.text(code) ?? '');
  }
  const inOrder = yield* sorted([...texts.keys()], (a, b) =>
    compareByteOrder(texts.get(a) as string, texts.get(b) as string),
  );
  const ranks = new Map<number, number>();
  for (let rank = 0; rank < inOrder.length; rank++) {
    if (isStepEnd(rank)) yield;
    ranks.set(inOrder[rank] as number, rank);
  }
  return ranks;
}

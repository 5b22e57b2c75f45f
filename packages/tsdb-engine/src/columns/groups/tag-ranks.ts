import { compareByteOrder } from '@plinth/tsdb-model/byte-order.js';
import type { Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import type { TagCodes } from '../../series/tag-columns.js';

/** With more values, strings are compared on demand: ranking all of them would take longer. */
const MAX_RANKED = 65_536;
/** Ranks are computed only if there are at most this many values per requested group. */
const VALUES_PER_GROUP = 8;
/** Number of values sorted in one step, which takes a few milliseconds. */
const VALUES_PER_STEP = 4096;

interface Ranked {
  /** Codes in the order of their values, for the first values of the tag. */
  order: Int32Array;
  /** Rank of each code in `order`, from 1; computed on first use. */
  ranks: Int32Array | undefined;
}

/**
 * Cached ranks, collected with the tag. Values are only added, so sorted values keep their order.
 */
const made = new WeakMap<TagCodes['values'], Ranked>();

/**
 * Returns the rank of a tag's value by code, in byte order, from 1; `undefined` if ranking is not
 * worthwhile for so few groups.
 */
export function* tagRanks(
  tag: Pick<TagCodes, 'values' | 'valueCount'>,
  groupCount: number,
): Steps<Int32Array | undefined> {
  if (tag.valueCount > MAX_RANKED) return undefined;
  const { values } = tag;
  const known = made.get(values);
  if (known?.ranks?.length === values.length) return known.ranks;
  if (values.length > groupCount * VALUES_PER_GROUP) return undefined;
  while (values.length - 1 - (made.get(values)?.order.length ?? 0) > VALUES_PER_STEP) {
    rankMore(values, VALUES_PER_STEP);
    yield;
  }
  const ranked = rankMore(values, values.length);
  ranked.ranks = new Int32Array(values.length);
  for (let i = 0; i < ranked.order.length; i++) ranked.ranks[ranked.order[i] as number] = i + 1;
  return ranked.ranks;
}

/** Sorts the next values, up to `count` in total, into the order. */
function rankMore(values: TagCodes['values'], count: number): Ranked {
  const known = made.get(values)?.order ?? new Int32Array(0);
  const first = known.length + 1;
  const added = Array.from(
    { length: Math.min(count, values.length - first) },
    (_, i) => first + i,
  ).sort((a, b) => compareByteOrder(values[a] as string, values[b] as string));
  const ranked: Ranked = { order: merged(known, added, values), ranks: undefined };
  made.set(values, ranked);
  return ranked;
}

/** Merges two sorted lists without common strings. */
function merged(
  known: Int32Array,
  added: readonly number[],
  values: TagCodes['values'],
): Int32Array {
  const order = new Int32Array(known.length + added.length);
  let from = 0;
  for (const [i, code] of added.entries()) {
    const to = insertionIndexOf(values[code] as string, known, from, values);
    order.set(known.subarray(from, to), from + i);
    order[to + i] = code;
    from = to;
  }
  order.set(known.subarray(from), from + added.length);
  return order;
}

/**
 * Returns the number of known values that sort before `text`; at least `from`. Searches in doubling
 * steps, then by bisection.
 */
function insertionIndexOf(
  text: string,
  known: Int32Array,
  from: number,
  values: TagCodes['values'],
): number {
  const isBefore = (at: number): boolean =>
    compareByteOrder(values[known[at] as number] as string, text) < 0;
  let low = from;
  let step = 1;
  while (low + step <= known.length && isBefore(low + step - 1)) {
    low += step;
    step *= 2;
  }
  let high = Math.min(known.length, low + step - 1);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

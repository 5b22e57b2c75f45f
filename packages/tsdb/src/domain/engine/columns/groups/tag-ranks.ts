import { compareByteOrder } from '../../../../model/byte-order.js';
import type { Steps } from '../../../../model/time-sliced-task.js';
import type { TagCodes } from '../../series/tag-columns.js';

/** More values are compared as texts where they have to be: ranks of all would take longer. */
const MAX_RANKED = 65_536;
/** Ranks are made for so many values for each one that is asked about, at most. */
const VALUES_PER_GROUP = 8;
/** Values put into the order in one step: some milliseconds. */
const VALUES_PER_STEP = 4096;

interface Ranked {
  /** Codes in the order of their values; there is one for each of the first values. */
  order: Int32Array;
  /** By code, its place in `order`, from 1 on; made when it is asked for. */
  ranks: Int32Array | undefined;
}

/** By tag, what was made; it goes with the tag. Values are only ever added, so those in order stay in it. */
const made = new WeakMap<TagCodes['values'], Ranked>();

/**
 * By code, the place of a tag's value among all of them in the order of their bytes, from 1 on; `undefined`: not worth it for so
 * few groups.
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

/** Puts the next values, up to `count` of them, into the order. */
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

/** Both are in order already, and no text stands in both. */
function merged(
  known: Int32Array,
  added: readonly number[],
  values: TagCodes['values'],
): Int32Array {
  const order = new Int32Array(known.length + added.length);
  let from = 0;
  for (const [i, code] of added.entries()) {
    const to = placeOf(values[code] as string, known, from, values);
    order.set(known.subarray(from, to), from + i);
    order[to + i] = code;
    from = to;
  }
  order.set(known.subarray(from), from + added.length);
  return order;
}

/** How many known values come before `text`, of which the first `from` do: in steps that double, then by halves. */
function placeOf(
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

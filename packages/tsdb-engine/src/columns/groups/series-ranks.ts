import { compareByteOrder } from '@plinth/tsdb-model/byte-order.js';
import { indices, isStepEnd, type Steps, sorted } from '@plinth/tsdb-model/time-sliced-task.js';
import type { SeriesIndex } from '../../series/series-index.js';

/**
 * Returns the rank of each series in the order of the given tags' values; an absent tag counts as
 * an empty string.
 */
export function* seriesRanks(
  series: Iterable<number>,
  index: SeriesIndex,
  tags: readonly string[],
): Steps<ReadonlyMap<number, number>> {
  const distinct = yield* distinctOf(series);
  const keys: Int32Array[] = [];
  for (const tag of tags) keys.push(yield* tagRanksOf(distinct, index, tag));
  const order = yield* sorted(yield* indices(0, distinct.length), (a, b) => {
    for (const key of keys) {
      const difference = (key[a] as number) - (key[b] as number);
      if (difference !== 0) return difference;
    }
    return 0;
  });
  const ranks = new Map<number, number>();
  for (let rank = 0; rank < order.length; rank++) {
    if (isStepEnd(rank)) yield;
    ranks.set(distinct[order[rank] as number] as number, rank);
  }
  return ranks;
}

function* distinctOf(series: Iterable<number>): Steps<readonly number[]> {
  const seen = new Set<number>();
  const distinct: number[] = [];
  let count = 0;
  for (const one of series) {
    if (isStepEnd(count++)) yield;
    if (seen.has(one)) continue;
    seen.add(one);
    distinct.push(one);
  }
  return distinct;
}

/**
 * Returns the rank of a tag's value for each series. Strings are compared once per value, because
 * most tags have few values.
 */
function* tagRanksOf(
  series: readonly number[],
  index: SeriesIndex,
  tag: string,
): Steps<Int32Array> {
  const codes = new Int32Array(series.length);
  /** Indexed by code; 0 means that the code was not seen yet. */
  const ranks = new Int32Array(index.valueCount(tag) + 1);
  const found: { readonly code: number; readonly text: string }[] = [];
  for (let i = 0; i < series.length; i++) {
    if (isStepEnd(i)) yield;
    const one = series[i] as number;
    const code = index.tagCode(one, tag);
    codes[i] = code;
    if (ranks[code] !== 0) continue;
    ranks[code] = 1;
    found.push({ code, text: index.tagValue(one, tag) ?? '' });
  }
  const inOrder = yield* sorted(found, (a, b) => compareByteOrder(a.text, b.text));
  for (let i = 0; i < inOrder.length; i++) {
    if (isStepEnd(i)) yield;
    ranks[inOrder[i]?.code ?? 0] = i + 1;
  }
  for (let i = 0; i < codes.length; i++) {
    if (isStepEnd(i)) yield;
    codes[i] = ranks[codes[i] as number] as number;
  }
  return codes;
}

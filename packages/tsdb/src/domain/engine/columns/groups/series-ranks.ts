import { compareByteOrder } from '../../../../model/byte-order.js';
import { isStepEnd, type Steps, sorted } from '../../../../model/steps.js';
import type { SeriesIndex } from '../../series/series-index.js';

/** Places of series in the order of their values of the given tags; an absent tag is an empty text. */
export function* seriesRanks(
  series: Iterable<number>,
  index: SeriesIndex,
  tags: readonly string[],
): Steps<ReadonlyMap<number, number>> {
  const distinct = [...new Set(series)];
  const keys: Int32Array[] = [];
  for (const tag of tags) keys.push(yield* tagPlaces(distinct, index, tag));
  const places = yield* sorted(
    distinct.map((_, i) => i),
    (a, b) => {
      for (const key of keys) {
        const difference = (key[a] as number) - (key[b] as number);
        if (difference !== 0) return difference;
      }
      return 0;
    },
  );
  yield;
  return new Map(places.map((place, rank) => [distinct[place] as number, rank]));
}

/** By series, the place of its value of a tag. Texts are compared once for each value: most tags have few. */
function* tagPlaces(series: readonly number[], index: SeriesIndex, tag: string): Steps<Int32Array> {
  const codes = new Int32Array(series.length);
  const texts = new Map<number, string>();
  for (const [i, one] of series.entries()) {
    if (isStepEnd(i)) yield;
    const code = index.tagCode(one, tag);
    codes[i] = code;
    if (!texts.has(code)) texts.set(code, index.tagValue(one, tag) ?? '');
  }
  const inOrder = yield* sorted([...texts], (a, b) => compareByteOrder(a[1], b[1]));
  yield;
  const rankOf = new Map(inOrder.map(([code], rank) => [code, rank]));
  return codes.map((code) => rankOf.get(code) ?? 0);
}

import { compareByteOrder } from '../../../../model/byte-order.js';
import type { SeriesIndex } from '../../series/series-index.js';

/** Places of series in the order of their values of the given tags; an absent tag is an empty text. */
export function seriesRanks(
  series: Iterable<number>,
  index: SeriesIndex,
  tags: readonly string[],
): ReadonlyMap<number, number> {
  const distinct = [...new Set(series)];
  // Texts are compared once for each value of a tag: most tags have few.
  const keys = tags.map((tag) => {
    const codes = distinct.map((one) => index.tagCode(one, tag));
    const texts = new Map<number, string>();
    codes.forEach((code, i) => {
      if (!texts.has(code)) texts.set(code, index.tagValue(distinct[i] as number, tag) ?? '');
    });
    const sorted = [...texts].sort((a, b) => compareByteOrder(a[1], b[1]));
    const rankOf = new Map(sorted.map(([code], rank) => [code, rank]));
    return Int32Array.from(codes, (code) => rankOf.get(code) ?? 0);
  });
  const places = distinct.map((_, i) => i);
  places.sort((a, b) => {
    for (const key of keys) {
      const difference = (key[a] as number) - (key[b] as number);
      if (difference !== 0) return difference;
    }
    return 0;
  });
  return new Map(places.map((place, rank) => [distinct[place] as number, rank]));
}

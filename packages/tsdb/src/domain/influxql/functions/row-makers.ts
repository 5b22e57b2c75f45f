import type { Value } from '../plan/data-type.js';
import { compareValues, type Slice } from './reducers.js';

/** Points of a slice with the greatest (`sign` 1) or smallest values, best first; equal values by time. */
export function topOf(
  { points, from, to }: Slice,
  options: {
    readonly sign: 1 | -1;
    readonly count: number;
    /** Only the best point of each key competes. */
    readonly keyOf?: (index: number) => string;
  },
): number[] {
  const better = (a: number, b: number): number =>
    -options.sign * compareValues(points.values[a] as Value, points.values[b] as Value) ||
    compareValues(points.times[a] as bigint, points.times[b] as bigint) ||
    a - b;
  let candidates = Array.from({ length: to - from }, (_, i) => from + i);
  if (options.keyOf !== undefined) {
    const best = new Map<string, number>();
    for (const index of candidates) {
      const key = options.keyOf(index);
      const known = best.get(key);
      if (known === undefined || better(index, known) < 0) best.set(key, index);
    }
    candidates = [...best.values()];
  }
  return candidates
    .sort(better)
    .slice(0, options.count)
    .sort((a, b) => a - b);
}

/** First points of each value, in order of time. */
export function distinctOf({ points, from, to }: Slice): number[] {
  const seen = new Set<Value>();
  const rows: number[] = [];
  for (let i = from; i < to; i++) {
    const value = points.values[i] as Value;
    if (seen.has(value)) continue;
    seen.add(value);
    rows.push(i);
  }
  return rows.sort(
    (a, b) =>
      compareValues(points.times[a] as bigint, points.times[b] as bigint) ||
      compareValues(points.values[a] as Value, points.values[b] as Value),
  );
}

/** A random choice of `count` points, in order of time: each is as likely as every other. */
export function sampleOf({ from, to }: Slice, count: number, random: () => number): number[] {
  const chosen: number[] = [];
  for (let i = from; i < to; i++) {
    if (chosen.length < count) chosen.push(i);
    else {
      const place = Math.floor(random() * (i - from + 1));
      if (place < count) chosen[place] = i;
    }
  }
  return chosen.sort((a, b) => a - b);
}

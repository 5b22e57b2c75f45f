import { indices, isStepEnd, type Steps, sorted } from '@plinth/tsdb-model/time-sliced-task.js';
import type { Value } from '../plan/data-type.js';
import { compareValues, type Slice } from './aggregates.js';

/**
 * Returns the points of a slice with the greatest (`sign` 1) or smallest values, sorted by time;
 * among equal timestamps, the best value comes first.
 */
export function* topOf(
  { points, from, to }: Slice,
  options: {
    readonly sign: 1 | -1;
    readonly count: number;
    /** If set, only the best point per key is considered. */
    readonly keyOf?: (index: number) => string;
  },
): Steps<readonly number[]> {
  const better = (a: number, b: number): number =>
    -options.sign * compareValues(points.values[a] as Value, points.values[b] as Value) ||
    compareValues(points.times[a] as bigint, points.times[b] as bigint) ||
    a - b;
  let candidates = yield* indices(from, to);
  if (options.keyOf !== undefined) {
    const best = new Map<string, number>();
    for (const index of candidates) {
      if (isStepEnd(index)) yield;
      const key = options.keyOf(index);
      const known = best.get(key);
      if (known === undefined || better(index, known) < 0) best.set(key, index);
    }
    candidates = [...best.values()];
  }
  const ordered = yield* sorted(candidates, better);
  return yield* sorted(ordered.slice(0, options.count), (a, b) =>
    compareValues(points.times[a] as bigint, points.times[b] as bigint),
  );
}

/** Returns the first point of each distinct value, sorted by time. */
export function* distinctOf({ points, from, to }: Slice): Steps<readonly number[]> {
  const seen = new Set<Value>();
  const rows: number[] = [];
  for (let i = from; i < to; i++) {
    if (isStepEnd(i)) yield;
    const value = points.values[i] as Value;
    if (seen.has(value)) continue;
    seen.add(value);
    rows.push(i);
  }
  return yield* sorted(
    rows,
    (a, b) =>
      compareValues(points.times[a] as bigint, points.times[b] as bigint) ||
      compareValues(points.values[a] as Value, points.values[b] as Value),
  );
}

/** Returns a uniform random sample of `count` points, sorted by time. */
export function* sampleOf(
  { from, to }: Slice,
  count: number,
  random: () => number,
): Steps<readonly number[]> {
  const chosen: number[] = [];
  for (let i = from; i < to; i++) {
    if (isStepEnd(i)) yield;
    if (chosen.length < count) chosen.push(i);
    else {
      const place = Math.floor(random() * (i - from + 1));
      if (place < count) chosen[place] = i;
    }
  }
  return yield* sorted(chosen, (a, b) => a - b);
}

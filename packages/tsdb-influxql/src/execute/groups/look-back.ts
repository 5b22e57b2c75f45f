import { isStepEnd, type Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import type { Value } from '../../plan/data-type.js';
import type { Points } from '../series/points.js';
import type { TimeBuckets } from '../time-buckets/time-buckets.js';

/** Points that a look-back has read before the time range, and how many of them a call uses. */
export interface Earlier {
  readonly points: Points;
  readonly count: number;
  /** Start of the look-back. */
  readonly fromNs: bigint;
}

/**
 * Returns the start of the bucket from which empty buckets are filled, so that the buckets before
 * `startNs` that a call uses have a value.
 */
export function fillStart(
  { count, fromNs }: Earlier,
  timeBuckets: TimeBuckets,
  startNs: bigint,
): bigint {
  if (count === 0) return startNs;
  // Reads one extra bucket, because a day may have 23 hours. `keepBefore` drops it.
  const neededNs = startNs - BigInt(count + 1) * timeBuckets.everyNs;
  return neededNs < fromNs ? fromNs : timeBuckets.bucketOf(neededNs).start;
}

/** Puts the last earlier points before the points of the time range, which starts at `startNs`. */
export function* withEarlier(points: Points, earlier: Earlier, startNs: bigint): Steps<Points> {
  const { times, values, otherColumns } = earlier.points;
  if (times.length === 0) return points;
  // The first bucket may start before the time range. Its earlier rows form a separate point.
  const before = times.map((time) => (time < startNs ? time : startNs - 1n));
  const allOtherColumns: Value[][] = [];
  for (const [i, column] of otherColumns?.entries() ?? [])
    allOtherColumns.push(yield* carriedForward(column.concat(points.otherColumns?.[i] ?? [])));
  const all: Points = {
    times: before.concat(points.times),
    values: values.concat(points.values),
    ...(otherColumns !== undefined && { otherColumns: allOtherColumns }),
  };
  return yield* keepBefore(all, startNs, earlier.count + 1);
}

/**
 * Replaces NULL with the last value that is not NULL, as the other columns of a selector require
 * with `fill(previous)`.
 */
function* carriedForward(column: readonly Value[]): Steps<Value[]> {
  const carried: Value[] = [];
  for (const [i, value] of column.entries()) {
    if (isStepEnd(i)) yield;
    carried.push(value ?? carried.at(-1) ?? null);
  }
  return carried;
}

/**
 * Drops the points before `startNs`, except those that have a value at the last `count` times.
 */
export function* keepBefore(points: Points, startNs: bigint, count: number): Steps<Points> {
  const { times, values, otherColumns } = points;
  if (times.length === 0 || (times[0] as bigint) >= startNs) return points;
  const found = times.findIndex((time) => time >= startNs);
  const first = found < 0 ? times.length : found;
  const selected: number[] = [];
  let left = count;
  let time: bigint | undefined;
  for (let i = first - 1; i >= 0; i--) {
    if (isStepEnd(i)) yield;
    if (values[i] === null) continue;
    if (times[i] !== time) {
      if (left === 0) break;
      left--;
      time = times[i];
    }
    selected.push(i);
  }
  selected.reverse();
  const cut = <T>(items: readonly T[]): T[] =>
    selected.map((i) => items[i] as T).concat(items.slice(first));
  return {
    times: cut(times),
    values: cut(values),
    ...(otherColumns !== undefined && { otherColumns: otherColumns.map(cut) }),
  };
}

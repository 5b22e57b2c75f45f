import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { isStepEnd, type Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import type { ColumnPoints, Points } from '../execute/series/points.js';
import type { TimeBuckets } from '../execute/time-buckets/time-buckets.js';
import type { Value } from '../plan/data-type.js';

/**
 * Returns the area under a column's points. With buckets, the area is split at bucket borders by
 * linear interpolation; without buckets the result has time `baseNs`.
 * Source: query-languages, "Aggregates".
 */
export function* integral(
  points: ColumnPoints,
  options: {
    readonly unitNs: bigint;
    readonly timeBuckets: TimeBuckets | undefined;
    readonly baseNs: bigint;
    /**
     * A larger number of buckets, including those between two points, is rejected before any is
     * created.
     */
    readonly bucketLimit: number;
  },
): Steps<Points> {
  const unit = Number(options.unitNs);
  const value = (i: number): number => Number(points.values[i]);
  const area = (seconds: bigint, a: number, b: number): number =>
    ((a + b) / 2) * (Number(seconds) / unit);
  if (points.length === 0) return { times: [], values: [] };
  if (options.timeBuckets === undefined) {
    let sum = 0;
    for (let i = 1; i < points.length; i++) {
      if (isStepEnd(i)) yield;
      sum += area(
        (points.times[i] as bigint) - (points.times[i - 1] as bigint),
        value(i - 1),
        value(i),
      );
    }
    return { times: [options.baseNs], values: [sum] };
  }
  const first = points.times[0] as bigint; // not empty
  const count =
    ((points.times[points.length - 1] as bigint) - first) / options.timeBuckets.everyNs + 1n;
  if (count > BigInt(options.bucketLimit))
    throw tsdbError('bucket_limit_exceeded', { count, limit: options.bucketLimit });
  const times: bigint[] = [];
  const values: Value[] = [];
  let window = options.timeBuckets.bucketOf(first);
  let time = first;
  let height = value(0);
  let sum = 0;
  const close = (): void => {
    times.push(window.start);
    values.push(sum);
    sum = 0;
  };
  let isOpen = false;
  for (let i = 1; i < points.length; i++) {
    if (isStepEnd(i)) yield;
    const nextTime = points.times[i] as bigint;
    const next = value(i);
    if (nextTime === time) {
      height = next;
      continue;
    }
    while (nextTime >= window.end) {
      if (isStepEnd(times.length)) yield;
      const share = Number(window.end - time) / Number(nextTime - time);
      const border = height + (next - height) * share;
      sum += area(window.end - time, height, border);
      close();
      time = window.end;
      height = border;
      window = options.timeBuckets.bucketOf(window.end);
      isOpen = false;
    }
    if (nextTime > time) {
      sum += area(nextTime - time, height, next);
      isOpen = true;
    }
    time = nextTime;
    height = next;
  }
  if (isOpen) close();
  return { times, values };
}

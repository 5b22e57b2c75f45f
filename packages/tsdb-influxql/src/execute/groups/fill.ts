import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { isStepEnd, type Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import type { Fill } from '../../ast/select.js';
import { convertValue, type DataType, isNumeric, type Value } from '../../plan/data-type.js';
import type { Points } from '../series/points.js';
import type { TimeBuckets } from '../time-buckets/time-buckets.js';

export interface FillContext {
  readonly timeBuckets: TimeBuckets;
  readonly fill: Fill;
  /**
   * Time bounds of the statement, both inclusive. Without a lower bound filling starts at the first
   * point.
   */
  readonly minNs: bigint;
  readonly maxNs: bigint;
  readonly hasLowerBound: boolean;
  readonly type: DataType;
  /** A larger number of buckets is rejected before any bucket is created. */
  readonly bucketLimit: number;
  /** True if `previous` refers to the later bucket. */
  readonly isBackward: boolean;
  /** True for counts, whose empty buckets are 0. */
  readonly isCount: boolean;
}

/**
 * Applies `fill` to the empty buckets of a call that has points. Source: query-languages, "fill".
 */
export function* filled(points: Points, at: FillContext): Steps<Points> {
  if (points.times.length === 0 || at.fill.kind === 'none') return points;
  const { timeBuckets } = at;
  const firstTime = points.times[0] as bigint; // not empty
  const start = at.hasLowerBound ? timeBuckets.bucketOf(at.minNs).start : firstTime;
  const lastStart = timeBuckets.bucketOf(at.maxNs).start;
  const count = (lastStart - start) / timeBuckets.everyNs + 1n;
  if (count > BigInt(at.bucketLimit)) {
    throw tsdbError('bucket_limit_exceeded', { count, limit: at.bucketLimit });
  }
  const empty = emptyValue(at);
  const times: bigint[] = [];
  const values: Value[] = [];
  const sources: number[] = [];
  let index = 0;
  let previous: Value = null;
  let previousSource = -1;
  for (let time = start; time <= lastStart || index < points.times.length; ) {
    if (isStepEnd(times.length)) yield;
    const pointTime = points.times[index];
    if (pointTime !== undefined && pointTime <= time) {
      // A bucket may contain several points.
      times.push(pointTime);
      values.push(points.values[index] ?? null);
      sources.push(index);
      if (points.values[index] !== null) {
        previous = points.values[index] ?? null;
        previousSource = index;
      }
      index++;
      if (points.times[index] !== time && pointTime >= time) time = timeBuckets.nextStart(time);
      continue;
    }
    times.push(time);
    // Additional columns of a selector have the values of the same point.
    sources.push(at.fill.kind === 'previous' && !at.isBackward ? previousSource : -1);
    values.push(
      at.fill.kind === 'previous'
        ? at.isBackward
          ? null
          : previous
        : at.fill.kind === 'linear'
          ? between(points, index, time, at)
          : empty,
    );
    time = timeBuckets.nextStart(time);
  }
  if (at.fill.kind === 'previous' && at.isBackward) carryBack(values, sources);
  return {
    times,
    values,
    ...(points.otherColumns !== undefined && {
      otherColumns: points.otherColumns.map((column) =>
        sources.map((i) => (i < 0 ? null : (column[i] ?? null))),
      ),
    }),
  };
}

/** Copies to each empty bucket the value of the next bucket that has one. */
function carryBack(values: Value[], sources: readonly number[]): void {
  let later: Value = null;
  for (let i = values.length - 1; i >= 0; i--) {
    if (sources[i] === -1) values[i] = later;
    else later = values[i] ?? later;
  }
}

function emptyValue({ fill, type, isCount }: FillContext): Value {
  if (fill.kind === 'null') return isCount ? 0n : null;
  return fill.kind === 'number' ? fillNumber(fill.value, type) : null;
}

/** Converts the number of `fill(number)` to the type of a column. */
export function fillNumber(value: number | bigint, type: DataType): Value {
  switch (type) {
    case 'boolean':
      return false;
    case 'string':
    case 'tag':
      return '';
    case 'float':
    case 'integer':
    case 'unsigned':
      return convertValue(value, type);
    default:
      return value;
  }
}

/** Interpolates linearly between the nearest points that have a value. */
function between(points: Points, next: number, time: bigint, at: FillContext): Value {
  if (!isNumeric(at.type)) return null;
  const before = next - 1;
  const after = points.times[next];
  if (before < 0 || after === undefined) return null;
  const a = points.values[before] ?? null;
  const b = points.values[next] ?? null;
  if (a === null || b === null) return null;
  // Interpolates in bucket counts, because nanosecond timestamps exceed the precision of a double.
  // Rounding allows for days of 23 or 25 hours.
  const { everyNs } = at.timeBuckets;
  const start = points.times[before] as bigint;
  const bucketsTo = (end: bigint): number => Number((end - start + everyNs / 2n) / everyNs);
  const length = bucketsTo(after);
  const share = bucketsTo(time);
  const rise = typeof a === 'bigint' ? Number(BigInt(b) - a) : Number(b) - Number(a);
  const value = Number(a) + (rise / length) * share;
  return typeof a === 'bigint' ? within(BigInt(Math.trunc(value)), a, BigInt(b)) : value;
}

/**
 * Clamps an interpolated value to the range of its endpoints. Integers above 53 bits are rounded as
 * doubles and could otherwise fall outside it.
 */
function within(value: bigint, a: bigint, b: bigint): bigint {
  const [low, high] = a < b ? [a, b] : [b, a];
  if (value < low) return low;
  return value > high ? high : value;
}

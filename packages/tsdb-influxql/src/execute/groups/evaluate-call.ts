import { isStepEnd, type Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import { AGGREGATES, type Reducer, type Slice } from '../../functions/aggregates.js';
import { integral } from '../../functions/integral.js';

import { distinctOf, sampleOf, topOf } from '../../functions/row-makers.js';
import type { ColumnRef, CompiledCall } from '../../plan/compile/compiled-select.js';
import { convertValue, type Value } from '../../plan/data-type.js';
import {
  type ColumnPoints,
  type GroupRows,
  NO_POINTS,
  type Points,
  pointsOfColumn,
} from '../series/points.js';
import type { TimeBuckets } from '../time-buckets/time-buckets.js';

export interface CallContext {
  readonly timeBuckets: TimeBuckets | undefined;
  readonly bucketLimit: number;
  /** Time of a value that does not belong to a point. */
  readonly baseNs: bigint;
  /** True if the call is the only one and selects a point, whose own time is then returned. */
  readonly isSelector: boolean;
  readonly random: () => number;
  /** Returns the group column that a reference reads. */
  readonly columnOf: (rows: GroupRows, ref: ColumnRef) => ArrayLike<Value>;
}

/** Computes a call other than a transformation over the rows of one group. */
export function* evaluateCall(call: CompiledCall, rows: GroupRows, at: CallContext): Steps<Points> {
  const { argument } = call;
  if (call.type === 'unknown') return NO_POINTS;
  if (argument.kind === 'call') {
    // count(distinct x)
    const inner = argument.call.argument;
    if (inner.kind !== 'column') return NO_POINTS;
    const points = yield* pointsOfColumn(rows, at.columnOf(rows, inner.ref));
    return yield* reduced(points, at, function* (slice) {
      const distinct = yield* distinctOf(slice);
      return BigInt(distinct.length);
    });
  }
  if (argument.ref.isTag) return NO_POINTS;
  const points = yield* pointsOfColumn(rows, at.columnOf(rows, argument.ref));
  if (points.length === 0) return NO_POINTS;
  const option = Number(call.options[0] ?? 0);
  switch (call.name) {
    case 'integral': {
      const unitNs = typeof call.options[0] === 'bigint' ? call.options[0] : 1_000_000_000n;
      return yield* integral(points, { ...at, unitNs });
    }
    case 'top':
    case 'bottom':
      return yield* pointsByBucket(points, at, 'point', (slice) =>
        topOf(slice, {
          sign: call.name === 'top' ? 1 : -1,
          count: option,
          ...(call.dimensions.length > 0 && { keyOf: keyOf(call, rows, points, at) }),
        }),
      );
    case 'sample':
      return yield* pointsByBucket(points, at, 'point', (slice) =>
        sampleOf(slice, option, at.random),
      );
    case 'distinct':
      return yield* pointsByBucket(points, at, 'bucket', distinctOf);
    default: {
      const { reduce: reducer, pick: picker } = AGGREGATES.get(call.name) ?? {};
      if (reducer !== undefined) {
        return yield* reduced(points, at, function* (slice) {
          const value = yield* reducer(slice);
          // Integers wrap at 64 bits, as in DuckDB.
          return typeof value === 'bigint' ? convertValue(value, call.type) : value;
        });
      }
      if (picker === undefined) return NO_POINTS;
      const time = at.isSelector && at.timeBuckets === undefined ? 'point' : 'bucket';
      return yield* pointsByBucket(points, at, time, function* (slice) {
        const picked = yield* picker(slice, option);
        return picked === undefined ? [] : [picked];
      });
    }
  }
}

function keyOf(call: CompiledCall, rows: GroupRows, points: ColumnPoints, at: CallContext) {
  const columns = call.dimensions.map((ref) => at.columnOf(rows, ref));
  return (index: number): string =>
    JSON.stringify(columns.map((column) => String(column[points.rows[index] as number] ?? '')));
}

/** Computes one value per bucket. */
function* reduced(points: ColumnPoints, at: CallContext, reducer: Reducer): Steps<Points> {
  const times: bigint[] = [];
  const values: Value[] = [];
  for (const { start, slice } of slices(points, at)) {
    times.push(start);
    values.push(yield* reducer(slice));
    if (isStepEnd(times.length)) yield;
  }
  return { times, values };
}

/** Computes the points of each bucket, at their own time or at the bucket start. */
function* pointsByBucket(
  points: ColumnPoints,
  at: CallContext,
  time: 'point' | 'bucket',
  choose: (slice: Slice) => Steps<readonly number[]>,
): Steps<Points> {
  const times: bigint[] = [];
  const values: Value[] = [];
  const rows: number[] = [];
  for (const { start, slice } of slices(points, at)) {
    if (isStepEnd(times.length)) yield;
    for (const index of yield* choose(slice)) {
      times.push(time === 'point' ? (points.times[index] as bigint) : start);
      values.push(points.values[index] as Value);
      rows.push(points.rows[index] as number);
    }
  }
  return { times, values, rows };
}

function* slices(
  points: ColumnPoints,
  { timeBuckets, baseNs }: CallContext,
): Generator<{ readonly start: bigint; readonly slice: Slice }> {
  if (points.length === 0) return;
  if (timeBuckets === undefined) {
    yield { start: baseNs, slice: { points, from: 0, to: points.length } };
    return;
  }
  for (let from = 0; from < points.length; ) {
    const { start, end } = timeBuckets.bucketOf(points.times[from] as bigint);
    let to = from + 1;
    while (to < points.length && (points.times[to] as bigint) < end) to++;
    yield { start, slice: { points, from, to } };
    from = to;
  }
}

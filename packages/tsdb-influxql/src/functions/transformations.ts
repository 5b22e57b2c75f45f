import { isStepEnd, type Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import type { Points } from '../execute/series/points.js';
import { convertValue, type DataType, type Value } from '../plan/data-type.js';
import { TECHNICAL } from '../plan/functions.js';
import { technical } from './technical.js';

export interface TransformOptions {
  readonly options: readonly (number | bigint | string)[];
  /** Type of the computed values. */
  readonly type: DataType;
  /** Default unit of `derivative`. */
  readonly defaultUnitNs: bigint;
}

/**
 * Applies a row transformation; points without a value are skipped. Source: query-languages,
 * "Transformations over rows".
 */
export function* transform(name: string, input: Points, at: TransformOptions): Steps<Points> {
  const points = yield* present(input);
  if (TECHNICAL.has(name)) return yield* technical(name, points, at.options);
  switch (name) {
    case 'derivative':
    case 'non_negative_derivative':
      return yield* derivative(points, unitOf(at, at.defaultUnitNs), name !== 'derivative');
    case 'difference':
    case 'non_negative_difference':
      return yield* difference(points, at.type, name !== 'difference');
    case 'elapsed':
      return yield* elapsed(points, unitOf(at, 1n));
    case 'cumulative_sum':
      return yield* cumulativeSum(points, at.type);
    default:
      return yield* movingAverage(points, Number(at.options[0] ?? 2n));
  }
}

/** Returns the points that have a value. */
function* present(points: Points): Steps<Points> {
  if (!points.values.includes(null)) return points;
  const times: bigint[] = [];
  const values: Value[] = [];
  for (let i = 0; i < points.values.length; i++) {
    if (isStepEnd(i)) yield;
    const value = points.values[i] ?? null;
    if (value === null) continue;
    times.push(points.times[i] as bigint); // as many as values
    values.push(value);
  }
  return { times, values };
}

function unitOf({ options }: TransformOptions, fallback: bigint): bigint {
  const [unit] = options;
  return typeof unit === 'bigint' ? unit : fallback;
}

function* derivative(
  { times, values }: Points,
  unitNs: bigint,
  isNonNegative: boolean,
): Steps<Points> {
  const outTimes: bigint[] = [];
  const out: Value[] = [];
  let previous = 0;
  for (let i = 1; i < times.length; i++) {
    if (isStepEnd(i)) yield;
    const elapsedNs = (times[i] as bigint) - (times[previous] as bigint);
    // A second point with the same time is skipped.
    if (elapsedNs === 0n) continue;
    const change = subtract(values[i] as Value, values[previous] as Value);
    previous = i;
    // In descending order the change keeps its sign; only the elapsed time is absolute.
    const rate = Number(change) / (Math.abs(Number(elapsedNs)) / Number(unitNs));
    if (isNonNegative && rate < 0) continue;
    outTimes.push(times[i] as bigint);
    out.push(rate);
  }
  return { times: outTimes, values: out };
}

/** The exact difference of integers may exceed 64 bits. */
function subtract(a: Value, b: Value): number | bigint {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a - b;
  return Number(a) - Number(b);
}

function* difference(
  { times, values }: Points,
  type: DataType,
  isNonNegative: boolean,
): Steps<Points> {
  const outTimes: bigint[] = [];
  const out: Value[] = [];
  let previous = 0;
  for (let i = 1; i < times.length; i++) {
    if (isStepEnd(i)) yield;
    if (times[i] === times[previous]) continue;
    const exact = subtract(values[i] as Value, values[previous] as Value);
    previous = i;
    const change = convertValue(exact, type) as number | bigint; // wraps at 64 bits
    if (isNonNegative && (exact < 0 || change < 0)) continue;
    outTimes.push(times[i] as bigint);
    out.push(change);
  }
  return { times: outTimes, values: out };
}

function* elapsed({ times }: Points, unitNs: bigint): Steps<Points> {
  const values: Value[] = [];
  for (let i = 1; i < times.length; i++) {
    if (isStepEnd(i)) yield;
    // Wraps at 64 bits, like all integers.
    values.push(BigInt.asIntN(64, (times[i] as bigint) - (times[i - 1] as bigint)) / unitNs);
  }
  return { times: times.slice(1), values };
}

function* cumulativeSum({ times, values }: Points, type: DataType): Steps<Points> {
  const out: Value[] = [];
  let sum: number | bigint = typeof values[0] === 'bigint' ? 0n : 0;
  for (const value of values) {
    if (isStepEnd(out.length)) yield;
    sum =
      typeof sum === 'bigint'
        ? (convertValue(sum + (value as bigint), type) as bigint) // one type per column; wraps at 64 bits
        : sum + Number(value);
    out.push(sum);
  }
  return { times, values: out };
}

/**
 * Computes the mean of the last `size` values. The window is a running sum of the current block
 * plus a suffix sum of the previous block. Floats are never subtracted, because that would lose
 * precision next to large values.
 */
function* movingAverage({ times, values }: Points, size: number): Steps<Points> {
  const outTimes: bigint[] = [];
  const out: Value[] = [];
  const numbers = values as (number | bigint)[]; // of numeric columns, without NULL
  let sums: readonly (number | bigint)[] = [];
  const [first = 0] = numbers;
  const zero = typeof first === 'bigint' ? 0n : 0;
  let sum: number | bigint = zero;
  for (let i = 0; i < numbers.length; i++) {
    if (isStepEnd(i)) yield;
    const place = i % size;
    sum = plus(place === 0 ? zero : sum, numbers[i] as number | bigint);
    if (i < size - 1) continue;
    const isWhole = place === size - 1;
    if (isWhole) sums = yield* sumsToEnd(numbers, i + 1 - size, i + 1);
    outTimes.push(times[i] as bigint);
    out.push(Number(isWhole ? sum : plus(sums[place + 1] as number | bigint, sum)) / size);
  }
  return { times: outTimes, values: out };
}

/** Returns the suffix sum at each index of `[from, to)`. */
function* sumsToEnd(
  values: readonly (number | bigint)[],
  from: number,
  to: number,
): Steps<readonly (number | bigint)[]> {
  const sums = values.slice(from, to);
  for (let i = sums.length - 2; i >= 0; i--) {
    if (isStepEnd(i)) yield;
    sums[i] = plus(sums[i] as number | bigint, sums[i + 1] as number | bigint);
  }
  return sums;
}

/** Adds two numbers of one type. */
function plus(a: number | bigint, b: number | bigint): number | bigint {
  return typeof a === 'bigint' ? a + (b as bigint) : a + (b as number);
}

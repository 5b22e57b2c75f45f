import type { Points } from '../execute/points.js';
import type { Value } from '../plan/data-type.js';
import { TECHNICAL } from '../plan/functions.js';
import { technical } from './technical.js';

export interface TransformOptions {
  readonly options: readonly (number | bigint | string)[];
  /** Unit of `derivative` when it names none. */
  readonly defaultUnitNs: bigint;
}

/** Rows made from rows; points without a value are passed over. Source: query-languages, "Transformations over rows". */
export function transform(name: string, input: Points, at: TransformOptions): Points {
  const points = present(input);
  if (TECHNICAL.has(name)) return technical(name, points, at.options);
  switch (name) {
    case 'derivative':
    case 'non_negative_derivative':
      return derivative(points, unitOf(at, at.defaultUnitNs), name !== 'derivative');
    case 'difference':
    case 'non_negative_difference':
      return difference(points, name !== 'difference');
    case 'elapsed':
      return elapsed(points, unitOf(at, 1n));
    case 'cumulative_sum':
      return cumulativeSum(points);
    default:
      return movingAverage(points, Number(at.options[0] ?? 2n));
  }
}

/** The points that have a value. */
export function present(points: Points): Points {
  if (!points.values.includes(null)) return points;
  const times: bigint[] = [];
  const values: Value[] = [];
  points.values.forEach((value, i) => {
    if (value === null) return;
    times.push(points.times[i] as bigint); // as many as values
    values.push(value);
  });
  return { times, values };
}

function unitOf({ options }: TransformOptions, fallback: bigint): bigint {
  const [unit] = options;
  return typeof unit === 'bigint' ? unit : fallback;
}

function derivative({ times, values }: Points, unitNs: bigint, isNonNegative: boolean): Points {
  const outTimes: bigint[] = [];
  const out: Value[] = [];
  let previous = 0;
  for (let i = 1; i < times.length; i++) {
    const elapsedNs = (times[i] as bigint) - (times[previous] as bigint);
    // A second point of one time is passed over.
    if (elapsedNs === 0n) continue;
    const change = subtract(values[i] as Value, values[previous] as Value);
    previous = i;
    // Backward in time the change counts as it is met, per unit that passed.
    const rate = Number(change) / (Math.abs(Number(elapsedNs)) / Number(unitNs));
    if (isNonNegative && rate < 0) continue;
    outTimes.push(times[i] as bigint);
    out.push(rate);
  }
  return { times: outTimes, values: out };
}

function subtract(a: Value, b: Value): number | bigint {
  if (typeof a === 'bigint' && typeof b === 'bigint') return BigInt.asIntN(64, a - b);
  return Number(a) - Number(b);
}

function difference({ times, values }: Points, isNonNegative: boolean): Points {
  const outTimes: bigint[] = [];
  const out: Value[] = [];
  let previous = 0;
  for (let i = 1; i < times.length; i++) {
    if (times[i] === times[previous]) continue;
    const change = subtract(values[i] as Value, values[previous] as Value);
    previous = i;
    if (isNonNegative && change < 0) continue;
    outTimes.push(times[i] as bigint);
    out.push(change);
  }
  return { times: outTimes, values: out };
}

function elapsed({ times }: Points, unitNs: bigint): Points {
  return {
    times: times.slice(1),
    values: times.slice(1).map((time, i) => (time - (times[i] as bigint)) / unitNs),
  };
}

function cumulativeSum({ times, values }: Points): Points {
  const out: Value[] = [];
  let sum: number | bigint = typeof values[0] === 'bigint' ? 0n : 0;
  for (const value of values) {
    sum =
      typeof sum === 'bigint' ? BigInt.asIntN(64, sum + (value as bigint)) : sum + Number(value); // one type a column
    out.push(sum);
  }
  return { times, values: out };
}

function movingAverage({ times, values }: Points, size: number): Points {
  const outTimes: bigint[] = [];
  const out: Value[] = [];
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    // What leaves the window is taken off first: sums of floats depend on their order.
    if (i >= size) sum -= Number(values[i - size]);
    sum += Number(values[i]);
    if (i < size - 1) continue;
    outTimes.push(times[i] as bigint);
    out.push(sum / size);
  }
  return { times: outTimes, values: out };
}

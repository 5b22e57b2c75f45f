import { indices, isStepEnd, type Steps, sorted } from '@plinth/tsdb-model/time-sliced-task.js';
import type { ColumnPoints } from '../execute/series/points.js';
import type { DataType, Value } from '../plan/data-type.js';

/** A non-empty part `[from, to)` of a column's points. */
export interface Slice {
  readonly points: ColumnPoints;
  readonly from: number;
  readonly to: number;
}

/**
 * Returns one value for a slice, or `null` if the value is undefined, such as the deviation of one
 * point. Integers may exceed 64 bits.
 */
export type Reducer = (slice: Slice) => Steps<Value>;

/** Returns the index of one point of a slice, or `undefined`. */
export type Picker = (slice: Slice, option: number) => Steps<number | undefined>;

/** DuckDB names of a column and its time. */
export interface DuckDbColumn {
  readonly x: string;
  readonly time: string;
  readonly type: DataType;
  /** True if each group has one series, so that no two of its rows have the same time. */
  readonly isOneSeries: boolean;
}

/** Argument and result types of a field function. */
export interface Signature {
  /** Accepted types other than numbers. */
  readonly takes?: 'any' | 'booleans';
  /**
   * Result type; absent means the type of the field. `signed` is the field's type, except that
   * unsigned becomes integer.
   */
  readonly gives?: 'integer' | 'float' | 'signed';
}

/** Definition of an aggregate or selector: its types and its implementations. */
export interface Aggregate extends Signature {
  /**
   * Returns the DuckDB SQL, whose value is NULL without points. Absent if DuckDB cannot compute
   * the function.
   */
  readonly text?: (column: DuckDbColumn) => string;
  /** Name of the function in a column query. */
  readonly measure?: 'count' | 'sum' | 'mean' | 'min' | 'max';
  /** For a selector, the DuckDB ordering that identifies its point by value `x` or time `t`. */
  readonly best?: 'min(x)' | 'max(x)' | 'min(t)' | 'max(t)';
  /**
   * Implementation over the rows of one series: `reduce` for an aggregate, `pick` for a selector.
   */
  readonly reduce?: Reducer;
  readonly pick?: Picker;
}

/** All aggregates and selectors. Each has either `reduce` (aggregate) or `pick` (selector). */
export const AGGREGATES: ReadonlyMap<string, Aggregate> = new Map<string, Aggregate>([
  [
    'count',
    {
      takes: 'any',
      gives: 'integer',
      text: ({ x }) => `count(${x})`,
      measure: 'count',
      reduce: count,
    },
  ],
  ['sum', { text: ({ x, type }) => inSixtyFour(`sum(${x})`, type), measure: 'sum', reduce: sum }],
  ['mean', { gives: 'float', text: ({ x }) => `avg(${x})`, measure: 'mean', reduce: mean }],
  ['min', extreme('min', -1)],
  ['max', extreme('max', 1)],
  [
    'spread',
    {
      text: ({ x, type }) =>
        type === 'float'
          ? `max(${x}) - min(${x})`
          : inSixtyFour(`max(${x})::HUGEINT - min(${x})`, type),
      reduce: spread,
    },
  ],
  [
    'stddev',
    {
      gives: 'float',
      // A single value has no deviation but still produces a point.
      text: ({ x }) =>
        `CASE count(${x}) WHEN 0 THEN NULL WHEN 1 THEN 'nan'::DOUBLE ELSE stddev_samp(${x}::DOUBLE) END`,
      reduce: stddev,
    },
  ],
  ['median', { gives: 'float', text: ({ x }) => `median(${x}::DOUBLE)`, reduce: median }],
  ['first', { takes: 'any', text: (of) => edgeText('first', of), best: 'min(t)', pick: first }],
  ['last', { takes: 'any', text: (of) => edgeText('last', of), best: 'max(t)', pick: last }],
  ['mode', { takes: 'any', reduce: mode }],
  ['percentile', { pick: percentile }],
]);

function extreme(name: 'min' | 'max', sign: 1 | -1): Aggregate {
  return {
    ...{ takes: 'booleans', text: ({ x }) => `${name}(${x})`, measure: name, best: `${name}(x)` },
    pick: (slice) => extremeOf(slice, sign),
  };
}

/** Returns the first or last value; ties between equal times go to the greatest value. */
function edgeText(name: 'first' | 'last', { x, time, isOneSeries }: DuckDbColumn): string {
  if (isOneSeries) return `${name === 'first' ? 'arg_min' : 'arg_max'}(${x}, ${time})`;
  const order = name === 'first' ? `-epoch_ns(${time})` : time;
  return `arg_max(${x}, CASE WHEN ${x} IS NULL THEN NULL ELSE {'t': ${order}, 'v': ${x}} END)`;
}

/** Wraps integers at 64 bits, as InfluxDB does. */
function inSixtyFour(text: string, type: DataType): string {
  if (type === 'float') return text;
  const shift = type === 'integer' ? 9223372036854775808n : 0n;
  const modulus = 18446744073709551616n;
  const sqlType = type === 'integer' ? 'BIGINT' : 'UBIGINT';
  return `CAST(((${text} + ${shift}) % ${modulus} + ${modulus}) % ${modulus} - ${shift} AS ${sqlType})`;
}

// biome-ignore lint/correctness/useYield: all reducers are generators.
function* count({ from, to }: Slice): Steps<Value> {
  return BigInt(to - from);
}

function* sum({ points, from, to }: Slice): Steps<Value> {
  if (typeof points.values[from] === 'bigint') {
    let total = 0n;
    for (let i = from; i < to; i++) {
      total += points.values[i] as bigint; // all values of a column have one type
      if (isStepEnd(i)) yield;
    }
    return total;
  }
  let total = 0;
  for (let i = from; i < to; i++) {
    total += points.values[i] as number;
    if (isStepEnd(i)) yield;
  }
  return total;
}

function* mean(slice: Slice): Steps<number> {
  const { points, from, to } = slice;
  let total = 0;
  for (let i = from; i < to; i++) {
    total += Number(points.values[i]);
    if (isStepEnd(i)) yield;
  }
  return total / (to - from);
}

function* median({ points, from, to }: Slice): Steps<Value> {
  const numbers: number[] = [];
  for (let i = from; i < to; i++) {
    numbers.push(Number(points.values[i]));
    if (isStepEnd(i)) yield;
  }
  const values = yield* sorted(numbers, (a, b) => a - b);
  const middle = values.length >> 1;
  const upper = values[middle] as number; // never empty
  return values.length % 2 === 1 ? upper : ((values[middle - 1] as number) + upper) / 2;
}

function* spread({ points, from, to }: Slice): Steps<Value> {
  let min = points.values[from] as number | bigint;
  let max = min;
  for (let i = from + 1; i < to; i++) {
    const value = points.values[i] as number | bigint;
    if (value < min) min = value;
    if (value > max) max = value;
    if (isStepEnd(i)) yield;
  }
  return typeof min === 'bigint' ? (max as bigint) - min : (max as number) - min;
}

function* stddev(slice: Slice): Steps<Value> {
  const { points, from, to } = slice;
  const count = to - from;
  if (count < 2) return null;
  const average = yield* mean(slice);
  let squares = 0;
  for (let i = from; i < to; i++) {
    squares += (Number(points.values[i]) - average) ** 2;
    if (isStepEnd(i)) yield;
  }
  return Math.sqrt(squares / (count - 1));
}

/**
 * Returns the most frequent value; counts runs in points sorted by value, then time. Source:
 * query-languages, "Aggregates".
 */
function* mode({ points, from, to }: Slice): Steps<Value> {
  if (typeof points.values[from] === 'boolean') {
    let trueCount = 0;
    for (let i = from; i < to; i++) {
      if (points.values[i] === true) trueCount++;
      if (isStepEnd(i)) yield;
    }
    return trueCount * 2 >= to - from;
  }
  const order = yield* sorted(
    yield* indices(from, to),
    (a, b) =>
      compareValues(points.values[a] as Value, points.values[b] as Value) ||
      compareValues(points.times[a] as bigint, points.times[b] as bigint),
  );
  let current = order[0] as number; // slices are never empty
  let winner = current;
  let count = 0;
  let winnerCount = 0;
  let time = points.times[current] as bigint;
  let winnerTime = time;
  let seen = 0;
  for (const index of order) {
    if (isStepEnd(seen++)) yield;
    if (points.values[index] !== points.values[current]) {
      count = 1;
      current = index;
      time = points.times[index] as bigint;
      continue;
    }
    count++;
    if (winnerCount > count || (winnerCount === count && time > winnerTime)) continue;
    winner = index;
    winnerCount = count;
    winnerTime = points.times[index] as bigint;
  }
  return points.values[winner] as Value;
}

export function compareValues(a: Value, b: Value): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function* first({ points, from, to }: Slice): Steps<number> {
  let picked = from;
  for (let i = from + 1; i < to && points.times[i] === points.times[from]; i++) {
    if (isStepEnd(i)) yield;
    if ((points.values[i] as number) > (points.values[picked] as number)) picked = i;
  }
  return picked;
}

function* last({ points, from, to }: Slice): Steps<number> {
  let picked = to - 1;
  for (let i = to - 2; i >= from && points.times[i] === points.times[to - 1]; i--) {
    if (isStepEnd(i)) yield;
    if ((points.values[i] as number) >= (points.values[picked] as number)) picked = i;
  }
  return picked;
}

function* extremeOf({ points, from, to }: Slice, sign: 1 | -1): Steps<number> {
  let picked = from;
  for (let i = from + 1; i < to; i++) {
    const value = points.values[i] as number; // all numbers have one type; booleans returned above
    const best = points.values[picked] as number;
    if (sign > 0 ? value > best : value < best) picked = i;
    if (isStepEnd(i)) yield;
  }
  return picked;
}

function* percentile({ points, from, to }: Slice, rank: number): Steps<number | undefined> {
  const count = to - from;
  const index = Math.floor((count * rank) / 100 + 0.5) - 1;
  if (index < 0 || index >= count) return undefined;
  const order = yield* sorted(
    yield* indices(from, to),
    (a, b) => compareValues(points.values[a] as Value, points.values[b] as Value) || a - b,
  );
  return order[index];
}

import {
  isStepEnd,
  runThrough,
  STEP_ROWS,
  type Steps,
} from '@plinth/tsdb-model/time-sliced-task.js';
import type { Part } from '../cache/part.js';

/**
 * Longest time span of a part in nanoseconds: positions within it are exact doubles, also after a
 * division.
 */
const MAX_SPAN_NS = 2 ** 52;
const TWO_32 = 2 ** 32;

/** Collects series and timestamps of a source in row order, and sorts them. */
export class PartBuilder {
  readonly #series: Uint32Array;
  readonly #times: BigInt64Array;
  #count = 0;

  constructor(rowCount: number) {
    this.#series = new Uint32Array(rowCount);
    this.#times = new BigInt64Array(rowCount);
  }

  /** @param series series ordinals */
  add(series: Uint32Array, times: BigInt64Array): void {
    this.#series.set(series, this.#count);
    this.#times.set(times, this.#count);
    this.#count += series.length;
  }

  /** Returns `undefined` if the timestamps are too far apart for this representation. */
  finish(): Part | undefined {
    return runThrough(this.finishInSteps());
  }

  /** Like `finish`, but yields to the event loop between steps. */
  *finishInSteps(): Steps<Part | undefined> {
    const rowCount = this.#count;
    const times = yield* scaled(this.#times.subarray(0, rowCount));
    if (times === undefined) return undefined;
    const series = this.#series.subarray(0, rowCount);
    const stored = storedRuns(series, times.offsets);
    if (stored !== undefined) return { rowCount, ...stored, ...times, order: undefined };
    yield;
    const order = yield* sortedOrder(series, times.offsets);
    yield;
    const runs = runsOf(gathered(series, order));
    yield;
    return { rowCount, ...runs, ...times, offsets: gathered(times.offsets, order), order };
  }
}

/** Returns the timestamps as multiples of their greatest common divisor. */
function* scaled(
  times: BigInt64Array,
): Steps<Pick<Part, 'baseNs' | 'unitNs' | 'offsets' | 'minOffset' | 'maxOffset'> | undefined> {
  const words = new Int32Array(times.buffer, times.byteOffset, times.length * 2);
  let min = times[0] ?? 0n;
  let max = min;
  // Doubles select the candidates for the exact comparison.
  let minNear = Number(min);
  let maxNear = minNear;
  for (let row = 1; row < times.length; row++) {
    if (isStepEnd(row)) yield;
    const near = (words[row * 2 + 1] as number) * TWO_32 + ((words[row * 2] as number) >>> 0);
    if (near <= minNear) {
      const time = times[row] as bigint;
      if (time < min) min = time;
      minNear = near;
    }
    if (near >= maxNear) {
      const time = times[row] as bigint;
      if (time > max) max = time;
      maxNear = near;
    }
  }
  const spanNs = Number(max - min);
  if (spanNs > MAX_SPAN_NS) return undefined;
  const baseLow = Number(BigInt.asUintN(32, min));
  const baseHigh = Number(min >> 32n);
  const distance = (row: number): number =>
    ((words[row * 2 + 1] as number) - baseHigh) * TWO_32 +
    ((words[row * 2] as number) >>> 0) -
    baseLow;
  let unitNs = spanNs === 0 ? 1 : spanNs;
  for (let row = 0; row < times.length && unitNs > 1; row++) {
    if (isStepEnd(row)) yield;
    // This is exact below 2 ** 52, and ten times as fast as a remainder.
    const far = distance(row);
    if (!Number.isInteger(far / unitNs)) unitNs = greatestDivisor(unitNs, far % unitNs);
  }
  if (spanNs / unitNs >= TWO_32) return undefined;
  const offsets = new Uint32Array(times.length);
  for (let row = 0; row < times.length; row++) {
    if (isStepEnd(row)) yield;
    offsets[row] = distance(row) / unitNs;
  }
  return { baseNs: min, unitNs, offsets, minOffset: 0, maxOffset: spanNs / unitNs };
}

function greatestDivisor(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y !== 0) [x, y] = [y, x % y];
  return x;
}

/**
 * Returns the runs if rows are grouped by series and ascend in time, as in segments; otherwise
 * `undefined`.
 */
function storedRuns(series: Uint32Array, offsets: Uint32Array): Runs | undefined {
  for (let row = 1; row < series.length; row++) {
    if (series[row] !== series[row - 1]) continue;
    if ((offsets[row - 1] as number) > (offsets[row] as number)) return undefined;
  }
  const runs = runsOf(series);
  // In order of arrival, the series changes with almost every row.
  if (runs.runSeries.length > 64 && runs.runSeries.length * 2 > series.length) return undefined;
  const order = Array.from(runs.runSeries.keys());
  order.sort((a, b) => (runs.runSeries[a] as number) - (runs.runSeries[b] as number));
  const sorted = {
    runSeries: gathered(runs.runSeries, order),
    runStarts: gathered(runs.runStarts, order),
    runEnds: gathered(runs.runEnds, order),
  };
  for (let run = 1; run < order.length; run++)
    if (sorted.runSeries[run] === sorted.runSeries[run - 1]) return undefined;
  return sorted;
}

/** Row numbers sorted by (series, time). */
function* sortedOrder(series: Uint32Array, offsets: Uint32Array): Steps<Uint16Array | Uint32Array> {
  const rowCount = series.length;
  let isTimeSorted = true;
  let maxSeries = 0;
  for (let row = 0; row < rowCount; row++) {
    const own = series[row] as number;
    if (own > maxSeries) maxSeries = own;
    if (row > 0 && (offsets[row - 1] as number) > (offsets[row] as number)) isTimeSorted = false;
  }
  const order = rowCount <= 65536 ? new Uint16Array(rowCount) : new Uint32Array(rowCount);
  yield;
  yield* sortBySeries(series, maxSeries, order);
  if (!isTimeSorted) yield* sortRuns(series, offsets, order);
  return order;
}

/** Stable counting sort by series. */
function* sortBySeries(
  series: Uint32Array,
  maxSeries: number,
  order: Uint16Array | Uint32Array,
): Steps<void> {
  if (maxSeries > series.length * 8) {
    const rows = Array.from(series.keys()).sort(
      (a, b) => (series[a] as number) - (series[b] as number) || a - b,
    );
    order.set(rows);
    return;
  }
  const nextIndex = new Uint32Array(maxSeries + 2);
  for (const own of series) nextIndex[own + 1] = (nextIndex[own + 1] as number) + 1;
  for (let i = 1; i < nextIndex.length; i++)
    nextIndex[i] = (nextIndex[i] as number) + (nextIndex[i - 1] as number);
  yield;
  for (let row = 0; row < series.length; row++) {
    if (isStepEnd(row)) yield;
    const own = series[row] as number;
    const at = nextIndex[own] as number;
    order[at] = row;
    nextIndex[own] = at + 1;
  }
}

function* sortRuns(
  series: Uint32Array,
  offsets: Uint32Array,
  order: Uint16Array | Uint32Array,
): Steps<void> {
  let next = STEP_ROWS;
  for (let start = 0; start < order.length; ) {
    if (start >= next) {
      yield;
      next = start + STEP_ROWS;
    }
    const own = series[order[start] as number];
    let end = start + 1;
    let isAscending = true;
    for (; end < order.length && series[order[end] as number] === own; end++) {
      const before = offsets[order[end - 1] as number] as number;
      if (before > (offsets[order[end] as number] as number)) isAscending = false;
    }
    if (!isAscending) {
      order
        .subarray(start, end)
        .sort((a, b) => (offsets[a] as number) - (offsets[b] as number) || a - b);
    }
    start = end;
  }
}

function gathered(values: Uint32Array, order: ArrayLike<number>): Uint32Array {
  const result = new Uint32Array(order.length);
  for (let i = 0; i < order.length; i++) result[i] = values[order[i] as number] as number;
  return result;
}

type Runs = Pick<Part, 'runSeries' | 'runStarts' | 'runEnds'>;

/** Runs of consecutive rows of the same series. */
function runsOf(series: Uint32Array): Runs {
  let runCount = 0;
  for (let row = 0; row < series.length; row++)
    if (row === 0 || series[row] !== series[row - 1]) runCount++;
  const runSeries = new Uint32Array(runCount);
  const runStarts = new Uint32Array(runCount);
  const runEnds = new Uint32Array(runCount);
  let run = -1;
  for (let row = 0; row < series.length; row++) {
    if (row === 0 || series[row] !== series[row - 1]) {
      run++;
      runSeries[run] = series[row] as number;
      runStarts[run] = row;
    }
    runEnds[run] = row + 1;
  }
  return { runSeries, runStarts, runEnds };
}

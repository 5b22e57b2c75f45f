import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { isStepEnd, type Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import type { Points } from '../execute/series/points.js';
import { NelderMead } from './nelder-mead.js';

export interface HoltWintersOptions {
  readonly forecastCount: number;
  /** Season length in buckets; 0 and 1 mean none. */
  readonly season: number;
  readonly withFit: boolean;
  readonly intervalNs: bigint;
  /**
   * A larger number of buckets, including those between points, is rejected before any is created.
   */
  readonly bucketLimit: number;
}

/** Start values of the search for each of the four smoothing factors. */
const STARTS = [0.3, 0.7];
/** Index of the first season among the parameters. */
const SEASONS = 6;
/** Weight of the first value and the first difference in the start values without seasons. */
const FIRST_WEIGHT = 0.5;
const EPSILON = 1e-4;

/**
 * Computes a damped Holt-Winters forecast as in InfluxDB 1.x. A Nelder-Mead search from a grid of
 * start values finds the smoothing factors with the least squared error.
 */
export function* holtWinters(points: Points, options: HoltWintersOptions): Steps<Points> {
  const { intervalNs, forecastCount, season, withFit, bucketLimit } = options;
  const { times } = points;
  const first = times[0];
  const last = times.at(-1);
  if (first === undefined || last === undefined) return { times: [], values: [] };
  const count = (last - first) / intervalNs + 1n;
  if (count > BigInt(bucketLimit))
    throw tsdbError('bucket_limit_exceeded', { count, limit: bucketLimit });
  const values = yield* gridValues(points, intervalNs);
  const isSeasonal = season >= 2;
  const m = isSeasonal ? season : 0;
  if (values.length < 2 || (isSeasonal && values.length < m + 1)) return { times: [], values: [] };
  const model = new Model(values, m);
  const best = yield* model.fit();
  const fitted = yield* model.forecast(forecastCount, best);
  const outTimes: bigint[] = [];
  const out: (number | null)[] = [];
  const start = withFit ? 0 : values.length;
  for (let i = start; i < fitted.length; i++) {
    const value = fitted[i] ?? Number.NaN;
    if (Number.isNaN(value)) continue;
    outTimes.push(first + BigInt(i) * intervalNs);
    out.push(value);
  }
  return { times: outTimes, values: out };
}

/** Returns the values per bucket; buckets without a value are NaN. */
function* gridValues({ times, values }: Points, intervalNs: bigint): Steps<number[]> {
  const first = times[0] as bigint; // the caller checks that there is one
  const grid: number[] = [];
  for (const [i, time] of times.entries()) {
    const place = Number((time - first) / intervalNs);
    while (grid.length < place) {
      if (isStepEnd(grid.length)) yield;
      grid.push(Number.NaN);
    }
    if (isStepEnd(grid.length)) yield;
    const value = values[i];
    grid[place] = value === null || value === undefined ? Number.NaN : Number(value);
  }
  return grid;
}

class Model {
  readonly #values: readonly number[];
  readonly #m: number;

  constructor(values: readonly number[], m: number) {
    this.#values = values;
    this.#m = m;
  }

  /**
   * Returns the best parameters: smoothing factors of level, trend and season, the damping factor,
   * then initial level, trend and seasons.
   */
  *fit(): Steps<number[]> {
    const search = new NelderMead((parameters) => this.#error(parameters), EPSILON);
    const start = this.#start();
    let best: { readonly value: number; readonly parameters: number[] } | undefined;
    for (const alpha of STARTS) {
      for (const beta of STARTS) {
        for (const gamma of STARTS) {
          for (const phi of STARTS) {
            const found = yield* search.minimize([alpha, beta, gamma, phi, ...start]);
            if (best === undefined || found.value < best.value) best = found;
          }
        }
      }
    }
    return best?.parameters ?? [];
  }

  #start(): number[] {
    const m = this.#m;
    const values = this.#values;
    if (m === 0) {
      const [first = 0, second = Number.NaN] = values;
      return [FIRST_WEIGHT * first, FIRST_WEIGHT * present(second - first)];
    }
    let level = 0;
    let trend = 0;
    for (let i = 0; i < m; i++) level += present(values[i]) / m;
    for (let i = 0; i < m && m + i < values.length; i++) {
      trend += present((values[m + i] as number) - (values[i] as number)) / (m * m);
    }
    const seasons = Array.from({ length: m }, (_, i) => present(values[i], level) / level);
    return [level, trend, ...seasons];
  }

  /**
   * Returns the model values of all buckets, then `count` forecasts. It updates the seasons within
   * `parameters`, as InfluxDB does, so the search continues from the last evaluation.
   */
  *forecast(count: number, parameters: number[]): Steps<number[]> {
    const m = this.#m;
    const [alpha = 0, beta = 0, gamma = 0, phi = 0, level0 = 0, trend0 = 0] = parameters;
    let value = this.#values[0] ?? Number.NaN;
    let level = level0;
    let trend = trend0;
    let damping = phi;
    let offset = m - 1;
    const out = [value];
    for (let t = 1; t < this.#values.length + count; t++) {
      const season = m === 0 ? 1 : (parameters[SEASONS + ((t - m + offset) % m)] ?? 1);
      const nextSeason =
        m === 0 ? 1 : (parameters[SEASONS + ((t - m + (t % m) + offset) % m)] ?? 1);
      const before = level;
      const expected = before + phi * trend;
      level = alpha * (value / season) + (1 - alpha) * expected;
      const trendBefore = trend;
      trend = beta * (level - before) + (1 - beta) * phi * trendBefore;
      const newSeason = gamma * (value / expected) + (1 - gamma) * season;
      value = (level + damping * trend) * nextSeason;
      damping += phi ** t;
      if (m > 0) {
        parameters[SEASONS + ((t + offset) % m)] = newSeason;
        offset++;
      }
      out.push(value);
      if (isStepEnd(t)) yield;
    }
    return out;
  }

  *#error(parameters: number[]): Steps<number> {
    for (let i = 0; i < 4; i++) parameters[i] = Math.min(1, Math.max(0, parameters[i] ?? 0));
    const fitted = yield* this.forecast(0, parameters);
    let sum = 0;
    this.#values.forEach((value, i) => {
      if (!Number.isNaN(value)) sum += ((fitted[i] ?? 0) - value) ** 2;
    });
    return Number.isNaN(sum) ? Number.POSITIVE_INFINITY : sum;
  }
}

function present(value: number | undefined, fallback = 0): number {
  return value === undefined || Number.isNaN(value) ? fallback : value;
}

import type { Points } from '../execute/points.js';
import { NelderMead } from './nelder-mead.js';

export interface HoltWintersOptions {
  readonly forecastCount: number;
  /** Length of a season in buckets; 0 and 1 mean none. */
  readonly season: number;
  readonly withFit: boolean;
  readonly intervalNs: bigint;
}

/** Shares tried to start the search from. */
const ALPHA = 0.5;
const BETA = 0.5;
const GAMMA = 0.5;
const PHI = 0.5;
/** How far from its start the search first looks. */
const GRID = 4;
const EPSILON = 1e-4;

/**
 * Damped Holt-Winters forecast, as the 1.x server makes it: the smoothing shares are those with the least squared
 * error that a Nelder-Mead search finds from a grid of starts.
 */
export function holtWinters(points: Points, options: HoltWintersOptions): Points {
  const { intervalNs, forecastCount, season, withFit } = options;
  const { times } = points;
  const first = times[0];
  const last = times.at(-1);
  if (first === undefined || last === undefined) return { times: [], values: [] };
  const values = gridValues(points, intervalNs);
  const isSeasonal = season >= 2;
  const m = isSeasonal ? season : 0;
  if (values.length < 2 || (isSeasonal && values.length < m + 1)) return { times: [], values: [] };
  const model = new Model(values, m);
  const best = model.fit();
  const fitted = model.forecast(forecastCount, best);
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

/** Values on the grid of buckets; buckets without one are NaN. */
function gridValues({ times, values }: Points, intervalNs: bigint): number[] {
  const first = times[0] as bigint; // the caller looked
  const grid: number[] = [];
  times.forEach((time, i) => {
    const place = Number((time - first) / intervalNs);
    while (grid.length < place) grid.push(Number.NaN);
    const value = values[i];
    grid[place] = value === null || value === undefined ? Number.NaN : Number(value);
  });
  return grid;
}

class Model {
  readonly #values: readonly number[];
  readonly #m: number;

  constructor(values: readonly number[], m: number) {
    this.#values = values;
    this.#m = m;
  }

  fit(): number[] {
    const m = this.#m;
    const { level, trend, seasonal } = this.#start();
    const initial = [ALPHA, BETA, GAMMA, PHI, level, trend, ...seasonal];
    const search = new NelderMead((parameters) => this.#error(parameters), EPSILON);
    let best: { value: number; parameters: number[] } | undefined;
    const delta = 1 / GRID;
    for (let a = delta; a < 0.5 + delta / 2; a += delta) {
      for (let b = delta; b < 0.5 + delta / 2; b += delta) {
        for (let g = delta; g < 0.5 + delta / 2; g += delta) {
          const start = [...initial];
          start[0] = a;
          start[1] = b;
          start[2] = g;
          start[3] = PHI;
          const found = search.minimize(start);
          if (best === undefined || found.value < best.value) best = found;
          if (m === 0) break;
        }
      }
    }
    return best?.parameters ?? initial;
  }

  #start(): { level: number; trend: number; seasonal: number[] } {
    const m = this.#m;
    const at = (i: number): number => this.#values[i] ?? Number.NaN;
    if (m === 0) return { level: at(0), trend: present(at(1) - at(0)), seasonal: [] };
    let level = 0;
    for (let i = 0; i < m; i++) level += present(at(i));
    level /= m;
    let trend = 0;
    for (let i = 0; i < m; i++) {
      if (m + i < this.#values.length) trend += present((at(m + i) - at(i)) / m);
    }
    trend /= m;
    const seasonal = Array.from({ length: m }, (_, i) =>
      level === 0 ? 1 : present(at(i), level) / level,
    );
    return { level, trend, seasonal };
  }

  forecast(count: number, parameters: readonly number[]): number[] {
    const m = this.#m;
    const [alpha = 0, beta = 0, gamma = 0, phi = 0, level0 = 0, trend0 = 0, ...seasonal] =
      parameters;
    const out: number[] = [];
    let level = level0;
    let trend = trend0;
    let damping = phi;
    const total = this.#values.length + count;
    for (let t = 0; t < total; t++) {
      const season = m === 0 ? 1 : (seasonal[t % m] ?? 1);
      const isAhead = t >= this.#values.length;
      const steps = isAhead ? damping : phi;
      out.push((level + steps * trend) * season);
      if (isAhead) {
        damping += phi ** (t - this.#values.length + 2);
        continue;
      }
      const value = this.#values[t] ?? Number.NaN;
      const observed = Number.isNaN(value) ? (out[t] as number) : value;
      const before = level;
      level = alpha * (season === 0 ? 0 : observed / season) + (1 - alpha) * (level + phi * trend);
      const trendBefore = trend;
      trend = beta * (level - before) + (1 - beta) * phi * trend;
      if (m > 0) {
        const base = before + phi * trendBefore;
        seasonal[t % m] = gamma * (base === 0 ? 0 : observed / base) + (1 - gamma) * season;
      }
    }
    return out;
  }

  #error(parameters: readonly number[]): number {
    for (let i = 0; i < 4; i++) {
      const share = parameters[i] ?? 0;
      if (share < 0 || share > 1) return Number.POSITIVE_INFINITY;
    }
    const fitted = this.forecast(0, parameters);
    let sum = 0;
    this.#values.forEach((value, i) => {
      if (Number.isNaN(value)) return;
      sum += ((fitted[i] ?? 0) - value) ** 2;
    });
    return Number.isNaN(sum) ? Number.POSITIVE_INFINITY : sum;
  }
}

function present(value: number, fallback = 0): number {
  return Number.isNaN(value) ? fallback : value;
}

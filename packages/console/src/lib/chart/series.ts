import { type Frame, type FrameColumn, numbersOf } from '../frame/frame.js';
import { lowerBound, reduceM4 } from './m4.js';

export interface SeriesStats {
  readonly last: number;
  readonly min: number;
  readonly max: number;
  readonly avg: number;
  readonly sum: number;
}

/** One line of a chart: points in order of time. */
export interface ChartSeries {
  readonly key: string;
  readonly label: string;
  /** Which tags make it, for "filter for value". */
  readonly words: readonly (readonly [name: string, value: string])[];
  readonly field: string;
  readonly times: Float64Array;
  /** NaN where there is no value. */
  readonly values: Float64Array;
  readonly stats: SeriesStats;
}

export const MAX_SERIES_COUNT = 500;

export interface SeriesSet {
  /** At most `MAX_SERIES_COUNT`, highest by their maximum. */
  readonly series: readonly ChartSeries[];
  readonly totalCount: number;
}

/** Lines of all numbers in `fields`, one for each series of the result. */
export function buildSeries(frame: Frame, fields: readonly string[]): SeriesSet {
  const { groups, timeIndex } = frame;
  const time = timeIndex === undefined ? undefined : frame.columns[timeIndex];
  if (groups === undefined || time?.kind !== 'time') return { series: [], totalCount: 0 };
  const columns = frame.columns.filter(
    (column) => fields.includes(column.name) && numbersOf(column) !== undefined,
  );
  const series: ChartSeries[] = [];
  for (const column of columns) {
    for (const [index, label] of groups.labels.entries()) {
      const from = groups.starts[index] ?? 0;
      const to = groups.starts[index + 1] ?? from;
      const points = gather(groups.order.subarray(from, to), time.numbers, column);
      const words = groups.names.map((name, at) => [name, label[at] ?? ''] as const);
      const tags = words.map(([name, value]) => `${name}=${value}`).join(' ');
      const title = columns.length > 1 || tags === '' ? `${column.name} ${tags}`.trim() : tags;
      series.push({
        key: `${column.name}\0${label.join('\0')}`,
        ...{ label: title, words, field: column.name },
        ...{ ...points, stats: statsOf(points.values) },
      });
    }
  }
  if (series.length <= MAX_SERIES_COUNT) return { series, totalCount: series.length };
  const highest = [...series].sort((a, b) => b.stats.max - a.stats.max).slice(0, MAX_SERIES_COUNT);
  return { series: highest, totalCount: series.length };
}

function gather(
  order: Uint32Array,
  time: Float64Array,
  column: FrameColumn,
): { readonly times: Float64Array; readonly values: Float64Array } {
  const numbers = numbersOf(column) as Float64Array; // asked before
  const times = new Float64Array(order.length);
  const values = new Float64Array(order.length);
  const { nulls } = column;
  for (let index = 0; index < order.length; index++) {
    const row = order[index] as number;
    times[index] = time[row] as number;
    values[index] = nulls?.[row] === 1 ? Number.NaN : (numbers[row] as number);
  }
  return { times, values };
}

export function statsOf(values: Float64Array): SeriesStats {
  let [min, max, sum, count, last] = [Infinity, -Infinity, 0, 0, Number.NaN];
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    if (value < min) min = value;
    if (value > max) max = value;
    sum += value;
    count++;
    last = value;
  }
  return count === 0
    ? { last, min: last, max: last, avg: last, sum: last }
    : { last, min, max, avg: sum / count, sum };
}

/** A picture's worth of points: times in seconds, then one list a series; `undefined` where another series has the point. */
export interface AlignedPoints {
  readonly data: readonly [number[], ...(number | null | undefined)[][]];
  /** Fewer points than there are. */
  readonly isReduced: boolean;
}

/** Points of all series between two times, with one beyond each end, reduced to what so many pixels can show. */
export function alignSeries(
  series: readonly ChartSeries[],
  at: { readonly fromMs: number; readonly toMs: number; readonly width: number },
): AlignedPoints {
  const { fromMs, toMs, width } = at;
  let isReduced = false;
  const picked = series.map(({ times, values }) => {
    const from = Math.max(0, lowerBound(times, fromMs, 0, times.length) - 1);
    const to = Math.min(times.length, lowerBound(times, toMs + 1, from, times.length) + 1);
    if (to - from <= 2 * width) return range(from, to);
    isReduced = true;
    return reduceM4(times, values, { from, to, minTime: fromMs, maxTime: toMs, width });
  });
  const all = new Set<number>();
  for (const [index, rows] of picked.entries()) {
    for (const row of rows) all.add(series[index]?.times[row] as number);
  }
  const xs = [...all].sort((a, b) => a - b);
  const placeOf = new Map(xs.map((x, index) => [x, index]));
  const ys = picked.map((rows, index) => {
    const { times, values } = series[index] as ChartSeries; // as many as series
    const list = new Array<number | null | undefined>(xs.length);
    for (const row of rows) {
      const value = values[row] as number;
      list[placeOf.get(times[row] as number) as number] = Number.isNaN(value) ? null : value;
    }
    return list;
  });
  return { data: [xs.map((ms) => ms / 1000), ...ys], isReduced };
}

function range(from: number, to: number): Uint32Array {
  const rows = new Uint32Array(to - from);
  for (let index = 0; index < rows.length; index++) rows[index] = from + index;
  return rows;
}

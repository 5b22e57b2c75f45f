import { FIGURE_COUNT, type Frame } from '../frame/frame.js';
import type { SeriesStats } from '../frame/stats.js';
import { MEASUREMENT } from '../query/add-condition.js';
import { type Unit, unitOf } from '../units.js';
import { lowerBound, reduceM4 } from './m4.js';

/** One line of a chart, with its points in time order. */
export interface ChartSeries {
  readonly key: string;
  /** The field, if there are several, and the tags that differ between the series. */
  readonly label: string;
  /** The tags that identify the series, for "Filter for value". */
  readonly labels: readonly (readonly [name: string, value: string])[];
  /** The tags whose values differ between the series. */
  readonly tags: readonly (readonly [name: string, value: string])[];
  readonly field: string;
  readonly unit: Unit;
  readonly times: Float64Array;
  /** NaN for a missing value. */
  readonly values: Float64Array;
  readonly stats: SeriesStats;
}

const MAX_SERIES_COUNT = 500;

export interface SeriesSet {
  /** At most `MAX_SERIES_COUNT` series, those with the highest maximum values. */
  readonly series: readonly ChartSeries[];
  readonly totalCount: number;
}

/**
 * Creates a chart series for each numeric field and each series of the result. They are views of its arrays, not
 * copies.
 */
export function buildSeries({ groups }: Frame, fields: readonly string[]): SeriesSet {
  if (groups === undefined) return { series: [], totalCount: 0 };
  const lines = groups.lines.filter(({ field }) => fields.includes(field));
  // The label of a single series contains its tags, which identify it if a filter leaves only this series.
  const isOnly = groups.labels.length === 1;
  const isConstant = groups.names.map(
    (name, at) =>
      new Set(groups.labels.map((label) => label[at])).size === 1 &&
      (!isOnly || name === MEASUREMENT),
  );
  const series = lines.flatMap((line) =>
    groups.labels.map((label, index): ChartSeries => {
      const [from = 0, to = 0] = [groups.starts[index], groups.starts[index + 1]];
      const labels = groups.names.map((name, at) => [name, label[at] ?? ''] as const);
      const tags = labels.filter((_, at) => isConstant[at] !== true);
      const tagText = tags.map(([name, value]) => `${name}=${value}`).join(' ');
      const isNamed = lines.length > 1 || tagText === '';
      const at = index * FIGURE_COUNT;
      const [last = 0, min = 0, max = 0, avg = 0, sum = 0] = line.figures.subarray(at, at + 5);
      return {
        key: `${line.field}\0${label.join('\0')}`,
        label: isNamed ? `${line.field} ${tagText}`.trim() : tagText,
        labels,
        tags,
        field: line.field,
        unit: unitOf(line.field),
        times: groups.times.subarray(from, to),
        values: line.values.subarray(from, to),
        stats: { last, min, max, avg, sum },
      };
    }),
  );
  if (series.length <= MAX_SERIES_COUNT) return { series, totalCount: series.length };
  const highest = [...series].sort((a, b) => b.stats.max - a.stats.max).slice(0, MAX_SERIES_COUNT);
  return { series: highest, totalCount: series.length };
}

/**
 * The points of one chart: times in seconds, then one list per series. A list contains `undefined`
 * for the points of other series.
 */
export interface AlignedPoints {
  readonly data: readonly [number[], ...(number | null | undefined)[][]];
  /** Whether points were omitted. */
  readonly isReduced: boolean;
}

/** The number of time slots per pixel column. The reduced points of all series share them. */
const SLOT_COUNT = 5;

interface Picked {
  readonly series: ChartSeries;
  readonly rows: Uint32Array;
  readonly isReduced: boolean;
}

/**
 * Returns the points of all series between two times and one point beyond each end, reduced to the resolution of
 * `width` pixels. Reduced points move to a slot within their pixel, so that many series share few timestamps.
 */
export function alignSeries(
  series: readonly ChartSeries[],
  options: { readonly fromMs: number; readonly toMs: number; readonly width: number },
): AlignedPoints {
  const { fromMs, toMs, width } = options;
  const picked = series.map((each): Picked => {
    const { times, values } = each;
    const from = Math.max(0, lowerBound(times, fromMs, 0, times.length) - 1);
    const to = Math.min(times.length, lowerBound(times, toMs + 1, from, times.length) + 1);
    if (to - from <= 2 * width) return { series: each, rows: range(from, to), isReduced: false };
    const within = { from, to, minTime: fromMs, maxTime: toMs, width };
    return { series: each, rows: reduceM4(times, values, within), isReduced: true };
  });
  const placed = picked.map((each) => timesOf(each, options));
  const all = new Set<number>();
  for (const times of placed) for (const time of times) all.add(time);
  const xs = [...all].sort((a, b) => a - b);
  const placeOf = new Map(xs.map((x, index) => [x, index]));
  const ys = picked.map(({ series: { values }, rows }, index) => {
    const times = placed[index] as Float64Array; // there is one list per picked series
    const list = new Array<number | null | undefined>(xs.length).fill(undefined);
    for (const [at, row] of rows.entries()) {
      const value = values[row] as number;
      list[placeOf.get(times[at] as number) as number] = Number.isNaN(value) ? null : value;
    }
    return list;
  });
  return {
    data: [xs.map((ms) => ms / 1000), ...ys],
    isReduced: picked.some((each) => each.isReduced),
  };
}

/** Returns the timestamps at which the points are plotted. */
function timesOf(
  { series: { times }, rows, isReduced }: Picked,
  {
    fromMs,
    toMs,
    width,
  }: { readonly fromMs: number; readonly toMs: number; readonly width: number },
): Float64Array {
  if (!isReduced) return Float64Array.from(rows, (row) => times[row] as number);
  const pixelMs = (toMs - fromMs) / width;
  let before = Number.NaN;
  let slot = 0;
  return Float64Array.from(rows, (row) => {
    const pixel = Math.floor(((times[row] as number) - fromMs) / pixelMs);
    slot = pixel === before ? slot + 1 : 0;
    before = pixel;
    return fromMs + (pixel + slot / SLOT_COUNT) * pixelMs;
  });
}

function range(from: number, to: number): Uint32Array {
  const rows = new Uint32Array(to - from);
  for (let index = 0; index < rows.length; index++) rows[index] = from + index;
  return rows;
}

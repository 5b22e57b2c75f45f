import { type Axes, type Side, sideOf } from '@plinth/console-core/lib/chart/axes.js';
import { cssColor, styleOf } from '@plinth/console-core/lib/chart/palette.js';
import type { ChartSeries } from '@plinth/console-core/lib/chart/series.js';
import type { TimeRange } from '@plinth/console-core/lib/time/time-range.js';
import { quantityText, type Unit } from '@plinth/console-core/lib/units.js';
import uPlot from 'uplot';
import { addTooltip, type Values } from './chart-cursor.js';
import { drawPoints } from './draw-points.js';

export type ChartKind = 'line' | 'area' | 'bar' | 'scatter' | 'heat';

export interface ChartStyle {
  readonly values: Values;
  readonly series: readonly ChartSeries[];
  readonly kind: ChartKind;
  readonly range: TimeRange;
  readonly isLog: boolean;
  readonly isStacked: boolean;
  readonly isPlain: boolean;
  readonly axes: Axes;
  readonly axisText: (value: number) => string;
  readonly width: number;
  readonly height: number;
  readonly colourOf: (key: string) => number;
  readonly onZoom: (range: TimeRange) => void;
}

const FONT = '11px system-ui, sans-serif';
/** Above this number of points per series, point markers would only add noise. */
const MAX_MARKED_COUNT = 60;

/** Creates the options for the chart library. */
export function optionsOf(style: ChartStyle): uPlot.Options {
  const { series, kind, range, isLog, width, height, isPlain, axes } = style;
  const axis = axisStyle();
  const scale = { distr: isLog ? 3 : 1, ...(isLog ? {} : { range: yRange(kind) }) } as const;
  return {
    width,
    height,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    padding: [10, axes.right !== undefined ? 4 : isPlain ? 18 : 22, 0, 0],
    cursor: {
      drag: { x: true, y: false, setScale: false },
      points: { size: 7 },
      focus: { prox: 24 },
    },
    focus: { alpha: series.length > 1 ? 0.35 : 1 },
    legend: { show: false },
    scales: {
      x: { range: () => [range.fromMs / 1000, range.toMs / 1000] },
      y: scale,
      ...(axes.right !== undefined && { right: scale }),
    },
    axes: [
      {
        ...axis,
        size: isPlain ? 26 : 42,
        space: isPlain ? 70 : 60,
        values: isPlain ? SHORT_TIMES : TIMES,
      },
      valueAxis(style, { side: 'y', unit: axes.left, text: style.axisText }),
      ...(axes.right === undefined ? [] : [rightAxis(style, axes.right)]),
    ],
    series: [{}, ...series.map((each) => seriesOptions(each, style))],
    hooks: {
      ...((kind === 'scatter' || kind === 'heat') && {
        draw: [(plot) => drawPoints(plot, { ...style, kind })],
      }),
      setSelect: [
        (plot) => {
          const { left, width: selected } = plot.select;
          if (selected < 4) return;
          const fromMs = plot.posToVal(left, 'x') * 1000;
          const toMs = plot.posToVal(left + selected, 'x') * 1000;
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          style.onZoom({ fromMs, toMs });
        },
      ],
      ...(!isPlain && { init: [(plot) => addTooltip(plot, series, style.values)] }),
    },
  };
}

const BINARY_STEPS = Array.from({ length: 60 }, (_, power) => 2 ** power);

function axisStyle() {
  const grid = { stroke: cssColor('--grid-line'), width: 1 };
  return { stroke: cssColor('--ink-soft'), font: FONT, grid, ticks: { ...grid, size: 4 } };
}

function valueAxis(
  { series, isPlain, axes }: ChartStyle,
  { side, unit, text }: { side: Side; unit: Unit; text: (value: number) => string },
): uPlot.Axis {
  return {
    ...axisStyle(),
    scale: side,
    size: isPlain ? 56 : 60,
    ...(isPlain ? { space: 36 } : axisTitle(series.filter((each) => sideOf(each, axes) === side))),
    ...(unit === 'bytes' && { incrs: BINARY_STEPS }),
    values: (_plot, values) => values.map((each) => (each === null ? '' : text(each))),
  };
}

/** Creates the right axis without grid lines, because only the left axis has them. */
const rightAxis = (style: ChartStyle, unit: Unit): uPlot.Axis => ({
  ...valueAxis(style, { side: 'right', unit, text: (value) => quantityText(value, unit) }),
  side: 1,
  grid: { show: false },
});

/** Labels an axis with the field, if all its series have the same field. */
function axisTitle(series: readonly ChartSeries[]): uPlot.Axis {
  const fields = new Set(series.map(({ field }) => field));
  const [label = ''] = fields;
  return fields.size === 1 ? { label, labelSize: 18, labelFont: FONT, labelGap: 0 } : {};
}

/** Axis formats of uPlot: the step in seconds, its label, and a second line at the start of a year, day or minute. */
const SECOND = '{HH}:{mm}:{ss}';
const MINUTE = '{HH}:{mm}';
const DAY = '{MMM} {D}';
const TIMES: uPlot.Axis.Values = [
  [31_536_000, '{YYYY}', null, null, null, null, null, null, 1],
  [2_419_200, '{MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [86_400, DAY, '\n{YYYY}', null, null, null, null, null, 1],
  [60, MINUTE, `\n${DAY} {YYYY}`, null, `\n${DAY}`, null, null, null, 1],
  [1, SECOND, `\n${DAY} {YYYY}`, null, `\n${DAY}`, null, null, null, 1],
  [0.001, `${SECOND}.{fff}`, `\n${DAY} {YYYY}`, null, `\n${DAY}`, null, null, null, 1],
];
const SHORT_TIMES = TIMES.map((row) =>
  Array.isArray(row) ? [row[0], row[1], ...Array(6).fill(null), 1] : row,
) as uPlot.Axis.Values;

const yRange =
  (kind: ChartKind): uPlot.Range.Function =>
  (_plot, min, max) => {
    if (min === null || max === null) return [0, 1];
    const isFromZero = kind === 'area' || kind === 'bar';
    const floor = isFromZero ? Math.min(0, min) : min;
    const ceiling = isFromZero ? Math.max(0, max) : max;
    if (floor === 0 && ceiling === 0) return [0, 1]; // A range of zero width would draw nothing.
    const room = (ceiling - floor || Math.abs(ceiling) || 1) * 0.08;
    return [floor === 0 ? 0 : floor - room, ceiling === 0 ? 0 : ceiling + room];
  };

function seriesOptions(series: ChartSeries, style: ChartStyle): uPlot.Series {
  const { color, dash } = styleOf(style.colourOf(series.key));
  const { kind, isStacked } = style;
  const scale = sideOf(series, style.axes);
  if (kind === 'scatter' || kind === 'heat') {
    return {
      ...{ label: series.label, scale, stroke: color },
      ...{ paths: () => null, points: { show: false } },
    };
  }
  const bars = uPlot.paths.bars?.({ size: [0.7, 24] });
  return {
    label: series.label,
    scale,
    stroke: color,
    width: kind === 'bar' ? 1 : 1.6,
    ...(dash.length > 0 && kind === 'line' && { dash: [...dash] }),
    ...(kind === 'area' && { fill: `${color}${isStacked ? '99' : '33'}` }),
    ...(kind === 'bar' && { fill: `${color}cc`, ...(bars && { paths: bars }) }),
    points: {
      show: kind !== 'bar' && series.times.length <= (style.isPlain ? 1 : MAX_MARKED_COUNT),
      size: 5,
      // A point between gaps has no line.
      filter: (plot, index, isShown) => (isShown ? null : isolatedPoints(plot.data[index] ?? [])),
    },
  };
}

/** Returns the indices of points without a neighbor. `undefined` is not a gap: it marks a point of another series. */
function isolatedPoints(list: ArrayLike<number | null | undefined>): number[] {
  const found: number[] = [];
  let isAfterGap = true;
  let candidate = -1;
  for (let index = 0; index < list.length; index++) {
    const value = list[index];
    if (value === undefined) continue;
    if (value === null) {
      if (candidate !== -1) found.push(candidate);
      [candidate, isAfterGap] = [-1, true];
    } else {
      candidate = isAfterGap ? index : -1;
      isAfterGap = false;
    }
  }
  if (candidate !== -1) found.push(candidate);
  return found;
}

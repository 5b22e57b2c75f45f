import { useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { cssColor, styleOf } from '../../lib/chart/palette.js';
import { PendingRanges } from '../../lib/chart/pending-ranges.js';
import {
  type AlignedPoints,
  alignSeries,
  type ChartSeries,
  sharedUnit,
} from '../../lib/chart/series.js';
import { onThemeChange } from '../../lib/storage/theme.js';
import type { TimeRange } from '../../lib/time/time-range.js';
import { quantityText, timeText } from '../../lib/units.js';
import { addTooltip, halfAround, moveByKey, spokenAt, type Values } from './chart-cursor.js';
import { drawPoints, isDense } from './draw-points.js';
import './time-chart.css';

export type ChartKind = 'line' | 'area' | 'bar' | 'scatter' | 'heat';

/** Draws series as lines, bars, points or a heat map over time. A drag zooms in, a double click zooms out. */
export function TimeChart(props: {
  readonly series: readonly ChartSeries[];
  readonly kind: ChartKind;
  readonly range: TimeRange;
  readonly isLog?: boolean;
  readonly isStacked?: boolean;
  readonly height: number;
  /** Keeps the color of each series when others are hidden. */
  readonly colourOf: (key: string) => number;
  readonly onZoom?: (range: TimeRange) => void;
  readonly onZoomOut?: () => void;
  /** Switches to the table view. */
  readonly onTable?: () => void;
  readonly isPlain?: boolean;
  /** Formats the values of the y axis. */
  readonly axisText?: (value: number) => string;
}) {
  const { series, kind, range, isLog = false, isStacked = false, height, colourOf } = props;
  const { isPlain = false } = props;
  const unit = sharedUnit(series);
  const axisText = props.axisText ?? ((value: number) => quantityText(value, unit));
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const theme = useThemeCount();
  const shown = useRef<Shown | undefined>(undefined);
  const [spoken, setSpoken] = useState('');
  const [pending] = useState(() => new PendingRanges(range));
  useEffect(() => pending.show(range), [pending, range]);
  const zoomTo = (chosen: TimeRange): void => {
    pending.add(chosen);
    props.onZoom?.(chosen);
  };
  const zoomOut = (): void => {
    pending.clear();
    props.onZoomOut?.();
  };
  const zoom = useRef(zoomTo);
  zoom.current = zoomTo;
  const points = useMemo(
    () => (width === 0 ? undefined : alignSeries(series, { ...range, width })),
    [series, range, width],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: colors come from the theme.
  useEffect(() => {
    if (box.current === null || points === undefined) return;
    const drawn =
      isStacked && (kind === 'area' || kind === 'bar') ? stacked(points.data) : points.data;
    const [xs, ...lists] = drawn;
    const reversedValues = points.data.slice(1).toReversed() as Values;
    // The highest series is drawn first, behind the others.
    const plot = new uPlot(
      optionsOf({
        ...{ kind, range, isLog, width, height, colourOf, isPlain, isStacked, axisText },
        series: series.toReversed(),
        values: reversedValues,
        onZoom: (chosen) => zoom.current(chosen),
      }),
      [xs, ...lists.toReversed()] as uPlot.AlignedData,
      box.current,
    );
    shown.current = { plot, series: series.toReversed(), values: reversedValues };
    return () => {
      shown.current = undefined;
      plot.destroy();
    };
  }, [points, kind, isLog, isStacked, height, theme]);
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || shown.current === undefined) return;
    if (event.key === 't') props.onTable?.();
    const { plot, series: drawn, values } = shown.current;
    if (event.key === '+') zoomTo(halfAround(plot, pending.last));
    if (event.key === '-') zoomOut();
    if (!moveByKey(plot, values, { key: event.key, isFar: event.shiftKey })) return;
    event.preventDefault();
    setSpoken(spokenAt(plot, drawn, values));
  };
  return (
    <div className="time-chart">
      <div
        ref={box}
        role="img"
        aria-label={sentenceOf(series, range)}
        className="time-chart-box"
        data-result={isPlain ? undefined : true}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move from point to point.
        tabIndex={isPlain ? undefined : 0}
        onKeyDown={isPlain ? undefined : onKeyDown}
        onDoubleClick={zoomOut}
      />
      {!isPlain && (
        <span className="visually-hidden" role="status">
          {spoken}
        </span>
      )}
      {!isPlain && <ChartNote kind={kind} series={series} isReduced={points?.isReduced === true} />}
    </div>
  );
}

interface Shown {
  readonly plot: uPlot;
  readonly series: readonly ChartSeries[];
  readonly values: Values;
}

/** A note on data that the chart omits. */
function ChartNote(props: {
  readonly kind: ChartKind;
  readonly series: readonly ChartSeries[];
  readonly isReduced: boolean;
}) {
  const { kind, series, isReduced } = props;
  const isDensity = kind === 'scatter' && isDense(series);
  const text =
    kind === 'heat' || isDensity
      ? 'color intensity shows the number of points'
      : kind !== 'scatter' && isReduced && 'downsampled; minimum and maximum values are kept';
  return text ? <span className="time-chart-note">{text}</span> : null;
}

interface ChartStyle {
  readonly values: Values;
  readonly series: readonly ChartSeries[];
  readonly kind: ChartKind;
  readonly range: TimeRange;
  readonly isLog: boolean;
  readonly isStacked: boolean;
  readonly isPlain: boolean;
  readonly axisText: (value: number) => string;
  readonly width: number;
  readonly height: number;
  readonly colourOf: (key: string) => number;
  readonly onZoom: (range: TimeRange) => void;
}

const FONT = '11px system-ui, sans-serif';
/** Above this count per series, point markers would only add noise. */
const MAX_MARKED_COUNT = 60;

function optionsOf(style: ChartStyle): uPlot.Options {
  const { series, kind, range, isLog, width, height, isPlain } = style;
  const soft = cssColor('--ink-soft');
  const grid = { stroke: cssColor('--grid-line'), width: 1 };
  const axis = { stroke: soft, font: FONT, grid, ticks: { ...grid, size: 4 } };
  return {
    width,
    height,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    padding: [10, isPlain ? 18 : 22, 0, 0],
    cursor: {
      drag: { x: true, y: false, setScale: false },
      points: { size: 7 },
      focus: { prox: 24 },
    },
    focus: { alpha: series.length > 1 ? 0.35 : 1 },
    legend: { show: false },
    scales: {
      x: { range: () => [range.fromMs / 1000, range.toMs / 1000] },
      y: { distr: isLog ? 3 : 1, ...(isLog ? {} : { range: yRange(kind) }) },
    },
    axes: [
      {
        ...axis,
        size: isPlain ? 26 : 42,
        space: isPlain ? 70 : 60,
        values: isPlain ? SHORT_TIMES : TIMES,
      },
      {
        ...axis,
        size: isPlain ? 56 : 60,
        ...(isPlain ? { space: 36 } : axisTitle(series)),
        ...(sharedUnit(series) === 'bytes' && { incrs: BINARY_STEPS }),
        values: (_plot, values) =>
          values.map((each) => (each === null ? '' : style.axisText(each))),
      },
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

/** The field of the y axis, if all series have the same one. */
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
  if (kind === 'scatter' || kind === 'heat') {
    return { label: series.label, stroke: color, paths: () => null, points: { show: false } };
  }
  const bars = uPlot.paths.bars?.({ size: [0.7, 24] });
  return {
    label: series.label,
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

/** The indices of points without a neighbor. `undefined` is not a gap: it is a point of another series. */
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

/** Stacks the series on top of each other; a missing value counts as 0. */
function stacked(data: AlignedPoints['data']): AlignedPoints['data'] {
  const [xs, ...lists] = data;
  const sums = new Array<number>(xs.length).fill(0);
  const tops = lists.map((list) =>
    list.map((value, index) => {
      sums[index] = (sums[index] as number) + (value ?? 0);
      return value === null || value === undefined ? null : sums[index];
    }),
  );
  return [xs, ...tops];
}

function sentenceOf(series: readonly ChartSeries[], { fromMs, toMs }: TimeRange): string {
  const span = `${timeText(fromMs)} to ${timeText(toMs)} UTC`;
  if (series.length === 0) return `No points from ${span}`;
  let highest = series[0] as ChartSeries;
  for (const each of series) if (each.stats.max > highest.stats.max) highest = each;
  const count = series.length === 1 ? '1 series' : `${series.length} series`;
  return `${count}, ${span}, highest ${quantityText(highest.stats.max, highest.unit)} for ${highest.label}`;
}

function useWidth(box: React.RefObject<HTMLDivElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return width;
}

function useThemeCount(): number {
  const [count, setCount] = useState(0);
  useEffect(() => onThemeChange(() => setCount((before) => before + 1)), []);
  return count;
}

import { useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { type Axes, axesOf, stacked } from '@plinth/console-core/lib/chart/axes.js';
import { PendingRanges } from '@plinth/console-core/lib/chart/pending-ranges.js';
import { alignSeries, type ChartSeries } from '@plinth/console-core/lib/chart/series.js';
import { onThemeChange } from '@plinth/console-core/lib/storage/theme.js';
import type { TimeRange } from '@plinth/console-core/lib/time/time-range.js';
import { quantityText, timeText, type Unit } from '@plinth/console-core/lib/units.js';
import { halfAround, moveByKey, spokenAt, type Values } from './chart-cursor.js';
import { type ChartKind, optionsOf } from './chart-options.js';
import { isDense } from './draw-points.js';
import './time-chart.css';

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
  /** Formats the values of the left axis. */
  readonly axisText?: (value: number) => string;
}) {
  const { series, kind, range, isLog = false, isStacked = false, height, colourOf } = props;
  const { isPlain = false } = props;
  const axes = useMemo(() => axesOf(series, kind === 'heat'), [series, kind]);
  const axisText = props.axisText ?? ((value: number) => quantityText(value, axes.left));
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
    const [xs, ...values] = points.data;
    const lists =
      isStacked && (kind === 'area' || kind === 'bar') ? stacked(values, series) : values;
    const reversedValues: Values = values.toReversed();
    // The highest series is drawn first, behind the others.
    const plot = new uPlot(
      optionsOf({
        ...{ kind, range, isLog, width, height, colourOf, isPlain, isStacked, axes, axisText },
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
        aria-label={sentenceOf(series, range, axes)}
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
      {!isPlain && <ChartNote {...{ kind, series, axes }} isReduced={points?.isReduced === true} />}
    </div>
  );
}

interface Shown {
  readonly plot: uPlot;
  readonly series: readonly ChartSeries[];
  readonly values: Values;
}

/** A note on what the chart omits or combines. */
function ChartNote(props: {
  readonly kind: ChartKind;
  readonly series: readonly ChartSeries[];
  readonly axes: Axes;
  readonly isReduced: boolean;
}) {
  const { kind, series, axes, isReduced } = props;
  const isDensity = kind === 'scatter' && isDense(series);
  const notes = [
    axes.leftUnitCount > 1 && `${axes.leftUnitCount} units share this axis; see the legend`,
    kind === 'heat' || isDensity
      ? 'color intensity shows the number of points'
      : kind !== 'scatter' && isReduced && 'downsampled; minimum and maximum values are kept',
  ].filter((note) => note !== false);
  return notes.length > 0 ? <span className="time-chart-note">{notes.join(' · ')}</span> : null;
}

const UNIT_NAMES: Readonly<Record<Unit, string>> = {
  bytes: 'bytes',
  ms: 'milliseconds',
  seconds: 'seconds',
  percent: 'percent',
  none: 'numbers',
};

function sentenceOf(
  series: readonly ChartSeries[],
  range: TimeRange,
  { left, right }: Axes,
): string {
  const span = `${timeText(range.fromMs)} to ${timeText(range.toMs)} UTC`;
  if (series.length === 0) return `No points from ${span}`;
  const highest = new Map<Unit, ChartSeries>();
  for (const each of series) {
    const most = highest.get(each.unit)?.stats.max ?? -Infinity;
    if (!highest.has(each.unit) || each.stats.max > most) highest.set(each.unit, each);
  }
  const count = series.length === 1 ? '1 series' : `${series.length} series`;
  const values = [...highest.values()].map(
    ({ stats, unit, label }) => `${quantityText(stats.max, unit)} for ${label}`,
  );
  const sides =
    right === undefined
      ? ''
      : `, left axis in ${UNIT_NAMES[left]}, right axis in ${UNIT_NAMES[right]}`;
  return `${count}, ${span}, highest ${values.join(' and ')}${sides}`;
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

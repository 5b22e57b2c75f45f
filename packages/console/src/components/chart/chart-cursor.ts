import type { ChartSeries } from '@plinth/console-core/lib/chart/series.js';
import type { TimeRange } from '@plinth/console-core/lib/time/time-range.js';
import { quantityText, timeText, type Unit } from '@plinth/console-core/lib/units.js';
import type uPlot from 'uplot';

/** A list of original values for each series. The plotted values may be stacked. */
export type Values = readonly (readonly (number | null | undefined)[])[];

const FAR_STEP = 10;
const MAX_SPOKEN_COUNT = 5;

/** Moves the cursor from point to point. @returns whether the key was handled. */
export function moveByKey(
  plot: uPlot,
  values: Values,
  options: { key: string; isFar: boolean },
): boolean {
  const [xs] = plot.data;
  const { min = -Infinity, max = Infinity } = plot.scales['x'] ?? {};
  const isHere = (index: number): boolean =>
    (xs[index] as number) >= min &&
    (xs[index] as number) <= max &&
    values.some((list) => list[index] !== null && list[index] !== undefined);
  const places = Array.from(xs.keys()).filter(isHere);
  const now = places.findIndex((index) => index >= (plot.cursor.idx ?? Infinity));
  const step = options.isFar ? FAR_STEP : 1;
  const next: Readonly<Record<string, number>> = {
    ArrowRight: now === -1 ? 0 : now + step,
    ArrowLeft: now === -1 ? places.length - 1 : now - step,
    Home: 0,
    End: places.length - 1,
  };
  if (options.key === 'Escape') {
    plot.setCursor({ left: -10, top: -10 });
    return false; // so that Escape can also close an enclosing dialog
  }
  const target = next[options.key];
  if (target === undefined) return false;
  const index = places[Math.max(0, Math.min(places.length - 1, target))];
  if (index === undefined) return true;
  const left = plot.valToPos(xs[index] as number, 'x');
  plot.setCursor({ left, top: plot.over.clientHeight / 2 });
  return true;
}

/** Zooms in to half of the range, around the cursor or its last position. */
export function halfAround(plot: uPlot, { fromMs, toMs }: TimeRange): TimeRange {
  const { idx } = plot.cursor;
  const seconds = idx === null || idx === undefined ? undefined : plot.data[0][idx];
  const middleMs = seconds === undefined ? (fromMs + toMs) / 2 : seconds * 1000;
  const quarter = (toMs - fromMs) / 4;
  return { fromMs: middleMs - quarter, toMs: middleMs + quarter };
}

/** Returns the values at the cursor as a sentence for screen readers. */
export function spokenAt(plot: uPlot, series: readonly ChartSeries[], values: Values): string {
  const { idx } = plot.cursor;
  const x = idx === null || idx === undefined ? undefined : plot.data[0][idx];
  if (x === undefined) return '';
  const found = series.flatMap(({ label, unit }, index) => {
    const value = values[index]?.[idx as number];
    return value === null || value === undefined ? [] : [`${label} ${quantityText(value, unit)}`];
  });
  // Series are drawn in reverse order of the legend.
  const shown = found.toReversed().slice(0, MAX_SPOKEN_COUNT).join(', ');
  const others = found.length - MAX_SPOKEN_COUNT;
  return `${timeText(x * 1000)} UTC: ${shown}${others > 0 ? ` and ${others} more` : ''}`;
}

/** Shows the values at the cursor in a tooltip, nearest first. */
export function addTooltip(plot: uPlot, series: readonly ChartSeries[], values: Values): void {
  const tip = document.createElement('div');
  tip.className = 'time-chart-tip';
  tip.hidden = true;
  plot.over.append(tip);
  const show = (): void => {
    const { idx, left = -1, top = -1 } = plot.cursor;
    const x = idx === null || idx === undefined ? undefined : plot.data[0][idx];
    if (x === undefined || left < 0) {
      tip.hidden = true;
      return;
    }
    const rows = series
      .flatMap((each, index) => {
        const value = values[index]?.[idx as number];
        const drawn = plot.data[index + 1]?.[idx as number] ?? value;
        if (value === null || value === undefined) return [];
        return [
          {
            label: each.label,
            unit: each.unit,
            value,
            index,
            // In pixels, because the series may have different axes.
            distance: Math.abs(plot.valToPos(drawn ?? 0, scaleOf(plot, index)) - top),
          },
        ];
      })
      .sort((a, b) => a.distance - b.distance)
      .slice(0, 8);
    const head = document.createElement('div');
    head.className = 'time-chart-tip-time';
    head.textContent = `${timeText(x * 1000)} UTC`;
    tip.replaceChildren(head, ...rows.map((row) => tipRow(row, plot)));
    tip.hidden = rows.length === 0;
    const isRight = left > plot.over.clientWidth / 2;
    tip.style.left = isRight ? '' : `${left + 14}px`;
    tip.style.right = isRight ? `${plot.over.clientWidth - left + 14}px` : '';
    tip.style.top = `${Math.max(0, Math.min(top, plot.over.clientHeight - tip.offsetHeight))}px`;
  };
  plot.hooks.setCursor = [...(plot.hooks.setCursor ?? []), () => requestAnimationFrame(show)];
}

/** @param index of a drawn series. The first series of the chart library is the time. */
const scaleOf = (plot: uPlot, index: number): string => plot.series[index + 1]?.scale ?? 'y';

function tipRow(
  row: {
    readonly label: string;
    readonly unit: Unit;
    readonly value: number;
    readonly index: number;
  },
  plot: uPlot,
): HTMLElement {
  const line = document.createElement('div');
  line.className = 'time-chart-tip-row';
  const mark = document.createElement('i');
  const { stroke } = plot.series[row.index + 1] ?? {};
  mark.style.background = typeof stroke === 'function' ? String(stroke(plot, row.index + 1)) : '';
  const label = document.createElement('span');
  label.textContent = row.label;
  const value = document.createElement('b');
  value.textContent = quantityText(row.value, row.unit);
  line.append(mark, label, value);
  return line;
}

import { type Axes, type Side, sideOf } from '@plinth/console-core/lib/chart/axes.js';
import { densityOf, strengthOf } from '@plinth/console-core/lib/chart/density.js';
import { cssColor, styleOf } from '@plinth/console-core/lib/chart/palette.js';
import type { ChartSeries } from '@plinth/console-core/lib/chart/series.js';
import type { TimeRange } from '@plinth/console-core/lib/time/time-range.js';
import type uPlot from 'uplot';

/** Above this count, single points are unreadable and slow, so their density is drawn. */
const MAX_DOT_COUNT = 50_000;
const DOT_PX = 3;
const DENSITY_CELL_PX = 2;
const HEAT_CELL_PX = 10;

export interface PointsStyle {
  readonly series: readonly ChartSeries[];
  readonly kind: 'scatter' | 'heat';
  readonly range: TimeRange;
  readonly isLog: boolean;
  readonly axes: Axes;
  readonly colourOf: (key: string) => number;
}

export const isDense = (series: readonly ChartSeries[]): boolean =>
  series.reduce((sum, { times }) => sum + times.length, 0) > MAX_DOT_COUNT;

/**
 * Draws every point into a chart that already has its axes. The chart library's own paths lose
 * points above about 180,000. A heat map has one color and counts the points of all series.
 */
export function drawPoints(plot: uPlot, style: PointsStyle): void {
  const { series, kind } = style;
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  if (kind === 'heat') {
    drawCells(plot, style, {
      ...{ of: series, side: 'y', colour: cssColor('--accent'), cellPx: HEAT_CELL_PX },
    });
  } else if (isDense(series)) {
    for (const each of series) {
      const colour = styleOf(style.colourOf(each.key)).color;
      const side = sideOf(each, style.axes);
      drawCells(plot, style, { of: [each], side, colour, cellPx: DENSITY_CELL_PX });
    }
  } else for (const each of series) drawDots(plot, each, style);
  ctx.restore();
}

function drawDots(plot: uPlot, series: ChartSeries, style: PointsStyle): void {
  const { key, times, values } = series;
  const { ctx } = plot;
  const side = sideOf(series, style.axes);
  const size = DOT_PX * devicePixelRatio;
  ctx.fillStyle = styleOf(style.colourOf(key)).color;
  ctx.globalAlpha = 0.75;
  for (let at = 0; at < times.length; at++) {
    const x = plot.valToPos((times[at] as number) / 1000, 'x', true);
    const y = plot.valToPos(values[at] as number, side, true);
    if (Number.isFinite(y)) ctx.fillRect(x - size / 2, y - size / 2, size, size);
  }
  ctx.globalAlpha = 1;
}

function drawCells(
  plot: uPlot,
  { range, isLog }: PointsStyle,
  options: {
    readonly of: readonly ChartSeries[];
    readonly side: Side;
    readonly colour: string;
    readonly cellPx: number;
  },
): void {
  const { ctx, bbox, scales } = plot;
  const cellPx = options.cellPx * devicePixelRatio;
  const columns = Math.max(1, Math.round(bbox.width / cellPx));
  const rows = Math.max(1, Math.round(bbox.height / cellPx));
  const { min: low = 0, max: high = 1 } = scales[options.side] ?? {};
  const counts = densityOf(options.of, { ...range, low, high, columns, rows, isLog });
  const highest = counts.reduce((most, count) => Math.max(most, count), 0);
  ctx.fillStyle = options.colour;
  const [red = 0, green = 0, blue = 0] = channelsOf(String(ctx.fillStyle));
  const image = new ImageData(columns, rows);
  for (const [cell, count] of counts.entries()) {
    if (count === 0) continue;
    image.data.set([red, green, blue, Math.round(255 * strengthOf(count, highest))], cell * 4);
  }
  const canvas = document.createElement('canvas');
  canvas.width = columns;
  canvas.height = rows;
  canvas.getContext('2d')?.putImageData(image, 0, 0);
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(canvas, bbox.left, bbox.top, bbox.width, bbox.height);
}

/** Returns the red, green and blue components of a color that the canvas has normalized to `#rrggbb`. */
const channelsOf = (colour: string): readonly number[] =>
  [1, 3, 5].map((from) => Number.parseInt(colour.slice(from, from + 2), 16) || 0);

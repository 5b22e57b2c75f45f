/** A range of times and values, divided into cells. */
export interface Grid {
  readonly fromMs: number;
  readonly toMs: number;
  readonly low: number;
  readonly high: number;
  readonly columns: number;
  readonly rows: number;
  /** Rows are spaced evenly on a logarithmic scale. */
  readonly isLog: boolean;
}

type Points = { readonly times: ArrayLike<number>; readonly values: ArrayLike<number> };

/**
 * Returns the number of points in each cell, row by row from the highest values. Does not count NaN and points outside
 * the grid.
 */
export function densityOf(series: readonly Points[], grid: Grid): Uint32Array {
  const { fromMs, toMs, columns, rows, isLog } = grid;
  const counts = new Uint32Array(columns * rows);
  const scale = isLog ? Math.log : (value: number) => value;
  const [low, high] = [scale(grid.low), scale(grid.high)];
  for (const { times, values } of series) {
    for (let at = 0; at < times.length; at++) {
      const x = ((times[at] as number) - fromMs) / (toMs - fromMs);
      const y = (high - scale(values[at] as number)) / (high - low);
      if (!(x >= 0 && x <= 1 && y >= 0 && y <= 1)) continue;
      const column = Math.min(columns - 1, Math.floor(x * columns));
      const row = Math.min(rows - 1, Math.floor(y * rows));
      const cell = row * columns + column;
      counts[cell] = (counts[cell] as number) + 1;
    }
  }
  return counts;
}

const FAINTEST = 0.18;

/** Returns the opacity of a cell, from 0 to 1. A single point remains visible next to thousands. */
export function strengthOf(count: number, highest: number): number {
  if (count === 0) return 0;
  if (highest <= 1) return 1;
  return FAINTEST + ((1 - FAINTEST) * Math.log(count)) / Math.log(highest);
}

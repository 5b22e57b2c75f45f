/** Statistics of the values of one series; NaN when it has none. */
export interface SeriesStats {
  readonly last: number;
  readonly min: number;
  readonly max: number;
  readonly avg: number;
  readonly sum: number;
}

/** Ignores NaN values. */
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

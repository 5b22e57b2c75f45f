import type { Unit } from '../units.js';
import type { ChartSeries } from './series.js';

/** The value axes of a chart. */
export interface Axes {
  /** Also `none` if the series have too many units for two axes. */
  readonly left: Unit;
  /** Undefined if all series use the left axis. */
  readonly right: Unit | undefined;
  /** The number of units on the left axis. */
  readonly leftUnitCount: number;
}

/** The names of the vertical scales. */
export type Side = 'y' | 'right';

type Part = Pick<ChartSeries, 'unit'>;

/**
 * Creates an axis on each side for series with two units, in the order of the series. More units share one axis without
 * a unit.
 * @param isCombined whether the chart adds up the points of all series, as a heat map does, and so has only one axis.
 */
export function axesOf(series: readonly Part[], isCombined = false): Axes {
  const [left = 'none', right, ...others] = new Set(series.map(({ unit }) => unit));
  if (right === undefined) return { left, right, leftUnitCount: 1 };
  if (others.length === 0 && !isCombined) return { left, right, leftUnitCount: 1 };
  return { left: 'none', right: undefined, leftUnitCount: others.length + 2 };
}

export const sideOf = ({ unit }: Part, { right }: Axes): Side => (unit === right ? 'right' : 'y');

/**
 * Stacks series on top of each other; a missing value counts as 0. Values of different units are not added.
 * @param lists the values of each series, all at the same timestamps.
 */
export function stacked(
  lists: readonly (readonly (number | null | undefined)[])[],
  series: readonly Part[],
): (number | null)[][] {
  const sums = new Map<Unit, number[]>();
  return lists.map((list, at) => {
    const unit = series[at]?.unit ?? 'none';
    const sum = sums.get(unit) ?? new Array<number>(list.length).fill(0);
    sums.set(unit, sum);
    return list.map((value, index) => {
      sum[index] = (sum[index] as number) + (value ?? 0); // all lists have the same length
      return value === null || value === undefined ? null : (sum[index] as number);
    });
  });
}

import type { DirectRequest } from '../../../model/direct-request.js';
import type { SeriesIndex } from '../series-index.js';
import { findRun, lowerBound, offsetRange } from './part.js';
import type { LoadedRows } from './table-columns.js';

/** Rows of one series within one part, by columns: run `i` is the rows `[from[i], to[i])` of `loaded[source[i]]`. */
export interface Runs {
  readonly source: number[];
  readonly series: number[];
  readonly from: number[];
  readonly to: number[];
  rowCount: number;
  /** Rows of the longest run. */
  longest: number;
}

/** Dense numbers of the series that meet the conditions on tags; `undefined`: all. */
export function selectedSeries(
  request: DirectRequest,
  index: SeriesIndex,
): readonly number[] | undefined {
  if (request.tagConditions.length === 0) return undefined;
  return index.select(request.tagConditions, Number.POSITIVE_INFINITY);
}

/** The rows of the series within the bounds of time. */
export function runsWithin(
  loaded: readonly LoadedRows[],
  series: readonly number[] | undefined,
  bounds: { readonly minTimeNs: bigint; readonly maxTimeNs: bigint },
): Runs {
  const runs: Runs = { source: [], series: [], from: [], to: [], rowCount: 0, longest: 0 };
  loaded.forEach(({ part }, source) => {
    const range = offsetRange(part, bounds.minTimeNs, bounds.maxTimeNs);
    if (range === undefined) return;
    const isWhole = range.min <= part.minOffset && range.max >= part.maxOffset;
    const take = (run: number): void => {
      let from = part.runStarts[run] as number;
      let to = part.runEnds[run] as number;
      if (!isWhole) {
        from = lowerBound(part.offsets, from, to, range.min);
        to = lowerBound(part.offsets, from, to, range.max + 1);
      }
      if (from >= to) return;
      runs.source.push(source);
      runs.series.push(part.runSeries[run] as number);
      runs.from.push(from);
      runs.to.push(to);
      runs.rowCount += to - from;
      if (to - from > runs.longest) runs.longest = to - from;
    };
    if (series === undefined) {
      for (let run = 0; run < part.runSeries.length; run++) take(run);
      return;
    }
    for (const one of series) {
      const run = findRun(part, one);
      if (run >= 0) take(run);
    }
  });
  return runs;
}

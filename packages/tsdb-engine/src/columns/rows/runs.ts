import type { ColumnQuery } from '@plinth/tsdb-model/query/column-query.js';
import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';
import { isStepEnd, type Steps, TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import type { SeriesIndex } from '../../series/series-index.js';
import { findRun, lowerBound, offsetRange, type Part } from '../cache/part.js';
import type { LoadedRows } from '../load/loaded-rows.js';

/**
 * Runs as columns: run `i` is the rows `[from[i], to[i])` of the part `loaded[source[i]]`, all of
 * the series with the ordinal `series[i]`.
 */
export interface Runs {
  readonly source: Uint32Array;
  readonly series: Uint32Array;
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  readonly rowCount: number;
  /** Row count of the longest run. */
  readonly longest: number;
}

/** Returns the series ordinals of the series that meet the tag conditions; `undefined` means all. */
export function* selectedSeries(
  request: ColumnQuery,
  index: SeriesIndex,
): Steps<readonly number[] | undefined> {
  if (request.tagConditions.length === 0) return undefined;
  return yield* index.select(request.tagConditions, Number.POSITIVE_INFINITY);
}

/** Returns the rows of the series within the time range, source by source. */
export function* runsWithin(
  loaded: readonly LoadedRows[],
  series: readonly number[] | undefined,
  bounds: { readonly minTimeNs: bigint; readonly maxTimeNs: bigint },
): Steps<Runs> {
  const found = new FoundRuns(mostRuns(loaded, series));
  for (let source = 0; source < loaded.length; source++) {
    const { part } = loaded[source] as LoadedRows;
    const range = offsetRange(part, bounds.minTimeNs, bounds.maxTimeNs);
    if (range === undefined) continue;
    found.enter(part, source, range);
    const count = series?.length ?? part.runSeries.length;
    for (let i = 0; i < count; i++) {
      if (isStepEnd(i)) yield;
      const run = series === undefined ? i : findRun(part, series[i] as number); // below its length
      if (run >= 0) found.add(run);
    }
  }
  return found.runs();
}

/** Whether each of the series has a row within the time range. */
export async function haveAllSeries(
  bounds: { readonly minTimeNs: bigint; readonly maxTimeNs: bigint },
  loaded: readonly LoadedRows[],
  {
    index,
    series,
    queryContext,
  }: {
    readonly index: SeriesIndex;
    readonly series: readonly number[] | undefined;
    readonly queryContext: Pick<QueryContext, 'signal'> | undefined;
  },
): Promise<boolean> {
  const runs = await new TimeSlicedTask(queryContext).run(runsWithin(loaded, series, bounds));
  const isFound = new Uint8Array(index.count);
  let missing = series?.length ?? index.count;
  for (const found of runs.series) {
    if (isFound[found] === 0) missing--;
    isFound[found] = 1;
  }
  return missing === 0;
}

function mostRuns(loaded: readonly LoadedRows[], series: readonly number[] | undefined): number {
  let count = 0;
  for (const { part } of loaded)
    count += Math.min(part.runSeries.length, series?.length ?? part.runSeries.length);
  return count;
}

class FoundRuns {
  readonly #source: Uint32Array;
  readonly #series: Uint32Array;
  readonly #from: Uint32Array;
  readonly #to: Uint32Array;
  #count = 0;
  #rowCount = 0;
  #longest = 0;
  #part: Part | undefined;
  #ofSource = 0;
  #min = 0;
  #max = 0;
  #isWhole = false;

  constructor(most: number) {
    this.#source = new Uint32Array(most);
    this.#series = new Uint32Array(most);
    this.#from = new Uint32Array(most);
    this.#to = new Uint32Array(most);
  }

  /** Sets the part of the next runs, and the range of offsets to include. */
  enter(part: Part, source: number, { min, max }: { readonly min: number; readonly max: number }) {
    this.#part = part;
    this.#ofSource = source;
    this.#min = min;
    this.#max = max;
    this.#isWhole = min <= part.minOffset && max >= part.maxOffset;
  }

  add(run: number): void {
    const part = this.#part as Part; // `enter` has set it
    let from = part.runStarts[run] as number;
    let to = part.runEnds[run] as number;
    if (!this.#isWhole) {
      from = lowerBound(part.offsets, from, to, this.#min);
      to = lowerBound(part.offsets, from, to, this.#max + 1);
    }
    if (from >= to) return;
    const at = this.#count++;
    this.#source[at] = this.#ofSource;
    this.#series[at] = part.runSeries[run] as number;
    this.#from[at] = from;
    this.#to[at] = to;
    this.#rowCount += to - from;
    if (to - from > this.#longest) this.#longest = to - from;
  }

  runs(): Runs {
    const count = this.#count;
    return {
      source: this.#source.subarray(0, count),
      series: this.#series.subarray(0, count),
      from: this.#from.subarray(0, count),
      to: this.#to.subarray(0, count),
      rowCount: this.#rowCount,
      longest: this.#longest,
    };
  }
}

import type { EncodedTagsCache } from '@plinth/tsdb-model/columns/encoded-tags.js';
import type { ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { ColumnQuery, LastRowsComputation } from '@plinth/tsdb-model/query/column-query.js';
import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';
import { compareTimes } from '@plinth/tsdb-model/time/calendar.js';
import { isStepEnd, type Steps, TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import type { SeriesIndex } from '../../series/series-index.js';
import { lastRowsOf } from '../cache/last-rows.js';
import { timeAt } from '../cache/part.js';
import { SeriesGroups } from '../groups/series-groups.js';
import type { LoadedRows } from '../load/loaded-rows.js';
import { areFewToCopy, denseCopy } from './dense-rows.js';
import { type PickedRows, RowChunks } from './row-chunks.js';
import { type Runs, runsWithin } from './runs.js';

/** Rows per chunk: the first rows of a large result are sent while the next are prepared. */
const CHUNK_ROWS = 512;
const MAX_SOURCES = 65_535;
/** Parts of up to this many rows fit in the CPU cache, so their rows need not be close together. */
const NEAR_ROWS = 65_536;
/**
 * With more series than this per result row, the tag dictionaries of the result contain only its own
 * series, not all values of the table.
 */
const SERIES_PER_ROW = 8;
/** Maximum error of a timestamp as a double. */
const NEAR_NS = 1024;

/** Returns the newest row of each combination of tags. */
export async function computeLastRows(columnRequest: {
  readonly request: ColumnQuery;
  readonly computation: LastRowsComputation;
  readonly loaded: readonly LoadedRows[];
  readonly index: SeriesIndex;
  readonly series: readonly number[] | undefined;
  readonly encodedTags: EncodedTagsCache;
  readonly queryContext: Pick<QueryContext, 'signal'> | undefined;
}): Promise<Iterable<ResultChunk> | undefined> {
  const { request, computation, index } = columnRequest;
  if (columnRequest.loaded.length > MAX_SOURCES) return undefined;
  // Later parts come first, so that most runs of earlier parts can be skipped by their bounds.
  const loaded = columnRequest.loaded
    .map((each) => lastRowsOf(each, request))
    .sort((a, b) => compareTimes(b.part.baseNs, a.part.baseNs));
  const task = new TimeSlicedTask(columnRequest.queryContext);
  const runs = await task.run(runsWithin(loaded, columnRequest.series, request));
  const tags = computation.by.flatMap(({ key }) => (key.kind === 'tag' ? [key.tag] : []));
  const groups = new SeriesGroups(index, tags);
  const latest = await task.run(latestRuns(runs, loaded, groups));
  const picked = await task.run(pickedFrom(runs, latest));
  // Rows scattered over large parts are copied together first, so that memory is read sequentially.
  const isFar = loaded.some(({ part }) => part.rowCount > NEAR_ROWS);
  const rows =
    isFar && areFewToCopy(picked.rows.length, computation.columns, loaded)
      ? await task.run(denseCopy(picked, loaded))
      : { picked, loaded };
  const order = Uint32Array.from(await task.run(groups.sorted(computation.by)));
  // Each series occurs once, so the number of rows is the number of series in the result.
  const isFewOfMany = index.count > order.length * SERIES_PER_ROW;
  const chunks = new RowChunks({
    loaded: rows.loaded,
    columns: computation.columns,
    index,
    ...(isFewOfMany
      ? { tagsBy: 'series' }
      : { tagsBy: 'value', encodedTags: columnRequest.encodedTags }),
  });
  const ordered = await task.run(inOrder(rows.picked, order));
  return chunks.of(ordered, { from: 0, to: order.length, chunkRows: CHUNK_ROWS });
}

// A loop is faster than `from` and `map`, which call a function for each of thousands of rows.

function* pickedFrom(runs: Runs, latest: readonly number[]): Steps<PickedRows> {
  const picked = emptyRows(latest.length);
  for (let i = 0; i < latest.length; i++) {
    if (isStepEnd(i)) yield;
    const run = latest[i] as number;
    picked.sources[i] = runs.source[run] as number;
    picked.rows[i] = (runs.to[run] as number) - 1;
    picked.series[i] = runs.series[run] as number;
  }
  return picked;
}

function* inOrder({ sources, rows, series }: PickedRows, order: Uint32Array): Steps<PickedRows> {
  const ordered = emptyRows(order.length);
  for (let i = 0; i < order.length; i++) {
    if (isStepEnd(i)) yield;
    const from = order[i] as number;
    ordered.sources[i] = sources[from] as number;
    ordered.rows[i] = rows[from] as number;
    ordered.series[i] = series[from] as number;
  }
  return ordered;
}

function emptyRows(count: number): PickedRows {
  return {
    sources: new Uint16Array(count),
    rows: new Uint32Array(count),
    series: new Uint32Array(count),
  };
}

/** For each group, the run with the newest row. */
function* latestRuns(
  runs: Runs,
  loaded: readonly LoadedRows[],
  groups: SeriesGroups,
): Steps<readonly number[]> {
  const latest: number[] = [];
  const lastTimes: number[] = [];
  const bases = loaded.map(({ part }) => Number(part.baseNs));
  const ends = loaded.map(({ part }, i) => (bases[i] as number) + part.maxOffset * part.unitNs);
  const timeOf = (run: number): bigint =>
    timeAt((loaded[runs.source[run] as number] as LoadedRows).part, (runs.to[run] as number) - 1);
  for (let run = 0; run < runs.source.length; run++) {
    if (isStepEnd(run)) yield;
    const group = groups.groupOf(runs.series[run] as number);
    const source = runs.source[run] as number;
    const before = lastTimes[group];
    if (before !== undefined && (ends[source] as number) < before - NEAR_NS) continue;
    const { offsets, unitNs } = (loaded[source] as LoadedRows).part;
    const time =
      (bases[source] as number) + (offsets[(runs.to[run] as number) - 1] as number) * unitNs;
    if (before !== undefined) {
      if (time < before - NEAR_NS) continue;
      if (time <= before + NEAR_NS && timeOf(run) <= timeOf(latest[group] as number)) continue;
    }
    latest[group] = run;
    lastTimes[group] = time;
  }
  return latest;
}

import type { ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { ColumnQuery, RowsComputation } from '@plinth/tsdb-model/query/column-query.js';
import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';
import {
  indices,
  inOrder,
  isStepEnd,
  type Steps,
  sorted,
  TimeSlicedTask,
} from '@plinth/tsdb-model/time-sliced-task.js';
import type { SeriesIndex } from '../../series/series-index.js';
import { seriesRanks } from '../groups/series-ranks.js';
import { type TimeScale, timeScale } from '../groups/time-scale.js';
import { TimeSlicer } from '../groups/time-slicer.js';
import type { LoadedRows } from '../load/loaded-rows.js';
import { TimeSorter } from '../load/time-sorter.js';
import { areFewToCopy, denseCopy } from './dense-rows.js';
import { FILTER_BATCH_ROWS, rowFilter } from './matching-rows.js';
import { type PickedRows, RowChunks } from './row-chunks.js';
import { type Runs, runsWithin } from './runs.js';
import { SliceChunks } from './slice-chunks.js';

/** DuckDB scans and sorts larger inputs, because it uses all cores. */
const MAX_SCANNED_ROWS = 16_000_000;
const MAX_PICKED = 500_000;
const MAX_SOURCES = 65_535;
/** Number of rows processed between two yields to the event loop. */
const ROWS_PER_STEP = 1_000_000;
/** Cost of switching to the next run, in rows. */
const ROWS_PER_RUN = 16;
/** With twice as many rows, the strings trigger five times as many garbage collections. */
const MOST_CHUNK_ROWS = 2048;
const LEAST_CHUNK_ROWS = 256;
/**
 * With this many values, the encoded text fits in pooled memory (`PiecePool`), also as JSON with a
 * name before each value.
 */
const CHUNK_VALUES = 20_480;
/** Larger results are streamed by time slice. */
const MAX_WHOLE_ROWS = 32_768;
/** Each slice visits every run, and rows with one timestamp are never divided. */
const MAX_STREAMED_RUNS = 131_072;
/** Number of rows of the first slice; small, so that the first rows are sent soon. */
const FIRST_ROWS = 8192;
/**
 * With more concurrent results than this, slices are shorter, so that the rows of all slices stay
 * bounded.
 */
const MANY_STREAMS = 16;
const MAX_SLICED_ROWS = MANY_STREAMS * MAX_WHOLE_ROWS;
const LEAST_SLICE_ROWS = 4096;
/** At least this many rows are copied together before they are read in time order. */
const LEAST_COPIED = 4096;

interface RowsToStream {
  readonly computation: RowsComputation;
  readonly loaded: readonly LoadedRows[];
  readonly index: SeriesIndex;
}

/** Returns the rows in time order; `undefined` if DuckDB is at least as fast. */
export async function computeRows(columnRequest: {
  readonly request: ColumnQuery;
  readonly computation: RowsComputation;
  readonly loaded: readonly LoadedRows[];
  readonly index: SeriesIndex;
  readonly series: readonly number[] | undefined;
  readonly queryContext: Pick<QueryContext, 'signal'> | undefined;
}): Promise<Iterable<ResultChunk> | undefined> {
  const { request, computation, loaded, index } = columnRequest;
  const task = new TimeSlicedTask(columnRequest.queryContext);
  const found = await task.run(runsWithin(loaded, columnRequest.series, request));
  if (found.rowCount > MAX_SCANNED_ROWS || loaded.length > MAX_SOURCES) return undefined;
  // Rows are sorted only by time: rows with the same timestamp keep the order of the scan.
  const runs =
    computation.tieBreakers.length === 0
      ? found
      : await task.run(inTagOrder(found, index, computation));
  if (request.fieldConditions.length === 0 && runs.rowCount > MAX_WHOLE_ROWS)
    return streamedRows(runs, columnRequest);
  const matching = await pickRows(request, runs, { loaded, task });
  if (matching === undefined) return undefined;
  const { picked, loaded: rows } = isWorthCopying(matching, computation, loaded)
    ? await task.run(denseCopy(matching, loaded))
    : { picked: matching, loaded };
  const sorted = sortedByTime(picked, rows, computation.descending);
  if (sorted === undefined) return undefined;
  const end =
    computation.limit === undefined
      ? sorted.rows.length
      : Math.min(sorted.rows.length, computation.offset + computation.limit);
  const chunks = new RowChunks({
    ...{ loaded: rows, columns: computation.columns, index },
    tagsBy: 'series',
  });
  return chunks.of(sorted, {
    from: Math.min(computation.offset, end),
    to: end,
    chunkRows: chunkRowsOf(computation),
  });
}

function isWorthCopying(
  { rows }: PickedRows,
  { columns, limit }: RowsComputation,
  loaded: readonly LoadedRows[],
): boolean {
  return (
    limit === undefined && rows.length >= LEAST_COPIED && areFewToCopy(rows.length, columns, loaded)
  );
}

/** Streams all rows of the runs by time slice. At most one slice is sorted in memory. */
function streamedRows(runs: Runs, columnRequest: RowsToStream): Iterable<ResultChunk> | undefined {
  const { computation, loaded } = columnRequest;
  // Rows skipped by OFFSET are sorted, too.
  if (runs.source.length > MAX_STREAMED_RUNS || computation.offset > MAX_PICKED) return undefined;
  const scale = timeScale(loaded, runs.source);
  return scale === undefined ? undefined : sliceChunks(runs, scale, columnRequest);
}

/** Number of results that are being streamed. If there are many, most have slow readers. */
let streamCount = 0;

/**
 * Returns the rows per slice. Each slice visits every run, so it has at least one row per run.
 * `undefined` selects the fastest size.
 */
function sliceRowsOf({ source }: Runs): number | undefined {
  if (streamCount <= MANY_STREAMS) return undefined;
  const share = Math.floor(MAX_SLICED_ROWS / streamCount);
  return Math.min(MAX_WHOLE_ROWS, Math.max(LEAST_SLICE_ROWS, share, source.length));
}

function* sliceChunks(
  runs: Runs,
  scale: TimeScale,
  columnRequest: RowsToStream,
): Generator<ResultChunk, void, undefined> {
  const { offset, limit, columns, descending: isDescending } = columnRequest.computation;
  const end = limit === undefined ? Number.POSITIVE_INFINITY : offset + limit;
  const { loaded, index } = columnRequest;
  const firstRows = Math.min(FIRST_ROWS, end);
  const chunkRows = chunkRowsOf(columnRequest.computation);
  // A slow reader keeps its version of the columns in memory, even if the cache replaces them.
  const unpins = loaded.map((rows) => rows.pin?.());
  streamCount++;
  try {
    const sliceRows = sliceRowsOf(runs);
    const slicer = new TimeSlicer({ runs, loaded, scale, isDescending, firstRows, sliceRows });
    const chunks = new SliceChunks({ loaded, columns, index, scale, isDescending });
    for (let before = 0; before < end; ) {
      const slice = slicer.next();
      if (slice === undefined) return;
      chunks.take(slice);
      const to = Math.min(slice.rowCount, end - before);
      for (let from = Math.max(0, offset - before); from < to; from += chunkRows)
        yield chunks.chunk(from, Math.min(to, from + chunkRows));
      before += slice.rowCount;
    }
  } finally {
    streamCount--;
    for (const unpin of unpins) unpin?.();
  }
}

const chunkRowsOf = ({ columns }: RowsComputation): number =>
  Math.min(
    MOST_CHUNK_ROWS,
    Math.max(LEAST_CHUNK_ROWS, Math.floor(CHUNK_VALUES / Math.max(1, columns.length))),
  );

/** Returns the rows of the runs that meet the conditions, run by run. */
async function pickRows(
  { fieldConditions }: ColumnQuery,
  runs: Runs,
  { loaded, task }: { readonly loaded: readonly LoadedRows[]; readonly task: TimeSlicedTask },
): Promise<PickedRows | undefined> {
  const takesAll = fieldConditions.length === 0;
  if (takesAll && runs.rowCount > MAX_PICKED) return undefined;
  const picked = new GrowingRows(takesAll ? runs.rowCount : 1024);
  const rows = new Uint32Array(FILTER_BATCH_ROWS);
  const filters = new Map<number, ReturnType<typeof rowFilter>>();
  let scanned = 0;
  for (let run = 0; run < runs.source.length; run++) {
    const source = runs.source[run] as number;
    if (!filters.has(source))
      filters.set(source, rowFilter(loaded[source] as LoadedRows, fieldConditions));
    const filter = filters.get(source);
    if (filter === undefined) continue;
    const to = runs.to[run] as number;
    scanned += ROWS_PER_RUN;
    for (let from = runs.from[run] as number; from < to; from += FILTER_BATCH_ROWS) {
      const count = Math.min(to - from, FILTER_BATCH_ROWS);
      for (let i = 0; i < count; i++) rows[i] = from + i;
      picked.add(source, runs.series[run] as number, rows, filter(rows, count));
      scanned += count;
    }
    if (picked.count > MAX_PICKED) return undefined;
    if (scanned < ROWS_PER_STEP) continue;
    scanned = 0;
    await task.yieldIfDue();
  }
  return picked.pickedRows();
}

/** Returns the runs sorted by the tag values of their series. */
function* inTagOrder(
  runs: Runs,
  index: SeriesIndex,
  { tieBreakers, descending }: RowsComputation,
): Steps<Runs> {
  const ranks = yield* seriesRanks(runs.series, index, tieBreakers);
  const sign = descending ? -1 : 1;
  const rankOf = new Float64Array(runs.series.length);
  for (let run = 0; run < rankOf.length; run++) {
    if (isStepEnd(run)) yield;
    rankOf[run] = (ranks.get(runs.series[run] as number) ?? 0) * sign;
  }
  const order = yield* sorted(
    yield* indices(0, rankOf.length),
    (a, b) => (rankOf[a] as number) - (rankOf[b] as number),
  );
  const ordered = (values: Uint32Array) => inOrder(values, order, new Uint32Array(order.length));
  return {
    ...runs,
    source: yield* ordered(runs.source),
    series: yield* ordered(runs.series),
    from: yield* ordered(runs.from),
    to: yield* ordered(runs.to),
  };
}

class GrowingRows {
  count = 0;
  #sources: Uint16Array;
  #rows: Uint32Array;
  #series: Uint32Array;

  constructor(capacity: number) {
    this.#sources = new Uint16Array(capacity);
    this.#rows = new Uint32Array(capacity);
    this.#series = new Uint32Array(capacity);
  }

  add(source: number, series: number, rows: Uint32Array, count: number): void {
    const end = this.count + count;
    if (end > this.#rows.length) this.#grow(end);
    this.#sources.fill(source, this.count, end);
    this.#series.fill(series, this.count, end);
    if (count === rows.length) this.#rows.set(rows, this.count);
    else this.#rows.set(rows.subarray(0, count), this.count);
    this.count = end;
  }

  pickedRows(): PickedRows {
    return {
      sources: this.#sources.subarray(0, this.count),
      rows: this.#rows.subarray(0, this.count),
      series: this.#series.subarray(0, this.count),
    };
  }

  #grow(least: number): void {
    const capacity = Math.max(least, this.#rows.length * 2);
    const sources = new Uint16Array(capacity);
    sources.set(this.#sources);
    this.#sources = sources;
    const rows = new Uint32Array(capacity);
    rows.set(this.#rows);
    this.#rows = rows;
    const series = new Uint32Array(capacity);
    series.set(this.#series);
    this.#series = series;
  }
}

/** Returns `undefined` if the timestamps are too far apart to be distinct as doubles. */
function sortedByTime(
  picked: PickedRows,
  loaded: readonly LoadedRows[],
  isDescending: boolean,
): PickedRows | undefined {
  const scale = timeScale(loaded, picked.sources);
  if (scale === undefined) return undefined;
  const count = picked.rows.length;
  const order = new TimeSorter(isDescending).sorted(scaledTimesOf(picked, loaded, scale), count);
  const sorted = {
    sources: new Uint16Array(count),
    rows: new Uint32Array(count),
    series: new Uint32Array(count),
  };
  for (let i = 0; i < count; i++) {
    const from = order[i] as number;
    sorted.sources[i] = picked.sources[from] as number;
    sorted.rows[i] = picked.rows[from] as number;
    sorted.series[i] = picked.series[from] as number;
  }
  return sorted;
}

function scaledTimesOf(
  { sources, rows }: PickedRows,
  loaded: readonly LoadedRows[],
  { starts, factors }: TimeScale,
): Float64Array {
  const scaledTimes = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) {
    const source = sources[i] as number;
    const { offsets } = (loaded[source] as LoadedRows).part;
    const offset = offsets[rows[i] as number] as number;
    scaledTimes[i] = (starts[source] as number) + offset * (factors[source] as number);
  }
  return scaledTimes;
}

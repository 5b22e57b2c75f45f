import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type {
  ColumnQuery,
  GroupOutput,
  GroupsComputation,
} from '@plinth/tsdb-model/query/column-query.js';
import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';
import { binFixed } from '@plinth/tsdb-model/time/calendar.js';
import { isStepEnd, type Steps, TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import type { SeriesIndex } from '../../series/series-index.js';
import { timeAt } from '../cache/part.js';
import type { LoadedRows } from '../load/loaded-rows.js';
import { type Runs, runsWithin } from '../rows/runs.js';
import { Accumulator, type Measure } from './accumulators.js';
import { type Buckets, NO_BUCKETS } from './buckets.js';
import { groupChunks } from './group-chunks.js';
import { RunAggregator } from './run-aggregator.js';
import { SeriesGroups } from './series-groups.js';

/**
 * More values would occupy the main thread for more than half a second. DuckDB uses four to eight
 * times the CPU time per value, but all cores.
 */
const MAX_VALUES = 128_000_000;
const MAX_GROUP_BUCKETS = 2_000_000;
/** Number of values processed between two yields to the event loop: a few milliseconds. */
const VALUES_PER_STEP = 4_000_000;
/** Cost of locating the rows of a run and its first bucket, in values. */
const VALUES_PER_RUN = 128;
/** Integers up to this are exact doubles. */
const MAX_EXACT_SUM = 2 ** 53;
const MAX_SAFE_WIDTH_NS = 2n ** 52n;

interface GroupsRequest {
  readonly request: ColumnQuery;
  readonly computation: GroupsComputation;
  readonly loaded: readonly LoadedRows[];
  readonly index: SeriesIndex;
  /** Series ordinals; `undefined` means all series. */
  readonly series: readonly number[] | undefined;
  readonly queryContext: Pick<QueryContext, 'signal'> | undefined;
}

/**
 * Returns the groups with their aggregates; `undefined` if the result would not be exact, or DuckDB
 * is faster.
 */
export async function computeGroups(
  columnRequest: GroupsRequest,
): Promise<readonly ResultChunk[] | undefined> {
  const { computation, request } = columnRequest;
  const { bucket, order, limit } = computation;
  const bucketIndex = order.findIndex(({ key }) => key.kind === 'bucket');
  // After tags, buckets are sorted only within one group, so the preceding keys must be all tags.
  if (bucketIndex > 0 && bucketIndex < Math.max(order.length - 1, computation.tags.length))
    return undefined;
  if (bucket !== undefined && bucket.widthNs > MAX_SAFE_WIDTH_NS) return undefined;
  const bounds = { minTimeNs: request.minTimeNs, maxTimeNs: request.maxTimeNs };
  const task = new TimeSlicedTask(columnRequest.queryContext);
  const runs = await task.run(runsWithin(columnRequest.loaded, columnRequest.series, bounds));
  if (bucket === undefined || limit === undefined || bucketIndex !== 0) {
    return await (await computed(columnRequest, runs))?.chunks();
  }
  // Only the first or last buckets are needed, so few are scanned; more are scanned if some of them
  // are empty.
  const neededCount = limit + computation.offset;
  const span = await task.run(spanOf(runs, columnRequest.loaded));
  if (span === undefined) return [];
  const first = binFixed(span.min, bucket.widthNs, bucket.originNs);
  const last = binFixed(span.max, bucket.widthNs, bucket.originNs) + bucket.widthNs - 1n;
  for (let count = BigInt(Math.max(1, neededCount)); ; count *= 8n) {
    const width = count * bucket.widthNs;
    const isDescending = order[0]?.descending === true;
    const minTimeNs = isDescending && last - width >= first ? last - width + 1n : first;
    const maxTimeNs = !isDescending && first + width <= last ? first + width - 1n : last;
    const isAll = minTimeNs === first && maxTimeNs === last;
    const within = {
      minTimeNs: minTimeNs > bounds.minTimeNs ? minTimeNs : bounds.minTimeNs,
      maxTimeNs: maxTimeNs < bounds.maxTimeNs ? maxTimeNs : bounds.maxTimeNs,
    };
    const groups = await computed(
      columnRequest,
      await task.run(runsWithin(columnRequest.loaded, columnRequest.series, within)),
    );
    if (groups === undefined) return undefined;
    if (isAll || groups.count >= neededCount) return await groups.chunks();
  }
}

/** Groups that have rows, and a function that returns them as chunks. */
interface ComputedGroups {
  readonly count: number;
  chunks(): Promise<readonly ResultChunk[] | undefined>;
}

async function computed(
  columnRequest: GroupsRequest,
  runs: Runs,
): Promise<ComputedGroups | undefined> {
  const { computation, loaded, index } = columnRequest;
  const measures = measuresOf(computation.outputs);
  const columnCount = new Set(measures.map(({ column }) => column)).size;
  if (runs.rowCount * Math.max(1, columnCount) > MAX_VALUES) return undefined;
  const task = new TimeSlicedTask(columnRequest.queryContext);
  if (!(await task.run(areSumsExact(columnRequest, runs)))) return undefined;
  const groups = new SeriesGroups(index, computation.tags);
  const groupOf = await task.run(groupsOf(runs, groups));
  const isTotal = computation.bucket === undefined && computation.tags.length === 0;
  const span = await task.run(spanOf(runs, loaded));
  const buckets = bucketsOf(computation, span);
  const groupCount = isTotal ? 1 : groups.count;
  const groupBucketCount = groupCount * buckets.count;
  if (groupBucketCount > MAX_GROUP_BUCKETS) return undefined;
  const rowCounts = new Float64Array(groupBucketCount);
  const accumulators = measures.map(
    ({ column, measure }) => new Accumulator(column, measure, groupBucketCount),
  );
  const aggregator = new RunAggregator({
    loaded,
    conditions: columnRequest.request.fieldConditions,
    buckets,
    rowCounts,
    accumulators,
    longest: runs.longest,
  });
  let values = 0;
  for (let run = 0; run < runs.source.length; run++) {
    const from = runs.from[run] as number;
    const to = runs.to[run] as number;
    aggregator.add({
      source: runs.source[run] as number,
      from,
      to,
      firstGroupBucket: (isTotal ? 0 : (groupOf[run] as number)) * buckets.count,
    });
    values += VALUES_PER_RUN + (to - from) * (accumulators.length + 1);
    if (values < VALUES_PER_STEP) continue;
    values = 0;
    await task.yieldIfDue();
  }
  return {
    count: isTotal ? 1 : rowCounts.reduce((sum, rows) => (rows > 0 ? sum + 1 : sum), 0),
    chunks: () =>
      task.run(groupChunks({ computation, groups, buckets, rowCounts, accumulators, isTotal })),
  };
}

/** Returns the group of each run. */
function* groupsOf({ series }: Runs, groups: SeriesGroups): Steps<Uint32Array> {
  const groupOf = new Uint32Array(series.length);
  for (let run = 0; run < series.length; run++) {
    if (isStepEnd(run)) yield;
    groupOf[run] = groups.groupOf(series[run] as number);
  }
  return groupOf;
}

function bucketsOf({ bucket }: GroupsComputation, span: Span | undefined): Buckets {
  if (bucket === undefined || span === undefined) return NO_BUCKETS;
  const firstNs = binFixed(span.min, bucket.widthNs, bucket.originNs);
  const count = Number((span.max - firstNs) / bucket.widthNs) + 1;
  return { ...bucket, firstNs, count };
}

interface Span {
  readonly min: bigint;
  readonly max: bigint;
}

/** Returns the minimum and maximum timestamp of the rows; `undefined` if there are none. */
function* spanOf(runs: Runs, loaded: readonly LoadedRows[]): Steps<Span | undefined> {
  const firsts = new Map<number, number>();
  const lasts = new Map<number, number>();
  for (let run = 0; run < runs.source.length; run++) {
    if (isStepEnd(run)) yield;
    const source = runs.source[run] as number;
    const { offsets } = (loaded[source] as LoadedRows).part;
    const first = offsets[runs.from[run] as number] as number;
    const last = offsets[(runs.to[run] as number) - 1] as number;
    if (first < (firsts.get(source) ?? Number.POSITIVE_INFINITY)) firsts.set(source, first);
    if (last > (lasts.get(source) ?? -1)) lasts.set(source, last);
  }
  let span: Span | undefined;
  for (const [source, first] of firsts) {
    const { part } = loaded[source] as LoadedRows;
    const unit = BigInt(part.unitNs);
    const min = part.baseNs + BigInt(first) * unit;
    const max = part.baseNs + BigInt(lasts.get(source) ?? first) * unit;
    span = {
      min: span === undefined || min < span.min ? min : span.min,
      max: span === undefined || max > span.max ? max : span.max,
    };
  }
  return span;
}

/**
 * Returns each pair of field and measure once. If any number is a possible result, the count shows
 * whether the value is NULL.
 */
function measuresOf(
  outputs: readonly GroupOutput[],
): readonly { readonly column: Column; readonly measure: Measure }[] {
  const measures = new Map<string, { readonly column: Column; readonly measure: Measure }>();
  const add = (column: Column, measure: Measure): void => {
    measures.set(`${column.id} ${measure}`, { column, measure });
  };
  for (const output of outputs) {
    if (!('column' in output) || output.column === undefined) continue;
    if (output.kind === 'sum' || output.kind === 'mean') {
      add(output.column, 'sum');
      add(output.column, 'count');
    } else {
      add(output.column, output.kind);
      if (output.column.kind === 'float64') add(output.column, 'count');
    }
  }
  return [...measures.values()];
}

/**
 * Integer sums do not depend on the order. Other sums are exact only in the order that DuckDB uses:
 * the rows of one series, ascending in time.
 */
function* areSumsExact({ computation, loaded, index }: GroupsRequest, runs: Runs): Steps<boolean> {
  const summed = computation.outputs.flatMap((output) =>
    output.kind === 'sum' || output.kind === 'mean' ? [output.column] : [],
  );
  if (summed.length === 0) return true;
  const sources = new Set<number>();
  for (let run = 0; run < runs.source.length; run++) {
    if (isStepEnd(run)) yield;
    sources.add(runs.source[run] as number);
  }
  let isInexact = false;
  for (const source of sources) {
    for (const column of summed) {
      const stored = loaded[source]?.column(column.id);
      if (stored === undefined) continue;
      if (stored.values instanceof Float64Array) {
        if (column.kind !== 'float64') return false;
        isInexact = true;
      } else if (runs.rowCount * 2 ** (stored.values.BYTES_PER_ELEMENT * 8 - 1) > MAX_EXACT_SUM)
        return false;
    }
  }
  if (!isInexact) return true;
  const groups = new SeriesGroups(index, computation.tags);
  const lastTimes = new Map<number, bigint>();
  for (let run = 0; run < runs.source.length; run++) {
    if (isStepEnd(run)) yield;
    const series = runs.series[run] as number;
    groups.groupOf(series);
    const { part } = loaded[runs.source[run] as number] as LoadedRows;
    const before = lastTimes.get(series);
    if (before !== undefined && timeAt(part, runs.from[run] as number) <= before) return false;
    lastTimes.set(series, timeAt(part, (runs.to[run] as number) - 1));
  }
  return lastTimes.size <= groups.count;
}

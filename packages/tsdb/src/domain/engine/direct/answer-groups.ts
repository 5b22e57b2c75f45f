import { setImmediate } from 'node:timers/promises';
import { binFixed } from '../../../model/calendar.js';
import type { Column } from '../../../model/column.js';
import { DictionaryVector } from '../../../model/dictionary-vector.js';
import type { DirectGroups, DirectRequest, GroupOutput } from '../../../model/direct-request.js';
import type { ColumnVector, ResultChunk } from '../../../model/result.js';
import type { SeriesIndex } from '../series-index.js';
import { Accumulator, gatherPresent, type Measure, type Slices } from './accumulators.js';
import { rowFilter, SLICE_ROWS } from './matching-rows.js';
import { lowerBound, type Part, timeAt } from './part.js';
import { type Runs, runsWithin } from './runs.js';
import { SeriesGroups } from './series-groups.js';
import type { LoadedRows } from './table-columns.js';

/** Beyond these the engine, which uses all cores, is the faster one. */
const MAX_VALUES = 64_000_000;
const MAX_CELLS = 2_000_000;
/** Values after which others get their turn: a few milliseconds. */
const VALUES_PER_TURN = 4_000_000;
/** So many values of 32 bits add up exactly as doubles. */
const MAX_EXACT_ROWS = 2 ** 22;
const MAX_SAFE_WIDTH_NS = 2n ** 52n;
const CHUNK_ROWS = 4096;

interface Ask {
  readonly request: DirectRequest;
  readonly answer: DirectGroups;
  readonly loaded: readonly LoadedRows[];
  readonly index: SeriesIndex;
  /** Dense numbers; `undefined`: all. */
  readonly series: readonly number[] | undefined;
}

/** Groups with their aggregates; `undefined`: not exactly, or not faster than by the engine. */
export async function answerGroups(ask: Ask): Promise<readonly ResultChunk[] | undefined> {
  const { answer, request } = ask;
  const { bucket, order, limit } = answer;
  const bucketPlace = order.findIndex(({ key }) => key.kind === 'bucket');
  if (bucketPlace > 0 && bucketPlace < order.length - 1) return undefined;
  if (bucket !== undefined && bucket.widthNs > MAX_SAFE_WIDTH_NS) return undefined;
  const bounds = { minTimeNs: request.minTimeNs, maxTimeNs: request.maxTimeNs };
  const runs = runsWithin(ask.loaded, ask.series, bounds);
  if (bucket === undefined || limit === undefined || bucketPlace !== 0) {
    return (await computed(ask, runs))?.chunks();
  }
  // Only the first or last buckets are asked for: look at few, and at more when some of them are empty.
  const wanted = limit + answer.offset;
  const span = spanOf(runs, ask.loaded);
  if (span === undefined) return [];
  const first = binFixed(span.min, bucket.widthNs, bucket.originNs);
  const last = binFixed(span.max, bucket.widthNs, bucket.originNs) + bucket.widthNs - 1n;
  for (let count = BigInt(Math.max(1, wanted)); ; count *= 8n) {
    const width = count * bucket.widthNs;
    const isDescending = order[0]?.descending === true;
    const minTimeNs = isDescending && last - width >= first ? last - width + 1n : first;
    const maxTimeNs = !isDescending && first + width <= last ? first + width - 1n : last;
    const isAll = minTimeNs === first && maxTimeNs === last;
    const within = {
      minTimeNs: minTimeNs > bounds.minTimeNs ? minTimeNs : bounds.minTimeNs,
      maxTimeNs: maxTimeNs < bounds.maxTimeNs ? maxTimeNs : bounds.maxTimeNs,
    };
    const cells = await computed(ask, runsWithin(ask.loaded, ask.series, within));
    if (cells === undefined) return undefined;
    if (isAll || cells.count >= wanted) return cells.chunks();
  }
}

/** Groups that have rows, and how to hand them out. */
interface ComputedGroups {
  readonly count: number;
  chunks(): readonly ResultChunk[] | undefined;
}

async function computed(ask: Ask, runs: Runs): Promise<ComputedGroups | undefined> {
  const { answer, loaded, index } = ask;
  const measures = measuresOf(answer.outputs);
  if (runs.rowCount * Math.max(1, measures.length) > MAX_VALUES) return undefined;
  if (!areSumsExact(ask, runs)) return undefined;
  const groups = new SeriesGroups(index, answer.tags);
  const groupOf = runs.series.map((series) => groups.groupOf(series));
  const isTotal = answer.bucket === undefined && answer.tags.length === 0;
  const span = spanOf(runs, loaded);
  const buckets = bucketsOf(answer, span);
  const groupCount = isTotal ? 1 : groups.count;
  const cellCount = groupCount * buckets.count;
  if (cellCount > MAX_CELLS) return undefined;
  const rowCounts = new Float64Array(cellCount);
  const accumulators = measures.map(
    ({ column, measure }) => new Accumulator(column, measure, cellCount),
  );
  const walk = new RunWalk({
    ask,
    buckets,
    rowCounts,
    accumulators,
    longest: runs.longest,
  });
  let values = 0;
  for (let run = 0; run < runs.source.length; run++) {
    const from = runs.from[run] as number;
    const to = runs.to[run] as number;
    walk.add({
      source: runs.source[run] as number,
      from,
      to,
      firstCell: (isTotal ? 0 : (groupOf[run] as number)) * buckets.count,
    });
    values += (to - from) * (accumulators.length + 1);
    if (values < VALUES_PER_TURN) continue;
    values = 0;
    await setImmediate();
  }
  return {
    count: isTotal ? 1 : rowCounts.reduce((sum, rows) => (rows > 0 ? sum + 1 : sum), 0),
    chunks: () => chunksOf({ answer, groups, buckets, rowCounts, accumulators, isTotal }),
  };
}

interface Buckets {
  readonly firstNs: bigint;
  readonly widthNs: bigint;
  readonly originNs: bigint;
  readonly count: number;
}

const NO_BUCKETS: Buckets = { firstNs: 0n, widthNs: 0n, originNs: 0n, count: 1 };

function bucketsOf({ bucket }: DirectGroups, span: Span | undefined): Buckets {
  if (bucket === undefined || span === undefined) return NO_BUCKETS;
  const firstNs = binFixed(span.min, bucket.widthNs, bucket.originNs);
  const count = Number((span.max - firstNs) / bucket.widthNs) + 1;
  return { ...bucket, firstNs, count };
}

interface Span {
  readonly min: bigint;
  readonly max: bigint;
}

/** Least and greatest time of the rows; `undefined` when there are none. */
function spanOf(runs: Runs, loaded: readonly LoadedRows[]): Span | undefined {
  const firsts = new Map<number, number>();
  const lasts = new Map<number, number>();
  for (let run = 0; run < runs.source.length; run++) {
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

/** Each pair of field and measure once. Where any number may come out, the count tells whether it is NULL. */
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
 * Whole numbers add up to the same sum in any order. Others do so only in the order in which the engine adds them, and it
 * must be the rows of one series, ascending in time.
 */
function areSumsExact({ answer, loaded, index }: Ask, runs: Runs): boolean {
  const summed = answer.outputs.flatMap((output) =>
    output.kind === 'sum' || output.kind === 'mean' ? [output.column] : [],
  );
  if (summed.length === 0) return true;
  if (runs.rowCount > MAX_EXACT_ROWS) return false;
  const sources = new Set(runs.source);
  let isInexact = false;
  for (const source of sources) {
    for (const column of summed) {
      const stored = loaded[source]?.column(column.id);
      if (stored === undefined || !(stored.values instanceof Float64Array)) continue;
      if (column.kind !== 'float64') return false;
      isInexact = true;
    }
  }
  if (!isInexact) return true;
  const groups = new SeriesGroups(index, answer.tags);
  const lastTimes = new Map<number, bigint>();
  for (let run = 0; run < runs.source.length; run++) {
    const series = runs.series[run] as number;
    groups.groupOf(series);
    const { part } = loaded[runs.source[run] as number] as LoadedRows;
    const before = lastTimes.get(series);
    if (before !== undefined && timeAt(part, runs.from[run] as number) <= before) return false;
    lastTimes.set(series, timeAt(part, (runs.to[run] as number) - 1));
  }
  return lastTimes.size <= groups.count;
}

/** Adds runs of rows to the cells of their buckets. */
class RunWalk {
  readonly #ask: Ask;
  readonly #buckets: Buckets;
  readonly #rowCounts: Float64Array;
  readonly #accumulators: readonly Accumulator[];
  readonly #rows: Uint32Array;
  readonly #numbers: Float64Array;
  readonly #slices: Slices;
  readonly #present: Slices;
  #source = -1;
  #loaded: LoadedRows | undefined;
  #filter: ReturnType<typeof rowFilter>;
  /** Number of the bucket in which the part's times begin, and how far in. */
  #firstBucket = 0;
  #phaseNs = 0;

  constructor(options: {
    readonly ask: Ask;
    readonly buckets: Buckets;
    readonly rowCounts: Float64Array;
    readonly accumulators: readonly Accumulator[];
    /** Rows of the longest run. */
    readonly longest: number;
  }) {
    const sliceRows = Math.min(SLICE_ROWS, options.longest);
    this.#rows = new Uint32Array(sliceRows);
    this.#numbers = new Float64Array(sliceRows);
    this.#slices = newSlices(sliceRows);
    this.#present = newSlices(sliceRows);
    this.#ask = options.ask;
    this.#buckets = options.buckets;
    this.#rowCounts = options.rowCounts;
    this.#accumulators = options.accumulators;
  }

  add(run: {
    readonly source: number;
    readonly from: number;
    readonly to: number;
    readonly firstCell: number;
  }): void {
    if (run.source !== this.#source) this.#enter(run.source);
    const loaded = this.#loaded as LoadedRows; // set by #enter
    const isFiltered = this.#ask.request.fieldConditions.length > 0;
    if (isFiltered && this.#filter === undefined) return;
    for (let from = run.from; from < run.to; from += SLICE_ROWS) {
      const to = Math.min(run.to, from + SLICE_ROWS);
      let count = to - from;
      if (isFiltered) {
        for (let i = 0; i < count; i++) this.#rows[i] = from + i;
        count = this.#filter?.(this.#rows, count) ?? 0;
        this.#cutRows(loaded.part, count, run.firstCell);
      } else this.#cutRange(loaded.part, from, to, run.firstCell);
      this.#addSlices(loaded, from, count, isFiltered);
    }
  }

  #enter(source: number): void {
    this.#source = source;
    const loaded = this.#ask.loaded[source] as LoadedRows;
    this.#loaded = loaded;
    this.#filter = rowFilter(loaded, this.#ask.request.fieldConditions);
    const { widthNs, originNs, firstNs } = this.#buckets;
    if (widthNs === 0n) return;
    const startNs = binFixed(loaded.part.baseNs, widthNs, originNs);
    this.#firstBucket = Number((startNs - firstNs) / widthNs);
    this.#phaseNs = Number(loaded.part.baseNs - startNs);
  }

  /** Slices of the rows `[from, to)` by bucket. */
  #cutRange(part: Part, from: number, to: number, firstCell: number): void {
    const { starts, cells } = this.#slices;
    const width = Number(this.#buckets.widthNs);
    const { offsets, unitNs } = part;
    let count = 0;
    if (width === 0) {
      starts[0] = 0;
      cells[0] = firstCell;
      count = 1;
    } else {
      for (let at = from; at < to; ) {
        const bucket = Math.floor((this.#phaseNs + (offsets[at] as number) * unitNs) / width);
        const end = Math.ceil(((bucket + 1) * width - this.#phaseNs) / unitNs);
        starts[count] = at - from;
        cells[count] = firstCell + this.#firstBucket + bucket;
        count++;
        at = firstFrom(offsets, at + 1, to, end);
      }
    }
    starts[count] = to - from;
    this.#slices.count = count;
  }

  /** Slices of the first `count` of the chosen rows. */
  #cutRows(part: Part, count: number, firstCell: number): void {
    const { starts, cells } = this.#slices;
    const width = Number(this.#buckets.widthNs);
    const { offsets, unitNs } = part;
    let sliceCount = 0;
    let end = -1;
    for (let i = 0; i < count; i++) {
      const offset = offsets[this.#rows[i] as number] as number;
      if (offset < end) continue;
      let cell = firstCell;
      if (width === 0) end = Number.POSITIVE_INFINITY;
      else {
        const bucket = Math.floor((this.#phaseNs + offset * unitNs) / width);
        end = Math.ceil(((bucket + 1) * width - this.#phaseNs) / unitNs);
        cell += this.#firstBucket + bucket;
      }
      starts[sliceCount] = i;
      cells[sliceCount] = cell;
      sliceCount++;
    }
    starts[sliceCount] = count;
    this.#slices.count = sliceCount;
  }

  #addSlices(loaded: LoadedRows, from: number, count: number, isFiltered: boolean): void {
    const slices = this.#slices;
    for (let i = 0; i < slices.count; i++) {
      const cell = slices.cells[i] as number;
      const rows = (slices.starts[i + 1] as number) - (slices.starts[i] as number);
      this.#rowCounts[cell] = (this.#rowCounts[cell] as number) + rows;
    }
    let gathered: Column | undefined;
    let present = slices;
    for (const accumulator of this.#accumulators) {
      const { column } = accumulator;
      const stored = loaded.column(column.id);
      if (stored === undefined) continue;
      if (gathered !== column) {
        gathered = column;
        if (stored.validity !== undefined) {
          if (!isFiltered) for (let i = 0; i < count; i++) this.#rows[i] = from + i;
          const target = { numbers: this.#numbers, slices: this.#present };
          gatherPresent(stored, stored.validity, this.#rows, slices, target);
          present = this.#present;
        } else {
          present = slices;
          if (isFiltered) {
            for (let i = 0; i < count; i++)
              this.#numbers[i] = stored.values[this.#rows[i] as number] as number;
          } else this.#numbers.set(stored.values.subarray(from, from + count));
        }
      }
      accumulator.addSlices(this.#numbers, present);
    }
  }
}

function newSlices(rowCount: number): Slices {
  return { starts: new Uint32Array(rowCount + 1), cells: new Uint32Array(rowCount), count: 0 };
}

/** First row in `[from, to)` whose offset is at least `offset`; it is looked for near `from` first. */
function firstFrom(offsets: Uint32Array, from: number, to: number, offset: number): number {
  let step = 4;
  let low = from;
  while (low + step < to && (offsets[low + step] as number) < offset) {
    low += step;
    step *= 2;
  }
  return lowerBound(offsets, low, Math.min(to, low + step + 1), offset);
}

function chunksOf(options: {
  readonly answer: DirectGroups;
  readonly groups: SeriesGroups;
  readonly buckets: Buckets;
  readonly rowCounts: Float64Array;
  readonly accumulators: readonly Accumulator[];
  readonly isTotal: boolean;
}): readonly ResultChunk[] | undefined {
  const { answer, groups, buckets, rowCounts } = options;
  const cells = orderedCells(options);
  const end = answer.limit === undefined ? cells.length : answer.offset + answer.limit;
  const taken = cells.slice(answer.offset, end);
  const chunks: ResultChunk[] = [];
  const texts = new Map(answer.tags.map((tag) => [tag, groups.valuesOf(tag)]));
  for (let from = 0; from < taken.length; from += CHUNK_ROWS) {
    const some = taken.slice(from, from + CHUNK_ROWS);
    const codes = Int32Array.from(some, (cell) => Math.floor(cell / buckets.count));
    const columns: ColumnVector[] = [];
    for (const output of answer.outputs) {
      const vector =
        output.kind === 'bucket'
          ? bucketVector(some, buckets)
          : output.kind === 'tag'
            ? new DictionaryVector(codes, texts.get(output.tag) ?? [])
            : valueVector(output, some, rowCounts, options.accumulators);
      if (vector === undefined) return undefined;
      columns.push(vector);
    }
    chunks.push({ rowCount: some.length, columns });
  }
  return chunks;
}

/** Numbers of the cells that have rows, in the order asked for. */
function orderedCells(options: {
  readonly answer: DirectGroups;
  readonly groups: SeriesGroups;
  readonly buckets: Buckets;
  readonly rowCounts: Float64Array;
  readonly isTotal: boolean;
}): number[] {
  const { answer, groups, buckets, rowCounts, isTotal } = options;
  if (isTotal) return [0];
  const { order } = answer;
  const byTags = groups.sorted(order);
  const bucketOrder = order.find(({ key }) => key.kind === 'bucket');
  const isBucketFirst = order[0]?.key.kind === 'bucket';
  const cells: number[] = [];
  const bucketAt = (place: number): number =>
    bucketOrder?.descending ? buckets.count - 1 - place : place;
  if (isBucketFirst) {
    for (let place = 0; place < buckets.count; place++) {
      const bucket = bucketAt(place);
      for (const group of byTags) {
        const cell = group * buckets.count + bucket;
        if ((rowCounts[cell] as number) > 0) cells.push(cell);
      }
    }
    return cells;
  }
  for (const group of byTags) {
    for (let place = 0; place < buckets.count; place++) {
      const cell = group * buckets.count + bucketAt(place);
      if ((rowCounts[cell] as number) > 0) cells.push(cell);
    }
  }
  return cells;
}

function bucketVector(cells: readonly number[], buckets: Buckets): ColumnVector {
  const values = new BigInt64Array(cells.length);
  for (let i = 0; i < cells.length; i++) {
    const bucket = (cells[i] as number) % buckets.count;
    values[i] = buckets.firstNs + BigInt(bucket) * buckets.widthNs;
  }
  return { values, validity: undefined };
}

function valueVector(
  output: Exclude<GroupOutput, { kind: 'bucket' | 'tag' }>,
  cells: readonly number[],
  rowCounts: Float64Array,
  accumulators: readonly Accumulator[],
): ColumnVector | undefined {
  const cellsOf = (measure: Measure): Float64Array | undefined =>
    accumulators.find((one) => one.column === output.column && one.measure === measure)?.values;
  const values = new Float64Array(cells.length);
  if (output.kind === 'count') {
    const counts = output.column === undefined ? rowCounts : cellsOf('count');
    if (counts === undefined) return undefined;
    cells.forEach((cell, i) => {
      values[i] = counts[cell] as number;
    });
    return { values, validity: undefined };
  }
  const isExtreme = output.kind === 'min' || output.kind === 'max';
  const source = cellsOf(isExtreme ? (output.kind as Measure) : 'sum');
  const counts = cellsOf('count');
  if (source === undefined) return undefined;
  const validity = new Uint8Array((cells.length + 7) >> 3);
  let missing = 0;
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i] as number;
    const value = source[cell] as number;
    const count = counts?.[cell];
    // Integers are finite: an infinite extreme is the one that nothing was compared with.
    if (count === undefined ? !Number.isFinite(value) : count === 0) {
      missing++;
      continue;
    }
    validity[i >> 3] = (validity[i >> 3] as number) | (1 << (i & 7));
    values[i] = output.kind === 'mean' ? value / (count as number) : value;
  }
  return { values, validity: missing === 0 ? undefined : validity };
}

import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import { FileDamaged } from '@plinth/tsdb-storage/segments/file-sums.js';
import type { ColumnValues, ValueRuns } from '@plinth/tsdb-storage/segments/reader/column-chunk.js';
import { type FileIndex, UnknownLayout } from '@plinth/tsdb-storage/segments/reader/file-index.js';
import type {
  ColumnPages,
  SegmentReader,
} from '@plinth/tsdb-storage/segments/reader/segment-reader.js';
import type { SeriesIndex } from '../../series/series-index.js';
import { lowerBound, type Part, type StoredColumn } from '../cache/part.js';
import { ColumnBuilder, type ColumnType } from './column-builder.js';
import type { LoadedRows } from './loaded-rows.js';
import { PartBuilder } from './part-builder.js';
import { presentColumns, type RowFile, type RowRange, type RowSource } from './row-source.js';

/** With more series, DuckDB runs the query. */
export const MAX_FEW_SERIES = 64;
/**
 * Maximum number of values: in row groups that may contain one of the series, in row groups that
 * are in memory at a time, and in the rows that are kept for the query. With more values to search
 * or keep, DuckDB runs the query on all cores.
 */
const MAX_VALUES = { searched: 10_000_000, read: 2_000_000, kept: 2_000_000 };
/**
 * With more runs, the series of a row group are not kept. Kept series take at most 1 kB for each
 * row group, which has 20,480 rows.
 */
const MAX_KNOWN_RUNS = 64;
/**
 * Maximum number of concurrent reads of this kind per node, of at most 32 MB each. Further queries
 * use DuckDB and its memory limit.
 */
const MAX_UNDER_WAY = 4;

/** Some series between two timestamps. */
export interface FewSeries {
  /** Series ordinals of the requested series. */
  readonly series: readonly number[];
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
  readonly columns: readonly Column[];
}

/**
 * Reads rows of few series from segments that are not in memory, for one query. It reads only the
 * row groups that may contain them, and keeps only the rows from the first of the series to the
 * last. DuckDB takes several times as long.
 */
export class FewSeriesRows {
  readonly #reader: SegmentReader;
  readonly #index: SeriesIndex;
  readonly #onError: (error: unknown) => void;
  /** By segment; `undefined` if this reader does not support the file. */
  readonly #files = new WeakMap<object, Promise<KnownFile | undefined>>();

  constructor(options: {
    readonly reader: SegmentReader;
    readonly index: SeriesIndex;
    readonly onError: (error: unknown) => void;
  }) {
    this.#reader = options.reader;
    this.#index = options.index;
    this.#onError = options.onError;
  }

  /** Reads the index of a file, so that the first query does not have to. */
  async prepare({ key, file, pin }: RowSource): Promise<void> {
    if (file === undefined || this.#files.has(key)) return;
    const unpin = await pin();
    try {
      await this.#knownFile(key, file);
    } finally {
      unpin();
    }
  }

  /**
   * Returns `undefined` if DuckDB is faster for some of the rows, or if only DuckDB can read them.
   */
  async read(
    sources: readonly RowSource[],
    request: FewSeries,
  ): Promise<readonly LoadedRows[] | undefined> {
    if (this.#reader.underWay >= MAX_UNDER_WAY) return undefined;
    this.#reader.underWay++;
    // Pin all files in the same tick in which the sources were taken.
    const pins = sources.map(({ file }) => file?.pin());
    try {
      const rows: LoadedRows[] = [];
      const budget = { values: MAX_VALUES.kept };
      const batches = await this.#selectGroups(sources, request);
      if (batches === undefined) return undefined;
      for (const batch of batches) {
        const pages = await Promise.all(batch.map((each) => this.#pagesOf(each, request)));
        for (const [i, selection] of batch.entries()) {
          const read = await this.#decode(selection, pages[i] as GroupPages, request, budget);
          if (read === undefined) return undefined;
          rows.push(...read);
        }
      }
      return rows;
    } catch (error) {
      // DuckDB then reports the problem with the file.
      const isToldElsewhere = error instanceof FileDamaged || error instanceof UnknownLayout;
      if (!isToldElsewhere) this.#onError(error);
      return undefined;
    } finally {
      for (const unpin of pins) unpin?.();
      this.#reader.underWay--;
    }
  }

  /**
   * Locates row groups that may contain matching rows, one file after another, because other queries use the same
   * reader. Returns batches that are read one after another; `undefined` if there are too many values.
   */
  async #selectGroups(
    sources: readonly RowSource[],
    request: FewSeries,
  ): Promise<readonly (readonly SelectedGroups[])[] | undefined> {
    const batches: SelectedGroups[][] = [];
    let valueCount = 0;
    let batchValueCount = Number.POSITIVE_INFINITY;
    for (const source of sources) {
      const { key, file } = source;
      await file?.verify();
      const known = file && (await this.#knownFile(key, file));
      if (file === undefined || known === undefined) return undefined;
      for (const group of this.#groupsOf(known.index, request)) {
        const count = rowCountOf(known.index, group) * (request.columns.length + 2);
        valueCount += count;
        batchValueCount += count;
        if (valueCount > MAX_VALUES.searched) return undefined;
        if (batchValueCount > MAX_VALUES.read) {
          batches.push([]);
          batchValueCount = count;
        }
        const batch = batches.at(-1) as SelectedGroups[];
        const last = batch.at(-1);
        if (last?.known === known) last.groups.push(group);
        else batch.push({ source, file, known, groups: [group] });
      }
    }
    return batches;
  }

  #knownFile(key: object, file: RowFile): Promise<KnownFile | undefined> {
    let known = this.#files.get(key);
    if (known === undefined) {
      known = this.#reader.indexOf(file).then(
        (index) => ({ index, runs: new Map() }),
        (error: unknown) => {
          if (error instanceof UnknownLayout) return undefined;
          this.#files.delete(key); // so that the next query tries again
          throw error;
        },
      );
      this.#files.set(key, known);
    }
    return known;
  }

  /** Returns the row groups that may contain rows of the series in the time range. */
  #groupsOf({ starts, times, series }: FileIndex, request: FewSeries): readonly number[] {
    const ids = request.series.map((ordinal) => this.#index.idOf(ordinal));
    const groups: number[] = [];
    for (let group = 0; group + 1 < starts.length; group++) {
      const [low, high] = [group * 2, group * 2 + 1];
      if ((times[low] as bigint) > request.maxTimeNs || (times[high] as bigint) < request.minTimeNs)
        continue;
      const [min, max] = [series[low] as bigint, series[high] as bigint];
      if (ids.some((id) => id >= min && id <= max)) groups.push(group);
    }
    return groups;
  }

  /** Reads the timestamps, the fields, and the series unless they are known, in this order. */
  #pagesOf({ source, file, known, groups }: SelectedGroups, request: FewSeries) {
    const names = columnsOf(source, request).map(({ physicalName }) => physicalName);
    const series = groups.every((group) => known.runs.has(group)) ? [] : ['_series'];
    return this.#reader.read(file, known.index, groups, ['time', ...names, ...series]);
  }

  /**
   * Returns `undefined` if something cannot be kept in memory.
   * @param budget reduced by the values that are kept.
   */
  async #decode(
    { source, known, groups }: SelectedGroups,
    pages: GroupPages,
    request: FewSeries,
    budget: { values: number },
  ): Promise<readonly LoadedRows[] | undefined> {
    const columns = columnsOf(source, request);
    const series = new Set(request.series);
    const task = new TimeSlicedTask();
    const loaded: LoadedRows[] = [];
    for (const [i, group] of groups.entries()) {
      await task.yieldIfDue();
      const [times, ...others] = pages[i] as readonly [ColumnPages, ...ColumnPages[]];
      const runs = known.runs.get(group) ?? readRuns(known, group, others.at(-1) as ColumnPages);
      const found = this.#seriesOf(runs, series);
      if (found === undefined) continue; // the row group has no matching rows
      const all = partOf(found, times.values(found.rows));
      if (all === undefined) return undefined;
      const { part, rows } = withinTimes(all, found.rows, request);
      if (rows.from === rows.to) continue;
      budget.values -= part.rowCount * (columns.length + 1);
      if (budget.values < 0) return undefined;
      const stored = new Map<number, StoredColumn>();
      for (const [j, column] of columns.entries()) {
        const built = storedColumn(column, (others[j] as ColumnPages).values(rows), part);
        if (built === undefined) return undefined;
        stored.set(column.id, built);
      }
      loaded.push({ part, column: (id) => stored.get(id) });
    }
    return loaded;
  }

  /**
   * Returns the rows from the first of the requested series to the last, with the series of each
   * row.
   */
  #seriesOf({ words, ends }: ValueRuns, ordinalSet: ReadonlySet<number>): SeriesOfRows | undefined {
    const ordinals: number[] = [];
    for (let run = 0; run < ends.length; run++)
      ordinals.push(this.#index.ordinalOf(words[run * 2] as number, words[run * 2 + 1] as number));
    const first = ordinals.findIndex((ordinal) => ordinalSet.has(ordinal));
    const last = ordinals.findLastIndex((ordinal) => ordinalSet.has(ordinal));
    if (first < 0) return undefined;
    const from = first === 0 ? 0 : (ends[first - 1] as number);
    const to = ends[last] as number;
    const series = new Uint32Array(to - from);
    for (let run = first, row = from; run <= last; run++) {
      const end = ends[run] as number;
      series.fill(ordinals[run] as number, row - from, end - from);
      row = end;
    }
    return { rows: { from, to }, series };
  }
}

/** The parts of a file that are kept for the next queries. */
interface KnownFile {
  readonly index: FileIndex;
  /** Series of the rows, by row group that a query has read. */
  readonly runs: Map<number, ValueRuns>;
}

interface SelectedGroups {
  readonly source: RowSource;
  readonly file: RowFile;
  readonly known: KnownFile;
  readonly groups: number[];
}

/** Pages by row group. */
type GroupPages = readonly (readonly ColumnPages[])[];

const columnsOf = (source: RowSource, { columns }: FewSeries): readonly Column[] =>
  presentColumns(source, { from: 0, to: source.rowCount }, columns);

interface SeriesOfRows {
  readonly rows: RowRange;
  readonly series: Uint32Array;
}

function rowCountOf({ starts }: FileIndex, group: number): number {
  return (starts[group + 1] as number) - (starts[group] as number);
}

/** Reads the series of a row group. */
function readRuns({ index, runs }: KnownFile, group: number, pages: ColumnPages): ValueRuns {
  const read = pages.runs(rowCountOf(index, group));
  if (read.ends.length <= MAX_KNOWN_RUNS) runs.set(group, read);
  return read;
}

/**
 * Drops the rows before and after a time range if all rows belong to one series in time order, so
 * that fewer values are decoded.
 */
function withinTimes(
  part: Part,
  { from, to }: RowRange,
  { minTimeNs, maxTimeNs }: FewSeries,
): { readonly part: Part; readonly rows: RowRange } {
  if (part.runSeries.length !== 1 || part.order !== undefined) return { part, rows: { from, to } };
  const { baseNs, unitNs, offsets } = part;
  const firstAfter = (timeNs: bigint): number => {
    // Offsets are below 2 ** 32, and doubles are exact below 2 ** 53.
    const offset = Math.floor(Number(timeNs - baseNs) / unitNs);
    return lowerBound(offsets, 0, offsets.length, offset + 1);
  };
  const first = firstAfter(minTimeNs - 1n);
  const end = firstAfter(maxTimeNs);
  const narrowed = {
    ...part,
    rowCount: end - first,
    runStarts: Uint32Array.of(0),
    runEnds: Uint32Array.of(end - first),
    offsets: offsets.subarray(first, end),
    minOffset: offsets[first] ?? 0,
    maxOffset: offsets[end - 1] ?? 0,
  };
  return { part: narrowed, rows: { from: from + first, to: from + end } };
}

function partOf(
  { series }: SeriesOfRows,
  { values }: ColumnValues,
): LoadedRows['part'] | undefined {
  const builder = new PartBuilder(series.length);
  builder.add(series, values as BigInt64Array); // TIMESTAMP_NS is stored as a 64-bit integer
  return builder.finish();
}

/** Returns `undefined` if a value is not an exact double. */
function storedColumn(
  { kind }: Column,
  { values, isPresent }: ColumnValues,
  { rowCount, order }: LoadedRows['part'],
): StoredColumn | undefined {
  let numbers: ColumnType['numbers'];
  if (values instanceof Int8Array) numbers = Int8Array;
  else if (values instanceof Float64Array) numbers = Float64Array;
  const builder = new ColumnBuilder({ numbers, mayLack: isPresent !== undefined }, rowCount);
  const isUnsigned = kind === 'uint64' && values instanceof BigInt64Array;
  builder.add(isUnsigned ? new BigUint64Array(values.buffer) : values, rowCount, isPresent);
  return builder.finish(order);
}

import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import type { SegmentReader } from '@plinth/tsdb-storage/segments/reader/segment-reader.js';
import type { SeriesIndex } from '../../series/series-index.js';
import { CachedRanges, MAX_MERGED_ROWS } from '../load/cached-ranges.js';
import { FewSeriesRows, MAX_FEW_SERIES } from '../load/few-series-rows.js';
import {
  type CachedRange,
  type LoadColumn,
  type LoadSource,
  loadRange,
} from '../load/load-rows.js';
import { type LoadedRows, loadedRows } from '../load/loaded-rows.js';
import { RangeLoads } from '../load/range-loads.js';
import { blocksOf, presentColumns, type RowSource } from '../load/row-source.js';
import { CachedRows } from './cached-rows.js';
import type { ColumnCache } from './column-cache.js';
import { TableEncodedTags } from './table-encoded-tags.js';

/**
 * Maximum number of missing values that a query loads. Loading this many takes about as long as a
 * DuckDB query, which is faster for few series.
 */
const MAX_AWAITED_VALUES = { few: 100_000, many: 1_000_000 };
/** After this many series reads, the columns of a segment are loaded into memory. */
const MAX_SERIES_READS = 64;
/**
 * Rows in blocks are loaded in advance when this many rows follow them, before the blocks drop
 * them.
 */
const OLD_BLOCK_ROWS = 32_768;
/**
 * Number of columns of a range that are preloaded with one statement. Loads that a query waits for
 * run between two statements.
 */
const PRELOAD_COLUMNS = 4;

/** Fields of the rows between two timestamps. */
interface RowRangeRequest {
  readonly columns: readonly Column[];
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
  /** All columns of the table that can be kept in memory. */
  readonly allColumns: () => readonly Column[];
  /** Series ordinals of the requested series; `undefined` means all. */
  readonly series: readonly number[] | undefined;
}

/** The requested rows that are in memory. */
interface FoundRows {
  readonly rows: readonly LoadedRows[];
  /** Segments not in memory: rows of a few series are read from them, only for this query. */
  readonly unloaded: readonly RowSource[];
}

/** A cached range whose requested columns are not all in memory. */
interface Miss {
  readonly source: RowSource;
  readonly range: CachedRange;
}

/** Limits of a preload: total bytes in memory, and the signal that stops it. */
export interface PreloadLimits {
  readonly limitBytes: number;
  readonly signal: AbortSignal;
}

/** The cached rows of one table, by source. */
export class TableColumns {
  readonly encodedTags: TableEncodedTags;
  readonly #cache: ColumnCache;
  readonly #ranges: CachedRanges;
  readonly #loads: RangeLoads;
  readonly #fewSeries: FewSeriesRows;
  /**
   * Columns that one query has missed, by segment. They are read from files when a second query
   * needs them.
   */
  readonly #missed = new Map<object, Set<number>>();
  /** Number of series that were read from the row groups of a segment. */
  readonly #seriesReads = new WeakMap<object, number>();

  constructor(options: {
    readonly cache: ColumnCache;
    readonly duckDb: DuckDbHost;
    readonly index: SeriesIndex;
    readonly reader: SegmentReader;
    readonly onError: (error: unknown) => void;
  }) {
    this.#cache = options.cache;
    this.encodedTags = new TableEncodedTags(options.cache);
    this.#ranges = new CachedRanges(options.cache);
    this.#loads = new RangeLoads(options);
    this.#fewSeries = new FewSeriesRows(options);
  }

  get isEnabled(): boolean {
    return this.#cache.isEnabled;
  }

  /**
   * Returns the rows of the sources with the given fields, at least those between the two
   * timestamps.
   * - `undefined`: not in memory, and DuckDB is faster. They are loaded in the background.
   * - A promise: they will be in memory soon. Read the sources again when it resolves, because they
   *   may contain more rows by then.
   */
  find(
    sources: readonly RowSource[],
    request: RowRangeRequest,
  ): FoundRows | Promise<void> | undefined {
    const found = this.#lookUp(sources, request);
    this.#loadOldBlocks(sources, request);
    if (found === undefined) return undefined;
    if (found.missing.length === 0) return found;
    const values = found.missing.reduce((sum, miss) => sum + loadSize(miss, request), 0);
    const isAwaited = values <= MAX_AWAITED_VALUES[isOfFewSeries(request) ? 'few' : 'many'];
    const loads = found.missing.map((miss) => this.#load(miss, request.columns, isAwaited));
    this.#prefetch(found.missing, request.columns);
    const done = Promise.allSettled(loads).then(() => undefined);
    return isAwaited ? done : undefined;
  }

  /** Returns all rows that were found. `undefined` means that DuckDB is faster. */
  async read(
    { rows, unloaded }: FoundRows,
    { columns, minTimeNs, maxTimeNs, series = [] }: RowRangeRequest,
  ): Promise<readonly LoadedRows[] | undefined> {
    const missing = { columns, minTimeNs, maxTimeNs, series };
    const read = await this.#fewSeries.read(unloaded, missing);
    return read && [...rows, ...read];
  }

  /** Prepares a segment for queries that read only a few series. */
  async prepare(source: RowSource): Promise<void> {
    await this.#fewSeries.prepare(source);
  }

  /**
   * Loads the missing columns of a segment while the cache stays within `limitBytes`. Returns false
   * if they do not fit.
   */
  async preload(
    source: RowSource,
    columns: readonly Column[],
    { limitBytes, signal }: PreloadLimits,
  ): Promise<boolean> {
    const hasRoom = (sizeBytes: number): boolean => this.#cache.sizeBytes + sizeBytes <= limitBytes;
    const ranges = this.#ranges.of(source);
    // Most queries need all rows of a column, so its ranges are loaded together or not at all.
    const usable = columns.filter(
      (column) =>
        source.hasColumn(column.id) && !ranges.some(({ rows }) => rows.isUncacheable([column])),
    );
    for (let at = 0; at < usable.length; at += PRELOAD_COLUMNS) {
      const group = usable.slice(at, at + PRELOAD_COLUMNS);
      const lacking = ranges.filter(({ rows }) => group.some(({ id }) => !rows.has(id)));
      let rowCount = lacking.reduce((sum, { from, to }) => sum + to - from, 0);
      for (const range of lacking) {
        if (signal.aborted) return true;
        let isLoaded = true;
        await this.#cache.loads.add(async () => {
          if (range.rows.isForgotten) return;
          const missing = group.filter(({ id }) => !range.rows.has(id));
          isLoaded = await this.#loads.fromDuckDb(source, range, {
            columns: missing,
            hasRoom,
            rowCount,
          });
        }, false);
        if (!isLoaded) return false;
        rowCount -= range.to - range.from;
      }
    }
    return true;
  }

  /** Whether a buffer table has enough rows in small ranges that a single sorted range would be faster. */
  hasManyCachedRanges(key: object, rowCount: number): boolean {
    return this.#ranges.unmergedFrom(key, rowCount) !== undefined;
  }

  /**
   * Loads the rows of a buffer table that are in small ranges, with all their columns, and replaces the
   * ranges by one. A query over many series then looks up each series once instead of once per
   * range. Does nothing if the result does not fit in `limitBytes`. All rows of the source must be
   * in DuckDB.
   */
  async mergeCachedRanges(
    source: RowSource,
    columns: readonly Column[],
    limits: PreloadLimits,
  ): Promise<void> {
    const from = this.#ranges.unmergedFrom(source.key, source.rowCount);
    if (from === undefined) return;
    const to = Math.min(source.rowCount, from + MAX_MERGED_ROWS);
    const range = { from, to, rows: new CachedRows(this.#cache), isMerged: true };
    const present = columns.filter(({ id }) => source.hasColumn(id));
    const isLoaded = await this.#loadMerged(source, range, present, limits);
    const isReady = isLoaded && !range.rows.isUncacheable(present);
    // The source may have been removed in the meantime; rows that arrived later are in other ranges.
    if (isReady && this.#ranges.putMerged(source.key, range)) return;
    range.rows.forget();
    if (!limits.signal.aborted) this.#ranges.noteNotMerged(source.key, to);
  }

  /** Returns false if the rows do not fit or the signal was aborted. */
  async #loadMerged(
    source: RowSource,
    range: CachedRange,
    columns: readonly Column[],
    { limitBytes, signal }: PreloadLimits,
  ): Promise<boolean> {
    const hasRoom = (sizeBytes: number): boolean => {
      const replaced = this.#ranges.of(source).filter((each) => each.to > range.from);
      const replacedBytes = replaced.reduce((sum, { rows }) => sum + rows.freeableBytes, 0);
      return this.#cache.sizeBytes - replacedBytes + sizeBytes <= limitBytes;
    };
    const load = async (readable: LoadSource, loads: readonly LoadColumn[]): Promise<boolean> => {
      for (let at = 0; at < loads.length || at === 0; at += PRELOAD_COLUMNS) {
        if (signal.aborted) return false;
        const some = loads.slice(at, at + PRELOAD_COLUMNS);
        await this.#cache.loads.add(() => loadRange(readable, range, some), false);
      }
      return true;
    };
    return await this.#loads.fromDuckDb(source, range, { columns, hasRoom, load });
  }

  /** Evicts the ranges of all sources except these. */
  evictExcept(keys: ReadonlySet<object>): void {
    if (keys.size === 0) this.encodedTags.clear();
    this.#ranges.evictExcept(keys);
    this.#loads.evictExcept(keys);
    for (const key of this.#missed.keys()) if (!keys.has(key)) this.#missed.delete(key);
  }

  /**
   * Returns `undefined` if something cannot be kept in memory, cannot be loaded, or is not worth
   * loading.
   */
  #lookUp(
    sources: readonly RowSource[],
    request: RowRangeRequest,
  ): (FoundRows & { readonly missing: Miss[] }) | undefined {
    const rows: LoadedRows[] = [];
    const missing: Miss[] = [];
    const unloaded: RowSource[] = [];
    const isFew = isOfFewSeries(request);
    for (const source of sources) {
      const misses: Miss[] = [];
      const loadedRanges: LoadedRows[] = [];
      for (const range of this.#ranges.of(source)) {
        if (!range.rows.touches(request.minTimeNs, request.maxTimeNs)) continue;
        const present = presentColumns(source, range, request.columns);
        if (range.rows.isUncacheable(present)) return undefined;
        let loaded = loadedRows(range.rows, present);
        if (loaded === undefined && this.#loads.loadAtOnce(source, range, present)) {
          if (range.rows.isUncacheable(present)) return undefined;
          loaded = loadedRows(range.rows, present);
        }
        if (loaded !== undefined) loadedRanges.push(loaded);
        else if (this.#loads.canLoad(source, range)) misses.push({ source, range });
        else return undefined;
      }
      if (misses.length === 0) {
        rows.push(...loadedRanges);
        continue;
      }
      if (source.kind === 'segment' && isFew) {
        unloaded.push(source);
        if (this.#areManyReads(source, request)) this.#loadInBackground(misses, request.columns);
      } else if (this.#isWorthLoading(source, request.columns)) missing.push(...misses);
      else return undefined;
    }
    return { rows, unloaded, missing };
  }

  /**
   * Counts the series that are read from row groups. Loading all series costs as much as reading
   * dozens of them.
   */
  #areManyReads({ key }: RowSource, { series = [] }: RowRangeRequest): boolean {
    const count = (this.#seriesReads.get(key) ?? 0) + series.length;
    this.#seriesReads.set(key, count);
    return count > MAX_SERIES_READS;
  }

  /** Queries of many series load only columns that are requested a second time. */
  #isWorthLoading(source: RowSource, columns: readonly Column[]): boolean {
    const { key, kind, hasColumn } = source;
    if (kind === 'buffer') return true;
    const present = columns.filter(({ id }) => hasColumn(id));
    if (!this.#loads.fits(source, present)) return false;
    const missed = this.#missed.get(key) ?? new Set();
    const isFirst = !this.#missed.has(key) || present.some(({ id }) => !missed.has(id));
    for (const { id } of present) missed.add(id);
    this.#missed.set(key, missed);
    return !isFirst;
  }

  /** Loads the other rows of the same sources, which are likely to be requested next. */
  #prefetch(missing: readonly Miss[], columns: readonly Column[]): void {
    for (const source of new Set(missing.map((miss) => miss.source))) {
      for (const range of this.#ranges.of(source)) {
        const isKnown = missing.some((miss) => miss.range === range);
        // Rows in blocks load almost instantly on demand.
        const isInBlocks = blocksOf(source, range) !== undefined;
        if (isKnown || isInBlocks || !this.#loads.canLoad(source, range)) continue;
        this.#loadInBackground([{ source, range }], columns);
      }
    }
  }

  #loadInBackground(misses: readonly Miss[], columns: readonly Column[]): void {
    // The load itself reports the error.
    for (const miss of misses) this.#load(miss, columns, false).catch(() => undefined);
  }

  /**
   * Loads rows in the background before their blocks drop them. Loading from blocks takes a tenth
   * of the time of a DuckDB query.
   */
  #loadOldBlocks(sources: readonly RowSource[], { allColumns }: RowRangeRequest): void {
    for (const source of sources) {
      if (source.blocksFrom + OLD_BLOCK_ROWS > source.rowCount) continue;
      for (const range of this.#ranges.of(source)) {
        const isOld = source.rowCount - range.from >= OLD_BLOCK_ROWS;
        if (!isOld || range.rows.part !== undefined || blocksOf(source, range) === undefined)
          continue;
        this.#loadInBackground([{ source, range }], allColumns());
      }
    }
  }

  #load({ source, range }: Miss, requested: readonly Column[], isUrgent: boolean): Promise<void> {
    const columns = presentColumns(source, range, requested);
    return this.#loads.load(source, range, { columns, isUrgent });
  }
}

const isOfFewSeries = ({ series }: RowRangeRequest): boolean =>
  series !== undefined && series.length <= MAX_FEW_SERIES;

function loadSize({ range, source }: Miss, { columns }: RowRangeRequest): number {
  const present = presentColumns(source, range, columns);
  const lacking = present.filter(({ id }) => !range.rows.has(id));
  return (range.to - range.from) * (lacking.length + (range.rows.part === undefined ? 2 : 0));
}

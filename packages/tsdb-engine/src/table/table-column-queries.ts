import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { ColumnQuery } from '@plinth/tsdb-model/query/column-query.js';
import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';
import { compareTimes } from '@plinth/tsdb-model/time/calendar.js';
import { TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import type { BufferTable } from '@plinth/tsdb-storage/buffer/buffer-table.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import { isCacheableKind } from '../columns/cache/cached-rows.js';
import type { ColumnCache } from '../columns/cache/column-cache.js';
import type { LoadQueue } from '../columns/cache/load-queue.js';
import { RequestedRows } from '../columns/cache/requested-rows.js';
import { type PreloadLimits, TableColumns } from '../columns/cache/table-columns.js';
import { computeFromColumns, fieldsOf } from '../columns/compute-from-columns.js';
import type { RowFile, RowSource } from '../columns/load/row-source.js';
import { haveAllSeries, selectedSeries } from '../columns/rows/runs.js';
import { parquetWithRowNumbersFrom, tableFrom } from '../scan/sources.js';
import type { GenerationTable } from './generation-table.js';
import type { TableComponents } from './table-components.js';
import type { OpenSegment } from './table-segments.js';

/** Number of rows per series that are first searched for the last row of every series. */
const LAST_ROWS_PER_SERIES = 4;

type Result = Iterable<ResultChunk> | undefined;

/**
 * Runs column queries of one table: common queries that JavaScript computes from columns in memory,
 * of segments and of unflushed rows, without DuckDB (ADR 0005). Preloads the columns of requested
 * rows.
 */
export class TableColumnQueries {
  readonly #components: TableComponents;
  readonly #columns: TableColumns;
  readonly #loads: LoadQueue;
  readonly #requested: RequestedRows;
  /** The segments when the newest rows last lacked some series; until segments change, such queries read all rows at once. */
  #incompleteSegments: readonly OpenSegment[] | undefined;
  /** Reused, because every query needs the segments in its range, and a segment never changes. */
  readonly #segmentSources = new WeakMap<OpenSegment, RowSource>();

  constructor(options: {
    readonly components: TableComponents;
    readonly cache: ColumnCache;
    readonly duckDb: DuckDbHost;
    readonly onError: (error: unknown) => void;
  }) {
    const { components, cache, duckDb, onError } = options;
    this.#components = components;
    this.#loads = cache.loads;
    this.#requested = new RequestedRows(() => cache.nowMs());
    const { reader } = components.files;
    this.#columns = new TableColumns({
      cache,
      duckDb,
      index: components.series.index,
      reader,
      onError,
    });
  }

  /**
   * Returns the result from columns in memory, including everything written before the call;
   * `undefined` if DuckDB has to run the query.
   */
  async compute(
    request: ColumnQuery,
    visibleFromNs: bigint,
    queryContext?: Pick<QueryContext, 'signal'>,
  ): Promise<Result> {
    const columns = fieldsOf(request);
    if (!this.#columns.isEnabled || columns === undefined) return undefined;
    this.#loads.noteQuery();
    const { series } = this.#components;
    const indexing = series.whenIndexed();
    if (indexing !== undefined) {
      // DuckDB is just as fast here, and waits for the series only if it needs them.
      indexing.catch(() => undefined); // queries that need the series report the error
      return undefined;
    }
    const minTimeNs = request.minTimeNs > visibleFromNs ? request.minTimeNs : visibleFromNs;
    // Series that are added later only have rows that were written after the call.
    const selected = await new TimeSlicedTask(queryContext).run(
      selectedSeries(request, series.index),
    );
    const read = { columns, series: selected, queryContext };
    const newestFromNs = this.#newestFrom({ ...request, minTimeNs });
    const newest = { ...request, minTimeNs: newestFromNs ?? minTimeNs };
    const chunks = await this.#computeFrom(newest, read, newestFromNs !== undefined);
    if (chunks !== 'incomplete') return chunks;
    // A query for some series does not show whether the others have newer rows.
    if (selected === undefined) this.#incompleteSegments = this.#components.segments.list;
    return (await this.#computeFrom({ ...request, minTimeNs }, read, false)) as Result;
  }

  /** Returns `'incomplete'` if all series are needed and not all have a row in the time range. */
  async #computeFrom(
    request: ColumnQuery,
    read: {
      readonly columns: readonly Column[];
      readonly series: readonly number[] | undefined;
      readonly queryContext: Pick<QueryContext, 'signal'> | undefined;
    },
    needsAllSeries: boolean,
  ): Promise<Result | 'incomplete'> {
    const { series, repeated, tombstones } = this.#components;
    const { minTimeNs, maxTimeNs } = request;
    this.#requested.note(minTimeNs);
    const allColumns = (): readonly Column[] => this.#allColumns();
    const columnRequest = { ...read, minTimeNs, maxTimeNs, allColumns };
    for (let isAwaited = false; ; isAwaited = true) {
      await repeated.checkLateRows();
      // Only DuckDB merges points written twice and excludes deleted rows.
      if (repeated.keys.touches(minTimeNs, maxTimeNs)) return undefined;
      if (tombstones.touches(minTimeNs, maxTimeNs)) return undefined;
      const sources = this.#rowSources(minTimeNs, maxTimeNs);
      const foundRows = this.#columns.find(sources, columnRequest);
      if (foundRows === undefined) return undefined;
      if (!(foundRows instanceof Promise)) {
        const { unloaded } = foundRows;
        const rows =
          unloaded.length === 0
            ? foundRows.rows
            : await this.#columns.read(foundRows, columnRequest);
        if (rows === undefined) return undefined;
        const { index } = series;
        const options = { ...read, index, encodedTags: this.#columns.encodedTags };
        if (needsAllSeries && !(await haveAllSeries(request, rows, options))) return 'incomplete';
        return await computeFromColumns(request, rows, options);
      }
      if (isAwaited) return undefined;
      await foundRows;
    }
  }

  /**
   * For queries of the last row of each series: returns a start time from which the newest sources contain
   * `LAST_ROWS_PER_SERIES` rows per series on average. If these rows contain all series, older rows are not needed.
   * `undefined` if the start time would not shorten the range, or if such rows lacked a series and the segments are
   * still the same.
   */
  #newestFrom({ computation, minTimeNs, maxTimeNs }: ColumnQuery): bigint | undefined {
    const { series, segments } = this.#components;
    if (computation.kind !== 'last' || this.#incompleteSegments === segments.list) return undefined;
    const newestFirst = this.#rowSources(minTimeNs, maxTimeNs).sort((a, b) =>
      compareTimes(b.maxTime, a.maxTime),
    );
    let missingRows = series.index.count * LAST_ROWS_PER_SERIES;
    let fromNs = maxTimeNs;
    for (const { minTime, rowCount } of newestFirst) {
      if (minTime < fromNs) fromNs = minTime;
      missingRows -= rowCount;
      if (missingRows <= 0) return fromNs > minTimeNs ? fromNs : undefined;
    }
    return undefined;
  }

  /** Prepares a segment for queries that read only a few series. */
  async prepare(open: OpenSegment): Promise<void> {
    if (this.#columns.isEnabled) await this.#columns.prepare(this.#segmentRows(open));
  }

  /**
   * Preloads the columns of a segment if queries have requested its time range. Returns false if
   * all loaded columns would then exceed `limitBytes`.
   */
  async preload(open: OpenSegment, limits: PreloadLimits): Promise<boolean> {
    // DuckDB reads overlays, which contain points written twice, and segments with deleted rows.
    const { kind, minTime, maxTime } = open.segment;
    const { segments, tombstones, series } = this.#components;
    if (!this.#requested.has(maxTime)) return true;
    if (kind === 'overlay' || !segments.list.includes(open)) return true;
    if (tombstones.touches(minTime, maxTime)) return true;
    await series.whenIndexed();
    return await this.#columns.preload(this.#segmentRows(open), this.#allColumns(), limits);
  }

  /**
   * Whether sorting the unflushed rows would speed up queries. A cached range is the rows of a source from one row number to
   * another, which are loaded and evicted together.
   */
  get hasManyCachedRanges(): boolean {
    const main = this.#components.generations.newest?.main;
    if (main === undefined || !this.#requested.has(main.maxTime)) return false;
    return this.#columns.hasManyCachedRanges(main, main.rowCount);
  }

  /** Sorts all unflushed rows in memory, if the cache then stays within `limitBytes`. */
  async mergeCachedRanges(limits: PreloadLimits): Promise<void> {
    const { newest } = this.#components.generations;
    await newest?.main.moveToDuckDb();
    // Late rows are omitted, because there are few.
    if (newest !== undefined && newest.main.duckDbRows > 0)
      await this.#columns.mergeCachedRanges(duckDbRows(newest), this.#allColumns(), limits);
  }

  /** Evicts cached rows that the table no longer has. */
  evictGone(): void {
    const { segments, generations } = this.#components;
    const buffers = generations.list.flatMap(({ main, late }) => [main, late]);
    this.#columns.evictExcept(new Set<object>([...segments.list, ...buffers]));
  }

  evictAll(): void {
    this.#columns.evictExcept(new Set());
  }

  /** Returns the columns that can be kept in memory. */
  #allColumns(): readonly Column[] {
    return [...this.#components.schema().columns.values()].filter(({ kind }) =>
      isCacheableKind(kind),
    );
  }

  /** Returns all visible rows between two timestamps, collected in one step without an await. */
  #rowSources(minTime: bigint, maxTime: bigint): RowSource[] {
    const { segments, generations } = this.#components;
    const buffers = generations.list.flatMap(bufferRows);
    return [
      ...segments.touching(minTime, maxTime).map((open) => this.#segmentRows(open)),
      ...buffers.filter((source) => source.minTime <= maxTime && source.maxTime >= minTime),
    ];
  }

  #segmentRows(open: OpenSegment): RowSource {
    let source = this.#segmentSources.get(open);
    if (source === undefined) {
      source = this.#rowSourceOf(open);
      this.#segmentSources.set(open, source);
    }
    return source;
  }

  #rowSourceOf(open: OpenSegment): RowSource {
    const { rowCount, objectName, sizeBytes, columnIds, minTime, maxTime } = open.segment;
    const file: RowFile = {
      objectName,
      sizeBytes,
      pin: () => {
        open.pinned.pin();
        return () => open.pinned.unpin();
      },
      verify: () => this.#components.segments.verify(open),
    };
    return {
      key: open,
      kind: 'segment',
      from: parquetWithRowNumbersFrom(this.#components.files.pathOf(objectName)),
      file,
      rowNumber: 'file_row_number',
      rowCount,
      duckDbRows: rowCount,
      blocks: [],
      blocksFrom: rowCount,
      minTime,
      maxTime,
      hasColumn: (id) => columnIds.has(id),
      pin: async () => {
        const unpin = file.pin();
        await file.verify().catch((error: unknown) => {
          unpin();
          throw error;
        });
        return unpin;
      },
    };
  }
}

/** Returns the visible rows of a generation. */
function bufferRows(table: GenerationTable): RowSource[] {
  const { main, late, checkedLateRows } = table;
  const sources: RowSource[] = [];
  if (main.rowCount > 0) {
    const { rowCount, duckDbRows } = main;
    const { blocks, blocksFrom } = main.recentRows();
    sources.push(new BufferRows(table, main, { rowCount, duckDbRows, blocks, blocksFrom }));
  }
  if (checkedLateRows > 0) sources.push(new BufferRows(table, late, inDuckDb(checkedLateRows)));
  return sources;
}

/** Returns the rows of `main` that are in DuckDB. */
const duckDbRows = (table: GenerationTable): RowSource =>
  new BufferRows(table, table.main, inDuckDb(table.main.duckDbRows));

const inDuckDb = (rowCount: number): RowCounts => ({
  rowCount,
  duckDbRows: rowCount,
  blocks: [],
  blocksFrom: rowCount,
});

type RowCounts = Pick<RowSource, 'rowCount' | 'duckDbRows' | 'blocks' | 'blocksFrom'>;

/** Created for each query, which reads few of its properties. */
class BufferRows implements RowSource {
  readonly key: BufferTable;
  readonly kind = 'buffer';
  readonly rowNumber = 'rowid';
  readonly rowCount: number;
  readonly duckDbRows: number;
  readonly blocks: RowSource['blocks'];
  readonly blocksFrom: number;
  readonly minTime: bigint;
  readonly maxTime: bigint;
  readonly #table: GenerationTable;

  constructor(
    table: GenerationTable,
    rows: BufferTable,
    { rowCount, duckDbRows, blocks, blocksFrom }: RowCounts,
  ) {
    this.key = rows;
    this.rowCount = rowCount;
    this.duckDbRows = duckDbRows;
    this.blocks = blocks;
    this.blocksFrom = blocksFrom;
    this.minTime = rows.minTime;
    this.maxTime = rows.maxTime;
    this.#table = table;
  }

  get from(): string {
    return tableFrom(this.key.name);
  }

  hasColumn(id: number): boolean {
    return this.key.hasColumn(id);
  }

  async pin(): Promise<() => void> {
    const { pinned } = this.#table;
    pinned.pin();
    return () => pinned.unpin();
  }
}

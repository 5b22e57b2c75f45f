import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { runThrough, TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import type { SeriesIndex } from '../../series/series-index.js';
import type { ColumnCache } from '../cache/column-cache.js';
import { loadBlocks } from './load-blocks.js';
import {
  type CachedRange,
  type LoadColumn,
  type LoadSource,
  loadColumns,
  loadRange,
  unseenColumns,
  valueSizeBytes,
} from './load-rows.js';
import { loadedRows } from './loaded-rows.js';
import { blocksOf, type RowSource } from './row-source.js';

/** With at most this many new rows, the query for the narrowest numeric types is skipped. */
const MAX_UNSEEN_ROWS = 16_384;
/**
 * Values of newly written rows that are loaded while the query waits, without yielding to the event
 * loop.
 */
const MAX_VALUES_AT_ONCE = 200_000;
/** Bytes per row for timestamp and order. */
const INDEX_BYTES = 8;
/**
 * Bytes per row for the timestamp only: the rows of a segment are sorted, and its runs are long.
 */
const STORED_INDEX_BYTES = 4;
const LEAST_RUN_ROWS = 8;
const VALUE_BYTES = 8;

/**
 * Loads ranges of one table into memory, from the blocks in which the rows were written or from
 * DuckDB.
 */
export class RangeLoads {
  readonly #cache: ColumnCache;
  readonly #duckDb: DuckDbHost;
  readonly #index: SeriesIndex;
  readonly #onError: (error: unknown) => void;
  /** By source, the numeric types of fields that are valid for its rows before `to`. */
  readonly #numericTypes = new Map<object, { readonly to: number; readonly loads: LoadColumn[] }>();
  readonly #loading = new Map<CachedRange, Promise<void>>();

  constructor(options: {
    readonly cache: ColumnCache;
    readonly duckDb: DuckDbHost;
    readonly index: SeriesIndex;
    readonly onError: (error: unknown) => void;
  }) {
    this.#cache = options.cache;
    this.#duckDb = options.duckDb;
    this.#index = options.index;
    this.#onError = options.onError;
  }

  /** Whether the rows can be loaded: some may be neither in blocks nor completely in DuckDB. */
  canLoad(source: RowSource, range: CachedRange): boolean {
    return range.to <= source.duckDbRows || blocksOf(source, range) !== undefined;
  }

  /**
   * Loads few rows from blocks. Returns false if that would take too long or the rows do not fit.
   */
  loadAtOnce(source: RowSource, range: CachedRange, columns: readonly Column[]): boolean {
    const blocks = blocksOf(source, range);
    const rowCount = range.to - range.from;
    if (blocks === undefined || rowCount * (columns.length + 2) > MAX_VALUES_AT_ONCE) return false;
    if (!this.#cache.makeRoom(blocksSizeBytes(rowCount, columns))) return false;
    runThrough(loadBlocks(range, blocks, columns));
    return true;
  }

  /** Queues the load; loads that a query waits for come first. */
  load(
    source: RowSource,
    range: CachedRange,
    { columns, isUrgent }: { readonly columns: readonly Column[]; readonly isUrgent: boolean },
  ): Promise<void> {
    const isThere = (): boolean => loadedRows(range.rows, columns) !== undefined;
    if (isThere() || range.rows.isUncacheable(columns)) return Promise.resolve();
    const before = this.#loading.get(range);
    // A query does not wait for a queued load, because its own load runs first.
    if (before !== undefined && !isUrgent) return before;
    const load = this.#cache.loads
      .add(async () => {
        if (isThere() || range.rows.isForgotten) return;
        const hasRoom = (sizeBytes: number): boolean => this.#cache.makeRoom(sizeBytes);
        const blocks = blocksOf(source, range);
        if (blocks === undefined) await this.fromDuckDb(source, range, { columns, hasRoom });
        else if (hasRoom(blocksSizeBytes(range.to - range.from, columns)))
          await new TimeSlicedTask({ signal: NEVER }).run(loadBlocks(range, blocks, columns));
      }, isUrgent)
      .catch((error: unknown) => {
        this.#onError(error);
        throw error;
      })
      .finally(() => {
        if (this.#loading.get(range) === load) this.#loading.delete(range);
      });
    this.#loading.set(range, load);
    return load;
  }

  /**
   * Whether the rows of a source with these fields could fit in memory at all; most queries need
   * all of them.
   */
  fits(source: RowSource, columns: readonly Column[]): boolean {
    return source.rowCount * this.#rowSizeBytes(source, columns) <= this.#cache.limitBytes;
  }

  /** Fields of unknown numeric type count as the narrowest: one byte per value. */
  #rowSizeBytes(source: RowSource, columns: readonly Column[]): number {
    const known = this.#numericTypes.get(source.key)?.loads ?? [];
    const isStored =
      source.kind === 'segment' && source.rowCount >= this.#index.count * LEAST_RUN_ROWS;
    return columns.reduce(
      (sum, { id }) => {
        const load = known.find(({ column }) => column.id === id);
        return sum + (load === undefined ? 1 : valueSizeBytes(load));
      },
      isStored ? STORED_INDEX_BYTES : INDEX_BYTES,
    );
  }

  /**
   * Loads from DuckDB. Returns false if the rows do not fit, or if `load` returns false. Without
   * `load`, everything is loaded in one step.
   * @param options.rowCount number of rows that must fit before anything is loaded; defaults to the
   * rows of the range.
   */
  async fromDuckDb(
    source: RowSource,
    range: CachedRange,
    options: {
      readonly columns: readonly Column[];
      readonly hasRoom: (sizeBytes: number) => boolean;
      readonly rowCount?: number;
      readonly load?: (readable: LoadSource, loads: readonly LoadColumn[]) => Promise<boolean>;
    },
  ): Promise<boolean> {
    const { columns, hasRoom, rowCount = range.to - range.from, load } = options;
    // Skip the query for the numeric types if the rows do not fit in any.
    if (!this.fits(source, columns)) return false;
    const { from, rowNumber } = source;
    const pauseForQueries = (): Promise<void> => this.#cache.loads.pauseForQueries();
    const readable = { duckDb: this.#duckDb, index: this.#index, from, rowNumber, pauseForQueries };
    const unpin = await source.pin();
    try {
      const loads = await this.#numericTypesOf(source, range, columns, readable);
      if (!this.fits(source, columns)) return false;
      if (!hasRoom(rowCount * this.#rowSizeBytes(source, columns))) return false;
      if (load !== undefined) return await load(readable, loads);
      await loadRange(readable, range, loads);
      return true;
    } finally {
      unpin();
    }
  }

  async #numericTypesOf(
    source: RowSource,
    range: CachedRange,
    columns: readonly Column[],
    readable: LoadSource,
  ): Promise<readonly LoadColumn[]> {
    let known = this.#numericTypes.get(source.key);
    // Only the rows added since then are examined.
    if (known !== undefined && known.to < range.to) {
      const isFew = range.to - range.from <= MAX_UNSEEN_ROWS;
      return isFew ? unseenColumns(columns) : await loadColumns(readable, columns, range);
    }
    if (known === undefined) {
      known = { to: source.duckDbRows, loads: [] };
      this.#numericTypes.set(source.key, known);
    }
    const { to, loads } = known;
    const unknown = columns.filter(({ id }) => !loads.some(({ column }) => column.id === id));
    loads.push(...(await loadColumns(readable, unknown, { from: 0, to })));
    const ids = new Set(columns.map(({ id }) => id));
    return loads.filter(({ column }) => ids.has(column.id));
  }

  /** Drops the numeric types of all sources except these. */
  evictExcept(keys: ReadonlySet<object>): void {
    for (const key of this.#numericTypes.keys()) if (!keys.has(key)) this.#numericTypes.delete(key);
  }
}

function blocksSizeBytes(rowCount: number, columns: readonly Column[]): number {
  return rowCount * (INDEX_BYTES + columns.length * VALUE_BYTES);
}

/** Loads are never canceled, because several queries may wait for one. */
const { signal: NEVER } = new AbortController();

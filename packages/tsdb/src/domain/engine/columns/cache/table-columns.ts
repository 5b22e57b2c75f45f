import type { Column } from '../../../../model/columns/column.js';
import type { DuckDbHost } from '../../../../storage/duckdb/duckdb-host.js';
import type { SegmentReader } from '../../../../storage/segments/reader/segment-reader.js';
import type { SeriesIndex } from '../../series/series-index.js';
import { FewSeriesRows, MAX_FEW_SERIES } from '../load/few-series-rows.js';
import { type LoadColumn, type LoadSource, loadUnit, type RowUnit } from '../load/load-rows.js';
import { type LoadedRows, loadedRows } from '../load/loaded-rows.js';
import { blocksOf, presentColumns, type RowSource } from '../load/row-source.js';
import { MAX_GATHERED_ROWS, RowUnits } from '../load/row-units.js';
import { UnitLoads } from '../load/unit-loads.js';
import { CachedRows } from './cached-rows.js';
import type { ColumnCache } from './column-cache.js';
import { TableTexts } from './table-texts.js';

/** Values that a query waits for: loading them takes about as long as the engine's answer. */
const MAX_AWAITED_VALUES = 1_000_000;
/** Rows of blocks before so many others are taken up before a query asks for them. */
const LEAVING_ROWS = 32_768;
/** Columns of a unit that are loaded ahead with one statement: a query that waits for others gets its turn between two. */
const PRELOAD_COLUMNS = 4;

/** What to find: fields of the rows between two instants. */
interface Wanted {
  readonly columns: readonly Column[];
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
  /** All of the table that have a form in memory. */
  readonly allColumns: () => readonly Column[];
  /** Dense numbers of those whose rows are wanted; `undefined`: all. */
  readonly series: readonly number[] | undefined;
}

/** What is in memory of what is wanted. */
interface Found {
  readonly rows: readonly LoadedRows[];
  /** Segments that are not: few series are read out of them for this question alone. */
  readonly unloaded: readonly RowSource[];
}

/** A unit that is not in memory as it is asked for. */
interface Miss {
  readonly source: RowSource;
  readonly unit: RowUnit;
}

/** How much may be loaded ahead, with all that is in memory, and until when. */
export interface LoadAhead {
  readonly limitBytes: number;
  readonly signal: AbortSignal;
}

/** What is in memory of one table's rows, by source. */
export class TableColumns {
  readonly texts: TableTexts;
  readonly #cache: ColumnCache;
  readonly #units: RowUnits;
  readonly #loads: UnitLoads;
  readonly #fewSeries: FewSeriesRows;
  /** What was missed once, by segment: columns that one query alone asks for are not read from files. */
  readonly #missed = new Map<object, Set<number>>();

  constructor(options: {
    readonly cache: ColumnCache;
    readonly host: DuckDbHost;
    readonly index: SeriesIndex;
    readonly reader: SegmentReader;
    readonly onError: (error: unknown) => void;
  }) {
    this.#cache = options.cache;
    this.texts = new TableTexts(options.cache);
    this.#units = new RowUnits(options.cache);
    this.#loads = new UnitLoads(options);
    this.#fewSeries = new FewSeriesRows(options);
  }

  get isEnabled(): boolean {
    return this.#cache.isEnabled;
  }

  /**
   * Rows of the sources with the given fields, at least those between the two instants. `undefined`: they are not in memory,
   * and the engine is the faster one; they are loaded behind the query then. A promise: they will be in memory soon; the
   * sources have to be taken anew when it resolves, because they may hold more rows then.
   */
  find(sources: readonly RowSource[], wanted: Wanted): Found | Promise<void> | undefined {
    const found = this.#look(sources, wanted);
    this.#loadLeaving(sources, wanted);
    if (found === undefined) return undefined;
    if (found.missing.length === 0) return found;
    const values = found.missing.reduce((sum, miss) => sum + loadSize(miss, wanted), 0);
    const isAwaited = values <= MAX_AWAITED_VALUES;
    const loads = found.missing.map((miss) => this.#load(miss, wanted.columns, isAwaited));
    this.#prefetch(found.missing, wanted.columns);
    const done = Promise.allSettled(loads).then(() => undefined);
    return isAwaited ? done : undefined;
  }

  /** All rows of what was found. `undefined`: the engine is the better one. */
  async read(
    { rows, unloaded }: Found,
    { columns, minTimeNs, maxTimeNs, series = [] }: Wanted,
  ): Promise<readonly LoadedRows[] | undefined> {
    const wanted = { columns, minTimeNs, maxTimeNs, series };
    const read = await this.#fewSeries.read(unloaded, wanted);
    return read && [...rows, ...read];
  }

  /**
   * Loads the columns of a segment that are not in memory, as long as all that is fits in `limitBytes`. False: it does not.
   */
  async preload(
    source: RowSource,
    columns: readonly Column[],
    { limitBytes, signal }: LoadAhead,
  ): Promise<boolean> {
    const hasRoom = (sizeBytes: number): boolean => this.#cache.sizeBytes + sizeBytes <= limitBytes;
    const units = this.#units.of(source);
    // Most questions need all rows of a column: none is loaded without the others.
    const usable = columns.filter(
      (column) => source.hasColumn(column.id) && !units.some(({ rows }) => rows.isUnfit([column])),
    );
    for (let at = 0; at < usable.length; at += PRELOAD_COLUMNS) {
      const group = usable.slice(at, at + PRELOAD_COLUMNS);
      const lacking = units.filter(({ rows }) => group.some(({ id }) => !rows.has(id)));
      let rowCount = lacking.reduce((sum, { from, to }) => sum + to - from, 0);
      for (const unit of lacking) {
        if (signal.aborted) return true;
        let isLoaded = true;
        await this.#cache.loads.add(async () => {
          if (unit.rows.isForgotten) return;
          const wanted = group.filter(({ id }) => !unit.rows.has(id));
          isLoaded = await this.#loads.fromEngine(source, unit, {
            columns: wanted,
            hasRoom,
            rowCount,
          });
        }, false);
        if (!isLoaded) return false;
        rowCount -= unit.to - unit.from;
      }
    }
    return true;
  }

  /** Whether enough of a buffer table's rows stand in pages that they are better sorted as one. */
  isScattered(key: object, rowCount: number): boolean {
    return this.#units.scatteredFrom(key, rowCount) !== undefined;
  }

  /**
   * Loads the rows of a buffer table that stand in pages, with all of their columns, and puts them in the pages' place as one
   * unit: a query over many series then looks at each of them once instead of once a page. Nothing happens when that takes
   * more than there is in `limitBytes` beside everything else. All rows of the source must be in the engine.
   */
  async gather(source: RowSource, columns: readonly Column[], how: LoadAhead): Promise<void> {
    const from = this.#units.scatteredFrom(source.key, source.rowCount);
    if (from === undefined) return;
    const to = Math.min(source.rowCount, from + MAX_GATHERED_ROWS);
    const unit = { from, to, rows: new CachedRows(this.#cache), isGathered: true };
    const present = columns.filter(({ id }) => source.hasColumn(id));
    const isLoaded = await this.#loadGathered(source, unit, present, how);
    const isReady = isLoaded && !unit.rows.isUnfit(present);
    // The source may have gone meanwhile, and what came since stands in pages.
    if (isReady && this.#units.putGathered(source.key, unit)) return;
    unit.rows.forget();
    if (!how.signal.aborted) this.#units.noteNotGathered(source.key, to);
  }

  /** False: there is no room for it, or the signal came. */
  async #loadGathered(
    source: RowSource,
    unit: RowUnit,
    columns: readonly Column[],
    { limitBytes, signal }: LoadAhead,
  ): Promise<boolean> {
    const hasRoom = (sizeBytes: number): boolean => {
      const replaced = this.#units.of(source).filter((each) => each.to > unit.from);
      const replacedBytes = replaced.reduce((sum, { rows }) => sum + rows.freeableBytes, 0);
      return this.#cache.sizeBytes - replacedBytes + sizeBytes <= limitBytes;
    };
    const load = async (readable: LoadSource, loads: readonly LoadColumn[]): Promise<boolean> => {
      for (let at = 0; at < loads.length || at === 0; at += PRELOAD_COLUMNS) {
        if (signal.aborted) return false;
        const some = loads.slice(at, at + PRELOAD_COLUMNS);
        await this.#cache.loads.add(() => loadUnit(readable, unit, some), false);
      }
      return true;
    };
    return await this.#loads.fromEngine(source, unit, { columns, hasRoom, load });
  }

  /** Gives up what belongs to other sources than these. */
  retain(keys: ReadonlySet<object>): void {
    if (keys.size === 0) this.texts.forget();
    this.#units.retain(keys);
    this.#loads.retain(keys);
    for (const key of this.#missed.keys()) if (!keys.has(key)) this.#missed.delete(key);
  }

  /** `undefined`: something has no form in memory, cannot be loaded, or is not worth to be. */
  #look(
    sources: readonly RowSource[],
    wanted: Wanted,
  ): (Found & { readonly missing: Miss[] }) | undefined {
    const rows: LoadedRows[] = [];
    const missing: Miss[] = [];
    const unloaded: RowSource[] = [];
    const isFew = wanted.series !== undefined && wanted.series.length <= MAX_FEW_SERIES;
    for (const source of sources) {
      const misses: Miss[] = [];
      const found: LoadedRows[] = [];
      for (const unit of this.#units.of(source)) {
        if (!unit.rows.touches(wanted.minTimeNs, wanted.maxTimeNs)) continue;
        const present = presentColumns(source, unit, wanted.columns);
        if (unit.rows.isUnfit(present)) return undefined;
        let loaded = loadedRows(unit.rows, present);
        if (loaded === undefined && this.#loads.loadAtOnce(source, unit, present)) {
          if (unit.rows.isUnfit(present)) return undefined;
          loaded = loadedRows(unit.rows, present);
        }
        if (loaded !== undefined) found.push(loaded);
        else if (this.#loads.canLoad(source, unit)) misses.push({ source, unit });
        else return undefined;
      }
      if (misses.length === 0) {
        rows.push(...found);
        continue;
      }
      const isWorthLoading = this.#isWorthLoading(source, wanted.columns);
      if (source.kind === 'segment' && isFew) {
        unloaded.push(source);
        if (isWorthLoading) this.#loadBehind(misses, wanted.columns);
      } else if (isWorthLoading) missing.push(...misses);
      else return undefined;
    }
    return { rows, unloaded, missing };
  }

  /** Files are read for what is asked for again. */
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

  /** The other rows of the sources are likely to be asked for next. */
  #prefetch(missing: readonly Miss[], columns: readonly Column[]): void {
    for (const source of new Set(missing.map((miss) => miss.source))) {
      for (const unit of this.#units.of(source)) {
        const isKnown = missing.some((miss) => miss.unit === unit);
        // Rows of blocks are loaded in no time when they are asked for.
        const isInBlocks = blocksOf(source, unit) !== undefined;
        if (isKnown || isInBlocks || !this.#loads.canLoad(source, unit)) continue;
        this.#loadBehind([{ source, unit }], columns);
      }
    }
  }

  #loadBehind(misses: readonly Miss[], columns: readonly Column[]): void {
    for (const miss of misses) this.#load(miss, columns, false).catch(() => undefined); // It is reported where it runs.
  }

  /**
   * Takes up, behind the query, rows that their blocks will not have for long: out of these they take a tenth of the time that
   * the next question would wait for the engine.
   */
  #loadLeaving(sources: readonly RowSource[], { allColumns }: Wanted): void {
    for (const source of sources) {
      if (source.blocksFrom + LEAVING_ROWS > source.rowCount) continue;
      for (const unit of this.#units.of(source)) {
        const isLeaving = source.rowCount - unit.from >= LEAVING_ROWS;
        if (!isLeaving || unit.rows.part !== undefined || blocksOf(source, unit) === undefined)
          continue;
        this.#loadBehind([{ source, unit }], allColumns());
      }
    }
  }

  #load({ source, unit }: Miss, wanted: readonly Column[], isUrgent: boolean): Promise<void> {
    const columns = presentColumns(source, unit, wanted);
    return this.#loads.load(source, unit, { columns, isUrgent });
  }
}

function loadSize({ unit, source }: Miss, { columns }: Wanted): number {
  const present = presentColumns(source, unit, columns);
  const lacking = present.filter(({ id }) => !unit.rows.has(id));
  return (unit.to - unit.from) * (lacking.length + (unit.rows.part === undefined ? 2 : 0));
}

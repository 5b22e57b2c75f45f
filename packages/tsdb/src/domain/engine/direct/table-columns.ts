import type { Column } from '../../../model/column.js';
import type { RowBlock } from '../../../storage/buffer/row-block.js';
import type { DuckDbHost } from '../../../storage/duckdb/duckdb-host.js';
import type { SeriesIndex } from '../series-index.js';
import { blockRows } from './block-rows.js';
import { CachedRows } from './cached-rows.js';
import type { ColumnCache } from './column-cache.js';
import {
  type LoadColumn,
  type LoadSource,
  loadColumns,
  loadUnit,
  type RowUnit,
  unseenColumns,
  valueSizeBytes,
} from './load-rows.js';
import type { Part, StoredColumn } from './part.js';
import { TableTexts } from './table-texts.js';

/** Rows of a buffer table that are kept as one: a part's places fit 16 bits. */
const PAGE_ROWS = 65536;
/** A segment of more rows is left to the engine, which reads of it only what a query needs. */
const MAX_SEGMENT_ROWS = 4 * 1024 * 1024;
/** Values that a query waits for: loading them takes about as long as the engine's answer. */
const MAX_AWAITED_VALUES = 1_000_000;
/** Columns of a segment that are loaded ahead with one statement: a query that waits for others gets its turn between two. */
const PRELOAD_COLUMNS = 4;
/** Fewer rows of a buffer table are loaded in no time when a query asks for them. */
const LEAST_GATHERED_ROWS = 16384;
/** What is written between two questions is taken as it comes: the engine is not asked for its form first. */
const MAX_UNSEEN_ROWS = 16_384;
/** What time and order of a row take. */
const INDEX_BYTES = 8;

/** Where rows of a table are: a segment, or rows of a generation. */
export interface RowSource {
  /** Stands for the source as long as it lives. */
  readonly key: object;
  /** What stands in FROM. */
  readonly from: string;
  /** Its column with the number of the row, from 0 on. */
  readonly rowNumber: string;
  readonly kind: 'segment' | 'buffer';
  /** Rows that the engine can read; a buffer table's grow. */
  readonly rowCount: number;
  /** Later rows, which the engine has not got yet. */
  readonly blocks: readonly RowBlock[];
  readonly minTime: bigint;
  readonly maxTime: bigint;
  readonly hasColumn: (id: number) => boolean;
  /** Keeps the source for the time of a load and makes sure that it can be read. Returns what lets it go. */
  readonly hold: () => Promise<() => void>;
}

/** Rows of a source, ready to be looked at. */
export interface LoadedRows {
  readonly part: Part;
  /** `undefined`: all NULL. */
  column(id: number): StoredColumn | undefined;
  /** For answers that are made while their client takes them: returns what lets the memory go, to be called once. */
  hold?(): () => void;
}

/** What to find: fields of the rows between two instants. */
interface Wanted {
  readonly columns: readonly Column[];
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
}

/** What is in memory of one table's rows, by source. */
export class TableColumns {
  readonly #cache: ColumnCache;
  readonly #host: DuckDbHost;
  readonly #index: SeriesIndex;
  readonly #onError: (error: unknown) => void;
  readonly texts: TableTexts;
  readonly #units = new Map<object, RowUnit[]>();
  /** What was missed once, by segment: columns that one query alone asks for are not read from files. */
  readonly #missed = new Map<object, Set<number>>();
  /** By source, the forms of fields that hold for its rows before `to`. */
  readonly #forms = new Map<object, { readonly to: number; readonly loads: LoadColumn[] }>();
  readonly #loading = new Map<RowUnit, Promise<void>>();
  /** By source, the rows that were found to be too many, or of no form, to be gathered. */
  readonly #notGathered = new Map<object, number>();

  constructor(options: {
    readonly cache: ColumnCache;
    readonly host: DuckDbHost;
    readonly index: SeriesIndex;
    readonly onError: (error: unknown) => void;
  }) {
    this.#cache = options.cache;
    this.#host = options.host;
    this.#index = options.index;
    this.#onError = options.onError;
    this.texts = new TableTexts(options.cache);
  }

  get isEnabled(): boolean {
    return this.#cache.isEnabled;
  }

  /**
   * Rows of the sources with the given fields, at least those between the two instants. `undefined`: they are not in memory,
   * and the engine is the faster one; they are loaded behind the query then. A promise: they will be in memory soon; the
   * sources have to be taken anew when it resolves, because they may hold more rows then.
   */
  find(
    sources: readonly RowSource[],
    wanted: Wanted,
  ): readonly LoadedRows[] | Promise<void> | undefined {
    const found = this.#look(sources, wanted);
    if (found === undefined) return undefined;
    if (found.missing.length === 0) return found.rows;
    const values = found.missing.reduce((sum, miss) => sum + this.#loadSize(miss, wanted), 0);
    const isAwaited = values <= MAX_AWAITED_VALUES;
    const loads = found.missing.map((miss) => this.#load(miss, wanted.columns, isAwaited));
    this.#prefetch(found.missing, wanted.columns);
    const done = Promise.allSettled(loads).then(() => undefined);
    return isAwaited ? done : undefined;
  }

  /**
   * Loads the columns of a segment that are not in memory, as long as all that is fits in `limitBytes`. False: it does not.
   */
  async preload(
    source: RowSource,
    columns: readonly Column[],
    { limitBytes, signal }: { readonly limitBytes: number; readonly signal: AbortSignal },
  ): Promise<boolean> {
    if (source.rowCount > MAX_SEGMENT_ROWS) return true;
    const hasRoom = (sizeBytes: number): boolean => this.#cache.sizeBytes + sizeBytes <= limitBytes;
    let isComplete = true;
    for (const unit of this.#unitsOf(source)) {
      const lacking = columns.filter(
        (column) =>
          source.hasColumn(column.id) && !unit.rows.has(column.id) && !unit.rows.isUnfit([column]),
      );
      for (
        let at = 0;
        at < lacking.length && isComplete && !signal.aborted;
        at += PRELOAD_COLUMNS
      ) {
        const wanted = lacking.slice(at, at + PRELOAD_COLUMNS);
        await this.#cache.loads.add(async () => {
          if (!unit.rows.isForgotten)
            isComplete = await this.#loadUnit(source, unit, { columns: wanted, hasRoom });
        }, false);
      }
    }
    return isComplete;
  }

  /** Whether enough of a buffer table's rows stand in pages, or wait for the engine, that they are better sorted as one. */
  isScattered({ key, rowCount, blocks }: RowSource): boolean {
    const waiting = blocks.reduce((sum, { count }) => sum + count, 0);
    return this.#scatteredFrom(key, rowCount + waiting) !== undefined;
  }

  /**
   * Loads the rows of a buffer table that stand in pages, with all of their columns, and puts them in the pages' place as one
   * unit: a query over many series then looks at each of them once instead of once a page. Nothing happens when that takes
   * more than there is in `limitBytes` beside everything else.
   */
  async gather(
    source: RowSource,
    columns: readonly Column[],
    { limitBytes, signal }: { readonly limitBytes: number; readonly signal: AbortSignal },
  ): Promise<void> {
    const from = this.#scatteredFrom(source.key, source.rowCount);
    if (from === undefined) return;
    const to = Math.min(source.rowCount, from + MAX_SEGMENT_ROWS);
    const unit = { from, to, rows: new CachedRows(this.#cache), isGathered: true };
    const present = columns.filter(({ id }) => source.hasColumn(id));
    const isLoaded = await this.#loadGathered(source, unit, present, { limitBytes, signal });
    const units = this.#units.get(source.key);
    // The source may have gone meanwhile, and what came since stands in pages.
    if (!isLoaded || units === undefined || unit.rows.isUnfit(present)) {
      unit.rows.forget();
      if (units !== undefined && !signal.aborted) this.#notGathered.set(source.key, to);
      return;
    }
    for (const { rows } of units.filter((each) => each.to > from)) rows.forget();
    this.#units.set(source.key, [...units.filter((each) => each.to <= from), unit]);
  }

  /** False: there is no room for it, or the signal came. */
  async #loadGathered(
    source: RowSource,
    unit: RowUnit,
    columns: readonly Column[],
    { limitBytes, signal }: { readonly limitBytes: number; readonly signal: AbortSignal },
  ): Promise<boolean> {
    const hasRoom = (sizeBytes: number): boolean => {
      const replaced = this.#unitsOf(source).filter((each) => each.to > unit.from);
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
    return await this.#loadUnit(source, unit, { columns, hasRoom, load });
  }

  /**
   * The first row to gather; `undefined`: there is nothing to do. Gathered units are taken up again as long as they are not
   * twice as large as what follows them, so that there are few units and each row is taken up a few times at most.
   */
  #scatteredFrom(key: object, rowCount: number): number | undefined {
    const gathered = (this.#units.get(key) ?? []).filter(({ isGathered }) => isGathered);
    let from = gathered.at(-1)?.to ?? 0;
    const seen = Math.max(from, this.#notGathered.get(key) ?? 0);
    if (rowCount - seen < Math.max(LEAST_GATHERED_ROWS, seen - from)) return undefined;
    for (const unit of gathered.toReversed()) {
      const isLarge = unit.to - unit.from > 2 * (rowCount - unit.to);
      if (isLarge || rowCount - unit.from > MAX_SEGMENT_ROWS) break;
      from = unit.from;
    }
    return from;
  }

  /** Gives up what belongs to other sources than these. */
  retain(keys: ReadonlySet<object>): void {
    if (keys.size === 0) this.texts.forget();
    for (const [key, units] of this.#units) {
      if (keys.has(key)) continue;
      for (const { rows } of units) rows.forget();
      this.#units.delete(key);
    }
    for (const memory of [this.#missed, this.#forms, this.#notGathered])
      for (const key of memory.keys()) if (!keys.has(key)) memory.delete(key);
  }

  /** `undefined`: something has no form in memory, or is not worth to be loaded. */
  #look(
    sources: readonly RowSource[],
    wanted: Wanted,
  ): { readonly rows: LoadedRows[]; readonly missing: Miss[] } | undefined {
    const rows: LoadedRows[] = [];
    const missing: Miss[] = [];
    for (const source of sources) {
      const present = wanted.columns.filter((column) => source.hasColumn(column.id));
      const misses: Miss[] = [];
      for (const unit of this.#unitsOf(source)) {
        if (!unit.rows.touches(wanted.minTimeNs, wanted.maxTimeNs)) continue;
        if (unit.rows.isUnfit(present)) return undefined;
        const loaded = loadedRows(unit.rows, present);
        if (loaded === undefined) misses.push({ source, unit });
        else rows.push(loaded);
      }
      if (misses.length > 0 && !this.#isWorthLoading(source, present)) return undefined;
      missing.push(...misses);
      for (const block of source.blocks) {
        const loaded = blockRows(block, wanted.columns);
        if (loaded === undefined) return undefined;
        rows.push(loaded);
      }
    }
    return { rows, missing };
  }

  #unitsOf(source: RowSource): readonly RowUnit[] {
    let units = this.#units.get(source.key);
    if (units === undefined) {
      units = [];
      this.#units.set(source.key, units);
    }
    let end = units.at(-1)?.to ?? 0;
    if (end === source.rowCount) return units;
    const pageRows = source.kind === 'segment' ? source.rowCount : PAGE_ROWS;
    // Pages join what follows unless they are much larger: each row is taken up a few times at most, and pages are few.
    for (let last = units.at(-1); last !== undefined; last = units.at(-1)) {
      const isLarge = last.to - last.from > 2 * (source.rowCount - last.to);
      if (last.isGathered || isLarge || source.rowCount - last.from > pageRows) break;
      last.rows.forget();
      units.pop();
      end = last.from;
    }
    for (let from = end; from < source.rowCount; from += pageRows) {
      const to = Math.min(source.rowCount, from + pageRows);
      units.push({ from, to, rows: new CachedRows(this.#cache), isGathered: false });
    }
    return units;
  }

  /** Files are read for what is asked for again. */
  #isWorthLoading({ key, kind, rowCount }: RowSource, columns: readonly Column[]): boolean {
    if (kind === 'buffer') return true;
    if (rowCount > MAX_SEGMENT_ROWS) return false;
    const missed = this.#missed.get(key) ?? new Set();
    const isFirst = !this.#missed.has(key) || columns.some((column) => !missed.has(column.id));
    for (const column of columns) missed.add(column.id);
    this.#missed.set(key, missed);
    return !isFirst;
  }

  #loadSize({ unit, source }: Miss, { columns }: Wanted): number {
    const lacking = columns.filter(
      (column) => source.hasColumn(column.id) && !unit.rows.has(column.id),
    );
    return (unit.to - unit.from) * (lacking.length + (unit.rows.part === undefined ? 2 : 0));
  }

  /** The other rows of the sources are likely to be asked for next. */
  #prefetch(missing: readonly Miss[], columns: readonly Column[]): void {
    for (const source of new Set(missing.map((miss) => miss.source))) {
      for (const unit of this.#unitsOf(source)) {
        if (missing.some((miss) => miss.unit === unit)) continue;
        this.#load({ source, unit }, columns, false).catch(() => undefined); // It is reported where it runs.
      }
    }
  }

  #load({ source, unit }: Miss, columns: readonly Column[], isUrgent: boolean): Promise<void> {
    const wanted = columns.filter(({ id }) => source.hasColumn(id));
    const isThere = (): boolean => loadedRows(unit.rows, wanted) !== undefined;
    if (isThere() || unit.rows.isUnfit(wanted)) return Promise.resolve();
    const before = this.#loading.get(unit);
    // A load that waits behind others does not make a query wait.
    if (before !== undefined && !isUrgent) return before;
    const load = this.#cache.loads
      .add(async () => {
        if (isThere() || unit.rows.isForgotten) return;
        const hasRoom = (sizeBytes: number): boolean => this.#cache.makeRoom(sizeBytes);
        await this.#loadUnit(source, unit, { columns: wanted, hasRoom });
      }, isUrgent)
      .catch((error: unknown) => {
        this.#onError(error);
        throw error;
      })
      .finally(() => {
        if (this.#loading.get(unit) === load) this.#loading.delete(unit);
      });
    this.#loading.set(unit, load);
    return load;
  }

  /** False: there is no room for it, or `load` says so; without `load` everything is loaded in one go. */
  async #loadUnit(
    source: RowSource,
    unit: RowUnit,
    how: {
      readonly columns: readonly Column[];
      readonly hasRoom: (sizeBytes: number) => boolean;
      readonly load?: (readable: LoadSource, loads: readonly LoadColumn[]) => Promise<boolean>;
    },
  ): Promise<boolean> {
    const { columns, hasRoom, load } = how;
    const { from, rowNumber } = source;
    const readable = { host: this.#host, index: this.#index, from, rowNumber };
    const letGo = await source.hold();
    try {
      const loads = await this.#formsOf(source, unit, columns, readable);
      const rowSizeBytes = loads.reduce((sum, each) => sum + valueSizeBytes(each), INDEX_BYTES);
      if (!hasRoom((unit.to - unit.from) * rowSizeBytes)) return false;
      if (load !== undefined) return await load(readable, loads);
      await loadUnit(readable, unit, loads);
      return true;
    } finally {
      letGo();
    }
  }

  async #formsOf(
    source: RowSource,
    unit: RowUnit,
    columns: readonly Column[],
    readable: LoadSource,
  ): Promise<readonly LoadColumn[]> {
    let forms = this.#forms.get(source.key);
    // Rows that came since: only they are looked at.
    if (forms !== undefined && forms.to < unit.to) {
      const isFew = unit.to - unit.from <= MAX_UNSEEN_ROWS;
      return isFew ? unseenColumns(columns) : await loadColumns(readable, columns, unit);
    }
    if (forms === undefined) {
      forms = { to: source.rowCount, loads: [] };
      this.#forms.set(source.key, forms);
    }
    const { to, loads } = forms;
    const unknown = columns.filter(({ id }) => !loads.some(({ column }) => column.id === id));
    loads.push(...(await loadColumns(readable, unknown, { from: 0, to })));
    const ids = new Set(columns.map(({ id }) => id));
    return loads.filter(({ column }) => ids.has(column.id));
  }
}

/** A unit that is not in memory as it is asked for. */
interface Miss {
  readonly source: RowSource;
  readonly unit: RowUnit;
}

function loadedRows(rows: CachedRows, columns: readonly Column[]): LoadedRows | undefined {
  const { part } = rows;
  if (part === undefined) return undefined;
  const stored = new Map<number, StoredColumn>();
  for (const { id } of columns) {
    const column = rows.column(id);
    if (column === undefined) return undefined;
    stored.set(id, column);
  }
  return { part, column: (id) => stored.get(id), hold: rows.holder(stored.keys()) };
}

import type { Column } from '../../../model/column.js';
import type { RowBlock } from '../../../storage/buffer/row-block.js';
import type { DuckDbHost } from '../../../storage/duckdb/duckdb-host.js';
import type { SeriesIndex } from '../series-index.js';
import { blockRows } from './block-rows.js';
import { CachedRows } from './cached-rows.js';
import type { ColumnCache } from './column-cache.js';
import { loadColumns, loadUnit, type RowUnit, valueSizeBytes } from './load-rows.js';
import type { Part, StoredColumn } from './part.js';

/** Rows of a buffer table that are kept as one: a part's places fit 16 bits. */
const PAGE_ROWS = 65536;
/** A segment of more rows is left to the engine, which reads of it only what a query needs. */
const MAX_SEGMENT_ROWS = 4 * 1024 * 1024;
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
}

/** What is in memory of one table's rows, by source. */
export class TableColumns {
  readonly #cache: ColumnCache;
  readonly #host: DuckDbHost;
  readonly #index: SeriesIndex;
  readonly #onError: (error: unknown) => void;
  readonly #units = new Map<object, RowUnit[]>();
  /** What was missed once, by segment: columns that one query alone asks for are not read from files. */
  readonly #missed = new Map<object, Set<number>>();
  readonly #loading = new Set<object>();

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
  }

  get isEnabled(): boolean {
    return this.#cache.isEnabled;
  }

  /**
   * Rows of a source with the given fields, at least those between the two instants; `undefined`: not all of them are in
   * memory. Asks for them to be loaded then.
   */
  find(
    source: RowSource,
    columns: readonly Column[],
    bounds: { readonly minTimeNs: bigint; readonly maxTimeNs: bigint },
  ): readonly LoadedRows[] | undefined {
    const present = columns.filter((column) => source.hasColumn(column.id));
    const units = this.#unitsOf(source);
    const found: LoadedRows[] = [];
    for (const { rows } of units) {
      if (!rows.touches(bounds.minTimeNs, bounds.maxTimeNs)) continue;
      const loaded = loadedRows(rows, present);
      if (loaded === undefined) {
        this.#miss(source, units, present);
        return undefined;
      }
      found.push(loaded);
    }
    for (const block of source.blocks) {
      const loaded = blockRows(block, columns);
      if (loaded === undefined) return undefined;
      found.push(loaded);
    }
    return found;
  }

  /** Gives up what belongs to other sources than these. */
  retain(keys: ReadonlySet<object>): void {
    for (const [key, units] of this.#units) {
      if (keys.has(key)) continue;
      for (const { rows } of units) rows.forget();
      this.#units.delete(key);
    }
    for (const key of this.#missed.keys()) if (!keys.has(key)) this.#missed.delete(key);
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
    const last = units.at(-1);
    if (last !== undefined && last.to - last.from < pageRows) {
      last.rows.forget();
      units.pop();
      end = last.from;
    }
    for (let from = end; from < source.rowCount; from += pageRows) {
      const to = Math.min(source.rowCount, from + pageRows);
      units.push({ from, to, rows: new CachedRows(this.#cache) });
    }
    return units;
  }

  #miss(source: RowSource, units: readonly RowUnit[], columns: readonly Column[]): void {
    if (source.kind === 'segment' && source.rowCount > MAX_SEGMENT_ROWS) return;
    if (source.kind === 'segment' && this.#isFirstMiss(source, columns)) return;
    if (this.#loading.has(source.key)) return;
    this.#loading.add(source.key);
    this.#cache
      .queueLoad(() => this.#load(source, units, columns))
      .catch(this.#onError)
      .finally(() => this.#loading.delete(source.key));
  }

  #isFirstMiss({ key }: RowSource, columns: readonly Column[]): boolean {
    const missed = this.#missed.get(key) ?? new Set();
    const isFirst = !this.#missed.has(key) || columns.some((column) => !missed.has(column.id));
    for (const column of columns) missed.add(column.id);
    this.#missed.set(key, missed);
    return isFirst;
  }

  async #load(
    source: RowSource,
    units: readonly RowUnit[],
    columns: readonly Column[],
  ): Promise<void> {
    const lacking = units.filter(
      ({ rows }) => !rows.isUnfit(columns) && loadedRows(rows, columns) === undefined,
    );
    const [first] = lacking;
    const last = lacking.at(-1);
    if (first === undefined || last === undefined) return;
    const rest = columns.filter((column) => lacking.some(({ rows }) => !rows.has(column.id)));
    const { from, rowNumber } = source;
    const readable = { host: this.#host, index: this.#index, from, rowNumber };
    const letGo = await source.hold();
    try {
      const loads = await loadColumns(readable, rest, { from: first.from, to: last.to });
      const rowSizeBytes = loads.reduce((sum, load) => sum + valueSizeBytes(load), INDEX_BYTES);
      for (const unit of lacking) {
        if (!this.#cache.makeRoom((unit.to - unit.from) * rowSizeBytes)) return;
        await loadUnit(readable, unit, loads);
      }
    } finally {
      letGo();
    }
  }
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
  return { part, column: (id) => stored.get(id) };
}

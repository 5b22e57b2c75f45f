import type { Column } from '../../../../model/columns/column.js';
import { runThrough, TimeSlicedTask } from '../../../../model/time-sliced-task.js';
import type { DuckDbHost } from '../../../../storage/duckdb/duckdb-host.js';
import type { SeriesIndex } from '../../series/series-index.js';
import type { ColumnCache } from '../cache/column-cache.js';
import { loadBlocks } from './load-blocks.js';
import {
  type LoadColumn,
  type LoadSource,
  loadColumns,
  loadUnit,
  type RowUnit,
  unseenColumns,
  valueSizeBytes,
} from './load-rows.js';
import { loadedRows } from './loaded-rows.js';
import { blocksOf, type RowSource } from './row-source.js';

/** What is written between two questions is taken as it comes: the engine is not asked for its form first. */
const MAX_UNSEEN_ROWS = 16_384;
/** So many values of rows that were just written are brought into memory while the query waits, without a turn for others. */
const MAX_VALUES_AT_ONCE = 200_000;
/** What time and order of a row take. */
const INDEX_BYTES = 8;
/** The time alone: rows of a segment stand in order, and a run of a series is more than a few of them. */
const STORED_INDEX_BYTES = 4;
const LEAST_RUN_ROWS = 8;
const VALUE_BYTES = 8;

/** Brings units of one table into memory: from blocks that still have them as they were written, or from the engine. */
export class UnitLoads {
  readonly #cache: ColumnCache;
  readonly #host: DuckDbHost;
  readonly #index: SeriesIndex;
  readonly #onError: (error: unknown) => void;
  /** By source, the forms of fields that hold for its rows before `to`. */
  readonly #forms = new Map<object, { readonly to: number; readonly loads: LoadColumn[] }>();
  readonly #loading = new Map<RowUnit, Promise<void>>();

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

  /** Whether the rows can be loaded: some may be neither in blocks nor all in the engine. */
  canLoad(source: RowSource, unit: RowUnit): boolean {
    return unit.to <= source.engineRows || blocksOf(source, unit) !== undefined;
  }

  /** Loads few rows that blocks have. False: it takes too long for that, or there is no room. */
  loadAtOnce(source: RowSource, unit: RowUnit, columns: readonly Column[]): boolean {
    const blocks = blocksOf(source, unit);
    const rowCount = unit.to - unit.from;
    if (blocks === undefined || rowCount * (columns.length + 2) > MAX_VALUES_AT_ONCE) return false;
    if (!this.#cache.makeRoom(blocksSizeBytes(rowCount, columns))) return false;
    runThrough(loadBlocks(unit, blocks, columns));
    return true;
  }

  /** One after the other with all loads; those that a query waits for come first. */
  load(
    source: RowSource,
    unit: RowUnit,
    { columns, isUrgent }: { readonly columns: readonly Column[]; readonly isUrgent: boolean },
  ): Promise<void> {
    const isThere = (): boolean => loadedRows(unit.rows, columns) !== undefined;
    if (isThere() || unit.rows.isUnfit(columns)) return Promise.resolve();
    const before = this.#loading.get(unit);
    // A load that waits behind others does not make a query wait.
    if (before !== undefined && !isUrgent) return before;
    const load = this.#cache.loads
      .add(async () => {
        if (isThere() || unit.rows.isForgotten) return;
        const hasRoom = (sizeBytes: number): boolean => this.#cache.makeRoom(sizeBytes);
        const blocks = blocksOf(source, unit);
        if (blocks === undefined) await this.fromEngine(source, unit, { columns, hasRoom });
        else if (hasRoom(blocksSizeBytes(unit.to - unit.from, columns)))
          await new TimeSlicedTask({ signal: NEVER }).run(loadBlocks(unit, blocks, columns));
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

  /** Whether the rows of a source with these fields, all of which many questions need, could be in memory at all. */
  fits(source: RowSource, columns: readonly Column[]): boolean {
    return source.rowCount * this.#rowSizeBytes(source, columns) <= this.#cache.limitBytes;
  }

  /** Of fields whose form is not known yet, in the narrowest one: each value has a byte. */
  #rowSizeBytes(source: RowSource, columns: readonly Column[]): number {
    const known = this.#forms.get(source.key)?.loads ?? [];
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
   * False: there is no room for it, or `load` says so; without `load` everything is loaded in one go.
   * @param how.rowCount of all that has to have room before anything is loaded; of the unit, unless told otherwise.
   */
  async fromEngine(
    source: RowSource,
    unit: RowUnit,
    how: {
      readonly columns: readonly Column[];
      readonly hasRoom: (sizeBytes: number) => boolean;
      readonly rowCount?: number;
      readonly load?: (readable: LoadSource, loads: readonly LoadColumn[]) => Promise<boolean>;
    },
  ): Promise<boolean> {
    const { columns, hasRoom, rowCount = unit.to - unit.from, load } = how;
    // The engine is not asked for the form of what has no room in any.
    if (!this.fits(source, columns)) return false;
    const { from, rowNumber } = source;
    const giveWay = (): Promise<void> => this.#cache.loads.giveWay();
    const readable = { host: this.#host, index: this.#index, from, rowNumber, giveWay };
    const letGo = await source.hold();
    try {
      const loads = await this.#formsOf(source, unit, columns, readable);
      if (!this.fits(source, columns)) return false;
      if (!hasRoom(rowCount * this.#rowSizeBytes(source, columns))) return false;
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
      forms = { to: source.engineRows, loads: [] };
      this.#forms.set(source.key, forms);
    }
    const { to, loads } = forms;
    const unknown = columns.filter(({ id }) => !loads.some(({ column }) => column.id === id));
    loads.push(...(await loadColumns(readable, unknown, { from: 0, to })));
    const ids = new Set(columns.map(({ id }) => id));
    return loads.filter(({ column }) => ids.has(column.id));
  }

  /** Gives up what is known of other sources than these. */
  retain(keys: ReadonlySet<object>): void {
    for (const key of this.#forms.keys()) if (!keys.has(key)) this.#forms.delete(key);
  }
}

function blocksSizeBytes(rowCount: number, columns: readonly Column[]): number {
  return rowCount * (INDEX_BYTES + columns.length * VALUE_BYTES);
}

/** Loads are not given up half-way: others may wait for them. */
const { signal: NEVER } = new AbortController();

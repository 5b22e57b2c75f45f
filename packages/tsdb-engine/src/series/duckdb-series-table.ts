import type { DuckDBConnection } from '@duckdb/node-api';
import { storedTagNameOf } from '@plinth/tsdb-model/columns/column.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { quoteName } from '@plinth/tsdb-model/text/quote.js';
import type { CellColumn } from '@plinth/tsdb-storage/buffer/append-cells.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import { RebuildableTable } from '@plinth/tsdb-storage/duckdb/rebuildable-table.js';
import {
  type EvictableTable,
  FIRST_ROWS,
  firstRowsBytes,
} from '@plinth/tsdb-storage/duckdb/table-memory.js';
import type { SeriesIndex } from './series-index.js';

/**
 * Series sent to DuckDB in one step, with one call per tag; the event loop runs between two steps.
 */
const BATCH_SERIES = 4096;

/**
 * DuckDB's copy of a table's series: one row per series, with `_series` and the tag columns.
 * Queries join rows to it. A small table may be dropped while it is not in use.
 */
export class DuckDbSeriesTable implements EvictableTable {
  readonly #table: RebuildableTable;
  readonly #duckDb: DuckDbHost;
  readonly #index: SeriesIndex;
  /** Number of series stored in DuckDB. */
  #copiedCount = 0;
  /** DuckDB column name of each tag that has a column, by the tag's key. */
  readonly #columns = new Map<string, string>();
  readonly #isInUse: () => boolean;
  #exists = false;

  constructor(options: {
    readonly tableId: number;
    readonly duckDb: DuckDbHost;
    readonly index: SeriesIndex;
    readonly isInUse: () => boolean;
  }) {
    this.#table = new RebuildableTable(`series_${options.tableId}`);
    this.#duckDb = options.duckDb;
    this.#index = options.index;
    this.#isInUse = options.isInUse;
  }

  get name(): string {
    return this.#table.name;
  }

  /** DuckDB name of a tag's column; `undefined` if no series has the tag. */
  columnOf(tag: string): string | undefined {
    return this.#columns.get(this.#index.storedNameOf(tag));
  }

  get isInUse(): boolean {
    return this.#isInUse();
  }

  /**
   * Resolves when DuckDB has all series known at the call. The series stay there while the table is
   * in use.
   */
  async copyToDuckDb(schema: TableSchema): Promise<void> {
    if (this.#exists && this.#copiedCount === this.#index.count) {
      this.#noteUse();
      return;
    }
    await this.#duckDb.withWriter(async (connection) => {
      const { appendRows } = await import('@plinth/tsdb-storage/buffer/append-cells.js');
      await this.#ensureColumns(connection, schema);
      while (this.#copiedCount < this.#index.count) {
        await this.#duckDb.yielder.next();
        const to = Math.min(this.#index.count, this.#copiedCount + BATCH_SERIES);
        const columns = this.#cells(this.#copiedCount, to);
        const rowCount = to - this.#copiedCount;
        await this.#table.change(connection, this.#copiedCount, () =>
          appendRows({ connection, table: this.name, rowCount, columns }),
        );
        this.#copiedCount = to;
      }
      this.#noteUse();
    });
  }

  /** Returns the series numbered `[from, to)`, as a query over DuckDB's table. */
  rangeText(from: number, to: number): string {
    return `(SELECT * FROM ${quoteName(this.name)} WHERE rowid >= ${from} AND rowid < ${to})`;
  }

  async drop(): Promise<void> {
    this.#duckDb.tableMemory.forget(this);
    await this.#duckDb.withWriter((connection) => this.evict(connection));
  }

  async evict(connection: DuckDBConnection): Promise<void> {
    this.#exists = false;
    this.#copiedCount = 0;
    this.#columns.clear();
    await connection.run(`DROP TABLE IF EXISTS ${quoteName(this.name)}`);
  }

  #noteUse(): void {
    const { tableMemory } = this.#duckDb;
    if (this.#copiedCount > FIRST_ROWS) tableMemory.forget(this);
    else tableMemory.use(this, firstRowsBytes(1, this.#columns.size));
  }

  async #ensureColumns(connection: DuckDBConnection, schema: TableSchema): Promise<void> {
    if (!this.#exists) {
      await this.#duckDb.tableMemory.makeRoom(connection);
      // A table that could not be dropped may still exist.
      await connection.run(`CREATE OR REPLACE TABLE ${quoteName(this.name)} (_series BIGINT)`);
      this.#exists = true;
      this.#table.reset();
    }
    for (const column of schema.columns.values()) {
      const { kind, physicalName } = column;
      const key = storedTagNameOf(column);
      const isUsed = kind === 'tag' && this.#index.tagColumn(key) !== undefined;
      if (!isUsed || this.#columns.has(key)) continue;
      const add = `ALTER TABLE ${quoteName(this.name)} ADD COLUMN IF NOT EXISTS ${quoteName(physicalName)} VARCHAR`;
      await this.#table.change(connection, this.#copiedCount, async () => {
        await connection.run(add);
      });
      this.#columns.set(key, physicalName);
    }
  }

  #cells(from: number, to: number): CellColumn[] {
    const ids: CellColumn = {
      kind: 'int64',
      values: BigInt64Array.from({ length: to - from }, (_, i) => this.#index.idOf(from + i)),
    };
    const tags = [...this.#columns.keys()].map((tag): CellColumn => {
      const cells = new Array<string | undefined>(to - from);
      for (let ordinal = from; ordinal < to; ordinal++)
        cells[ordinal - from] = this.#index.tagValue(ordinal, tag);
      return { kind: 'text', cells };
    });
    return [ids, ...tags];
  }
}

import { setImmediate } from 'node:timers/promises';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { quoteName } from '@plinth/tsdb-model/text/quote.js';
import { rowsText } from '@plinth/tsdb-sql/plan/from/virtual-tables.js';
import { columnType } from '@plinth/tsdb-sql/plan/select/column-type.js';
import type { CellColumn } from '@plinth/tsdb-storage/buffer/append-cells.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import { DUCKDB_TYPE } from '@plinth/tsdb-storage/duckdb/duckdb-type.js';
import { newValues } from './value-column.js';

/** Maximum number of rows that are written into the query text. More rows go into a temporary table. */
const MAX_ROWS_IN_TEXT = 256;
/** Rows appended to DuckDB at a time. The event loop runs between two batches. */
const BATCH_ROWS = 8192;

export type Cell = string | number | bigint | boolean | undefined;

/** Rows as an expression for FROM. Call `release` exactly once, when the query has ended. */
export interface RowsText {
  readonly text: string;
  release(): void;
}

/** Makes rows in memory readable by DuckDB. */
export class CacheRows {
  readonly #duckDb: DuckDbHost;
  readonly #onFailed: (error: unknown) => void;
  readonly #prefix: string;
  #tableCount = 0;

  /** @param prefix of the names of temporary tables. */
  constructor(duckDb: DuckDbHost, onFailed: (error: unknown) => void, prefix = 'cache_rows') {
    this.#prefix = prefix;
    this.#duckDb = duckDb;
    this.#onFailed = onFailed;
  }

  /**
   * @param orderBy columns by which DuckDB sorts the rows of a temporary table; rows in the query text must already be
   * sorted.
   */
  async toText(options: {
    readonly columns: readonly Column[];
    readonly rowCount: number;
    readonly rowAt: (row: number) => readonly Cell[];
    readonly orderBy: readonly Column[];
  }): Promise<RowsText> {
    const { columns, rowCount, rowAt } = options;
    if (columns.length === 0) {
      return { text: `(SELECT 1 AS _series_row FROM range(${rowCount}))`, release() {} };
    }
    if (rowCount > MAX_ROWS_IN_TEXT) return await this.#toTable(options);
    const types = columns.map((column) => ({ type: typeOf(column) }));
    const rows = Array.from({ length: rowCount }, (_, row) => rowAt(row));
    const names = columns.map(({ physicalName }, i) => `c${i} AS ${quoteName(physicalName)}`);
    return { text: `(SELECT ${names.join(', ')} FROM (${rowsText(types, rows)}))`, release() {} };
  }

  async #toTable(options: Parameters<CacheRows['toText']>[0]): Promise<RowsText> {
    const { columns, rowCount, rowAt, orderBy } = options;
    const table = `${this.#prefix}_${this.#tableCount++}`;
    const name = quoteName(table);
    const drop = (): void => {
      this.#duckDb
        .withWriter(async (connection) => {
          await connection.run(`DROP TABLE IF EXISTS ${name}`);
        })
        .catch(this.#onFailed);
    };
    const definitions = columns.map(
      ({ physicalName, kind }) => `${quoteName(physicalName)} ${DUCKDB_TYPE[kind]}`,
    );
    try {
      await this.#duckDb.withWriter(async (connection) => {
        const { appendRows } = await import('@plinth/tsdb-storage/buffer/append-cells.js');
        await connection.run(`CREATE TABLE ${name} (${definitions.join(', ')})`);
        for (let from = 0; from < rowCount; from += BATCH_ROWS) {
          const to = Math.min(rowCount, from + BATCH_ROWS);
          const cells = cellColumns(columns, to - from, (row) => rowAt(from + row));
          appendRows({ connection, table, rowCount: to - from, columns: cells });
          await setImmediate();
        }
      });
    } catch (error) {
      drop();
      throw error;
    }
    const order = orderBy.map(({ physicalName }) => `${quoteName(physicalName)} NULLS FIRST`);
    const sorted = order.length === 0 ? '' : ` ORDER BY ${order.join(', ')}`;
    return { text: `(SELECT * FROM ${name}${sorted})`, release: drop };
  }
}

/** Caches store tags as plain strings. */
function typeOf({ kind }: Column): SqlType {
  return columnType(kind === 'tag' ? 'utf8' : kind);
}

function cellColumns(
  columns: readonly Column[],
  rowCount: number,
  rowAt: (row: number) => readonly Cell[],
): readonly CellColumn[] {
  const rows = Array.from({ length: rowCount }, (_, row) => rowAt(row));
  return columns.map((column, position): CellColumn => {
    const cells = rows.map((row) => row[position]);
    if (column.kind === 'tag' || column.kind === 'utf8') {
      return { kind: 'text', cells: cells as (string | undefined)[] }; // by the column's kind
    }
    const values = newValues(column.kind, rowCount);
    const validity = new Uint8Array((rowCount + 7) >> 3);
    cells.forEach((cell, row) => {
      if (cell === undefined) return;
      values[row] = (typeof cell === 'boolean' ? Number(cell) : cell) as never; // by the column's kind
      validity[row >> 3] = (validity[row >> 3] as number) | (1 << (row & 7));
    });
    return { kind: 'fixed', values, validity };
  });
}

import type { DuckDBConnection } from '@duckdb/node-api';

/**
 * DuckDB allocates memory for the first 2,048 values of a column even for a single value, and never spills it.
 */
export const FIRST_ROWS = 2048;
const NUMBERS_BYTES = 18 * 1024;
const TEXTS_BYTES = 34 * 1024;

export const firstRowsBytes = (numberColumns: number, textColumns: number): number =>
  numberColumns * NUMBERS_BYTES + textColumns * TEXTS_BYTES;

/** A DuckDB table that can be created again on demand. */
export interface EvictableTable {
  /** True while it is read or about to be read. */
  readonly isInUse: boolean;
  /** Drops the table on the writer connection. Later users create it again. */
  evict(connection: DuckDBConnection): Promise<void>;
}

/**
 * Accounts the memory that DuckDB reserves per table, regardless of rows, and cannot spill.
 * Thousands of tables with one row would leave no memory for anything else. Tables that can be
 * created again are dropped, least recently used first.
 */
export class TableMemory {
  readonly #limitBytes: number;
  readonly #remakeable = new Map<EvictableTable, number>();
  #remakeableBytes = 0;
  /** Memory of tables with rows that are not flushed yet. */
  unflushedBytes = 0;

  constructor(duckDbBytes: number) {
    this.#limitBytes = duckDbBytes / 8;
  }

  /** Size at which a group of tables is flushed before more tables are loaded. */
  get groupBytes(): number {
    return this.#limitBytes;
  }

  /** True if rows that are not flushed yet leave little memory for queries. */
  get isCrowded(): boolean {
    return this.unflushedBytes > this.#limitBytes * 4;
  }

  /** Records that the table uses `sizeBytes` and is the most recently used. */
  use(table: EvictableTable, sizeBytes: number): void {
    this.forget(table);
    this.#remakeable.set(table, sizeBytes);
    this.#remakeableBytes += sizeBytes;
  }

  /** Call when the table was dropped, or spills like any other. */
  forget(table: EvictableTable): void {
    this.#remakeableBytes -= this.#remakeable.get(table) ?? 0;
    this.#remakeable.delete(table);
  }

  /** Call before a table is created. */
  async makeRoom(connection: DuckDBConnection): Promise<void> {
    if (this.#remakeableBytes <= this.#limitBytes) return;
    for (const table of [...this.#remakeable.keys()]) {
      if (this.#remakeableBytes <= this.#limitBytes) return;
      if (table.isInUse) continue;
      this.forget(table);
      await table.evict(connection);
    }
  }
}

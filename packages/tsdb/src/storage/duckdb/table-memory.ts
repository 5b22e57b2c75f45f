import type { DuckDBConnection } from '@duckdb/node-api';

/** The engine gives the first 2,048 values of a column their room at once, be it one value, and never spills it. */
export const FIRST_ROWS = 2048;
const NUMBERS_BYTES = 18 * 1024;
const TEXTS_BYTES = 34 * 1024;

export const firstRowsBytes = (numberColumns: number, textColumns: number): number =>
  numberColumns * NUMBERS_BYTES + textColumns * TEXTS_BYTES;

/** A table of the engine that can be made again whenever somebody needs it. */
export interface RemakeableTable {
  /** Somebody reads it, or is about to. */
  readonly isInUse: boolean;
  /** Only on the writer connection. From the call on, whoever needs the table makes it again. */
  letGo(connection: DuckDBConnection): Promise<void>;
}

/**
 * What the engine holds for tables whatever they hold, and does not spill: thousands of tables of one row would leave no
 * memory for anything else. Those that can be made again go, least recently used first.
 */
export class TableMemory {
  readonly #limitBytes: number;
  readonly #remakeable = new Map<RemakeableTable, number>();
  #remakeableBytes = 0;
  /** Of rows that wait for a flush. */
  waitingBytes = 0;

  constructor(engineBytes: number) {
    this.#limitBytes = engineBytes / 8;
  }

  /** So much is handed over to be flushed before something else is let go of. */
  get groupBytes(): number {
    return this.#limitBytes;
  }

  /** Rows that wait for a flush leave little for queries. */
  get isCrowded(): boolean {
    return this.waitingBytes > this.#limitBytes * 4;
  }

  /** The table takes `sizeBytes`, and is the most recently used. */
  use(table: RemakeableTable, sizeBytes: number): void {
    this.forget(table);
    this.#remakeable.set(table, sizeBytes);
    this.#remakeableBytes += sizeBytes;
  }

  /** The table is gone, or spills like any other. */
  forget(table: RemakeableTable): void {
    this.#remakeableBytes -= this.#remakeable.get(table) ?? 0;
    this.#remakeable.delete(table);
  }

  /** Before a table is made. */
  async makeRoom(connection: DuckDBConnection): Promise<void> {
    if (this.#remakeableBytes <= this.#limitBytes) return;
    for (const table of [...this.#remakeable.keys()]) {
      if (this.#remakeableBytes <= this.#limitBytes) return;
      if (table.isInUse) continue;
      this.forget(table);
      await table.letGo(connection);
    }
  }
}

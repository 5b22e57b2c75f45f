import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName } from '@plinth/tsdb-model/text/quote.js';

/** Minimum time between two rebuilds of a large table, because a rebuild is a long copy. */
const RETRY_MS = 1000;
const MANY_ROWS = 65_536;

/**
 * A DuckDB table that receives rows repeatedly. If a commit fails for lack of memory, some columns
 * keep the new rows and others do not. Existing rows are correct, but later rows would contain values of other rows
 * (seen in version 1.5.6). Therefore, after a failure the table is rebuilt from its committed rows before it receives
 * more.
 */
export class RebuildableTable {
  readonly name: string;
  #isUnverified = false;
  #retryAtMs = 0;

  constructor(name: string) {
    this.name = name;
  }

  /**
   * Adds rows or columns on the writer connection. `rowCount` is the number of committed rows, also
   * after `add` has thrown. Running queries continue with the table as it was.
   */
  async change(
    connection: DuckDBConnection,
    rowCount: number,
    add: () => void | Promise<void>,
  ): Promise<void> {
    if (this.#isUnverified) {
      if (rowCount >= MANY_ROWS && performance.now() < this.#retryAtMs)
        throw new Error('Out of Memory Error: DuckDB does not have enough memory for the rows yet');
      this.#retryAtMs = performance.now() + RETRY_MS;
      await this.#makeAnew(connection, rowCount);
    }
    this.#isUnverified = true;
    await add();
    this.#isUnverified = false;
  }

  /** Call when the table was dropped or created. */
  reset(): void {
    this.#isUnverified = false;
  }

  /** Uses one statement, because a transaction of several would stay open if its commit failed. */
  async #makeAnew(connection: DuckDBConnection, rowCount: number): Promise<void> {
    const name = quoteName(this.name);
    await connection.run(
      `CREATE OR REPLACE TABLE ${name} AS SELECT * FROM ${name} WHERE rowid < ${rowCount}`,
    );
  }
}

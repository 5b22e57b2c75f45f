import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName } from './quote.js';

/** Making a table of many rows anew is a long copy: so often at most, however many ask. */
const RETRY_MS = 1000;
const MANY_ROWS = 65_536;

/**
 * A table of the engine that gets rows again and again. When the engine cannot commit rows for lack of memory, some columns keep
 * them and others do not: the rows that were there are right, but those that come next stand beside others' values (seen in
 * version 1.5.6). So after a failure the table is made anew of the rows that it had, before it gets more.
 */
export class GrowingTable {
  readonly name: string;
  #isUnverified = false;
  #retryAtMs = 0;

  constructor(name: string) {
    this.name = name;
  }

  /**
   * Adds rows or columns, on the writer connection. `rowCount` rows are there, and after `add` has thrown no others.
   * Queries that are under way go on with the table as it was.
   */
  async change(
    connection: DuckDBConnection,
    rowCount: number,
    add: () => void | Promise<void>,
  ): Promise<void> {
    if (this.#isUnverified) {
      if (rowCount >= MANY_ROWS && performance.now() < this.#retryAtMs)
        throw new Error('Out of Memory Error: rows wait for memory of the engine');
      this.#retryAtMs = performance.now() + RETRY_MS;
      await this.#makeAnew(connection, rowCount);
    }
    this.#isUnverified = true;
    await add();
    this.#isUnverified = false;
  }

  /** It is gone, or made of nothing. */
  reset(): void {
    this.#isUnverified = false;
  }

  /** One statement: a transaction of several would stay open where its end fails. */
  async #makeAnew(connection: DuckDBConnection, rowCount: number): Promise<void> {
    const name = quoteName(this.name);
    await connection.run(
      `CREATE OR REPLACE TABLE ${name} AS SELECT * FROM ${name} WHERE rowid < ${rowCount}`,
    );
  }
}

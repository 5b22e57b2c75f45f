import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName } from './quote.js';

/**
 * A table of the engine that gets rows again and again. When the engine cannot commit rows for lack of memory, some columns keep
 * them and others do not: the rows that were there are right, but those that come next stand beside others' values (seen in
 * version 1.5.6). So after a failure the table is made anew of the rows that it had, before it gets more.
 */
export class GrowingTable {
  readonly name: string;
  #isDoubtful = false;

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
    if (this.#isDoubtful) await this.#makeAnew(connection, rowCount);
    this.#isDoubtful = true;
    await add();
    this.#isDoubtful = false;
  }

  /** It is gone, or made of nothing. */
  reset(): void {
    this.#isDoubtful = false;
  }

  /** One statement: a transaction of several would stay open where its end fails. */
  async #makeAnew(connection: DuckDBConnection, rowCount: number): Promise<void> {
    const name = quoteName(this.name);
    await connection.run(
      `CREATE OR REPLACE TABLE ${name} AS SELECT * FROM ${name} WHERE rowid < ${rowCount}`,
    );
  }
}

import Database from 'libsql';
import { Memo } from '../../memo/memo.js';
import { findFaults } from './database-check.js';
import { readOnlyUri } from './read-only-uri.js';
import type { QueryResponse, SqlValue, WorkerSettings } from './worker-protocol.js';

type Statement = Database.Statement;

const CHANGES_SCHEMA = /^\s*(create|alter|drop)\b/i;

interface Prepared {
  readonly statement: Statement;
  readonly returnsRows: boolean;
  /** Set after the first run, because a connection only detects schema changes of another connection when it runs a statement. */
  columns: readonly string[] | undefined;
}

/** One connection with its prepared statements. Runs in the worker thread. */
export class SqliteConnection {
  readonly #database: Database.Database;
  readonly #prepared: Memo<string, Prepared>;
  readonly #settings: WorkerSettings;

  constructor(settings: WorkerSettings) {
    this.#settings = settings;
    this.#prepared = new Memo({ maxCount: settings.maxStatementCount });
    const { path, isReadOnly } = settings;
    this.#database = new Database(isReadOnly ? readOnlyUri(path) : path);
  }

  get isInTransaction(): boolean {
    return this.#database.inTransaction;
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  pragma(setting: string): void {
    this.#database.pragma(setting);
  }

  /** Returns the faults that a check of all pages finds. */
  async findFaults(): Promise<readonly string[]> {
    return await findFaults(this.#database, false);
  }

  query(sql: string, parameters: readonly SqlValue[]): QueryResponse {
    const prepared = this.#prepare(sql);
    const bound = parameters.map(toBound);
    if (prepared.returnsRows) {
      const rows = this.#rows(prepared.statement, bound);
      prepared.columns ??= prepared.statement.columns().map(({ name }) => name);
      return {
        columns: prepared.columns,
        rows,
        changedRowCount: undefined,
        insertId: undefined,
        changedSchema: false,
      };
    }
    const done = prepared.statement.run(bound);
    const changedSchema = CHANGES_SCHEMA.test(sql);
    if (changedSchema) this.forgetStatements();
    return {
      columns: [],
      rows: [],
      changedRowCount: done.changes,
      insertId: done.lastInsertRowid,
      changedSchema,
    };
  }

  /** Must be called after a schema change, because prepared statements keep the old column lists. */
  forgetStatements(): void {
    this.#prepared.clear();
  }

  close(): void {
    this.forgetStatements();
    this.#database.close();
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    const returnsRows = statement.reader;
    if (returnsRows) statement.raw(true);
    statement.safeIntegers(true);
    const prepared: Prepared = { statement, returnsRows, columns: undefined };
    this.#prepared.set(sql, prepared);
    return prepared;
  }

  #rows(statement: Statement, bound: readonly unknown[]): SqlValue[][] {
    const rows: SqlValue[][] = [];
    let rowCount = 0;
    // All rows are read even beyond the limit, because an unfinished statement would keep its snapshot open.
    for (const row of statement.iterate(bound) as Iterable<unknown[]>) {
      rowCount += 1;
      if (rowCount <= this.#settings.maxRowCount) rows.push(row.map(fromColumn));
    }
    if (rowCount > this.#settings.maxRowCount) throw new TooManyRows(rowCount);
    return rows;
  }
}

class TooManyRows extends Error {
  readonly code = 'PLINTH_TOO_MANY_ROWS';
  constructor(rowCount: number) {
    super(`the result has ${rowCount} rows, which exceeds the limit of one statement`);
  }
}

/** The driver binds every `number` as REAL, so integers are bound as `bigint`. */
function toBound(value: SqlValue): SqlValue {
  return Number.isSafeInteger(value) && !Object.is(value, -0) ? BigInt(value as number) : value;
}

function fromColumn(value: unknown): SqlValue {
  if (typeof value === 'bigint') {
    const short = Number(value);
    return Number.isSafeInteger(short) ? short : value;
  }
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return value as SqlValue; // the driver has no other types
}

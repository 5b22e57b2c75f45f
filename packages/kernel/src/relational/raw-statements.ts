import { CompiledQuery, type QueryExecutorProvider, type QueryResult } from 'kysely';
import { Memo } from '../memo/memo.js';
import type { DatabaseSystem } from './relational-store.js';

/** A statement parameter. */
export type StatementValue = string | number | bigint | boolean | null | Uint8Array;

export interface Statement {
  readonly text: string;
  readonly parameters: readonly StatementValue[];
}

interface StatementResult<R> {
  readonly rows: readonly R[];
  readonly changedRowCount: number;
}

/** The reader of a store, or a transaction. */
export type SqlConnection = QueryExecutorProvider;

/**
 * Hand-written statements, for paths where building a query costs more than running it. Placeholders are `?` for both
 * databases. String literals in these statements must not contain `?`.
 */
export class RawStatements {
  readonly #system: DatabaseSystem;
  readonly #texts = new Memo<string, string>({ maxCount: MAX_TEXT_COUNT });
  readonly #inserts = new Memo<string, string>({ maxCount: MAX_TEXT_COUNT });

  constructor(system: DatabaseSystem) {
    this.#system = system;
  }

  async all<R>(
    on: SqlConnection,
    text: string,
    parameters: readonly StatementValue[] = [],
  ): Promise<readonly R[]> {
    const [result] = await this.runAll<R>(on, [{ text, parameters }]);
    return result?.rows ?? [];
  }

  /** @returns the number of changed rows. */
  async run(
    on: SqlConnection,
    text: string,
    parameters: readonly StatementValue[] = [],
  ): Promise<number> {
    const [result] = await this.runAll(on, [{ text, parameters }]);
    return result?.changedRowCount ?? 0;
  }

  /**
   * Runs independent statements in order; the embedded store receives them as one message. Resolves when all of them
   * have ended, because a statement that outlives its transaction would change other data. Statements of one
   * transaction must not run concurrently in any other way.
   */
  async runAll<R>(
    on: SqlConnection,
    statements: readonly Statement[],
  ): Promise<readonly StatementResult<R>[]> {
    if (statements.length === 0) return [];
    const queries = statements.map(({ text, parameters }) =>
      CompiledQuery.raw(this.#translate(text), [...parameters]),
    );
    const executor = on.getExecutor();
    return await executor.provideConnection(async (connection) => {
      const results: StatementResult<R>[] = [];
      const take = ({ rows, numAffectedRows }: QueryResult<R>): void => {
        results.push({ rows, changedRowCount: Number(numAffectedRows ?? 0n) });
      };
      if (this.#system === 'postgresql') {
        for (const query of queries) take(await connection.executeQuery<R>(query));
        return results;
      }
      const settled = await Promise.allSettled(
        queries.map((query) => connection.executeQuery<R>(query)),
      );
      for (const each of settled) {
        if (each.status === 'rejected') throw each.reason;
        take(each.value);
      }
      return results;
    });
  }

  async insert(
    on: SqlConnection,
    table: string,
    columns: readonly string[],
    rows: readonly (readonly StatementValue[])[],
  ): Promise<void> {
    await this.runAll(on, this.insertion(table, columns, rows));
  }

  /** Like `insert`, with a clause after the values: `on conflict ... returning ...`. */
  async insertReturning<R>(
    on: SqlConnection,
    table: string,
    columns: readonly string[],
    rows: readonly (readonly StatementValue[])[],
    suffix: string,
  ): Promise<readonly R[]> {
    const results = await this.runAll<R>(on, this.insertion(table, columns, rows, suffix));
    return results.flatMap((result) => result.rows);
  }

  /**
   * Returns statements that insert any number of rows. The embedded store caches prepared statements, so only few
   * variants are used, whose row counts are powers of two. For PostgreSQL, each statement is a round trip, and
   * none is prepared.
   */
  insertion(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly StatementValue[])[],
    suffix = '',
  ): Statement[] {
    const statements: Statement[] = [];
    for (let start = 0; start < rows.length; ) {
      const left = Math.min(MAX_ROWS_PER_INSERT, rows.length - start);
      const count = this.#system === 'sqlite' ? 2 ** Math.floor(Math.log2(left)) : left;
      const text = this.#insertText({ table, columns, count, suffix });
      statements.push({ text, parameters: rows.slice(start, start + count).flat() });
      start += count;
    }
    return statements;
  }

  /**
   * Like `insertion`, for hundreds of rows with short values and at most one byte column without nulls. The embedded
   * store receives shared values once, other values as one JSON text, and all bytes as one value, because binding a
   * single value costs more than storing it.
   */
  bulkInsertion(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly StatementValue[])[],
  ): Statement[] {
    if (this.#system === 'postgresql' || rows.length < MIN_BULK_ROW_COUNT) {
      return this.insertion(table, columns, rows);
    }
    const statements: Statement[] = [];
    for (let start = 0; start < rows.length; start += MAX_ROWS_PER_BULK) {
      const part = rows.slice(start, start + MAX_ROWS_PER_BULK);
      const packed = packedInsertion(table, columns, part);
      statements.push(...(packed === undefined ? this.insertion(table, columns, part) : [packed]));
    }
    return statements;
  }

  /** Returns a condition that `column` is in a list of strings. Its parameter is the list as JSON. */
  isOneOf(column: string): string {
    return this.#system === 'sqlite'
      ? `${column} in (select value from json_each(?))`
      : `${column} in (select value from json_array_elements_text(?::json) as list (value))`;
  }

  /** Like `isOneOf`, for integer columns. */
  isOneOfNumbers(column: string): string {
    return this.#system === 'sqlite'
      ? `${column} in (select value from json_each(?))`
      : `${column} in (select value::bigint from json_array_elements_text(?::json) as list (value))`;
  }

  #insertText(options: {
    readonly table: string;
    readonly columns: readonly string[];
    readonly count: number;
    readonly suffix: string;
  }): string {
    const { table, columns, count, suffix } = options;
    const names = columns.join(', ');
    const key = `${count} ${table} ${names} ${suffix}`;
    return this.#inserts.of(key, () => {
      const row = `(${columns.map(() => '?').join(', ')})`;
      const rows = Array.from({ length: count }, () => row).join(', ');
      return `insert into ${table} (${names}) values ${rows} ${suffix}`;
    });
  }

  #translate(text: string): string {
    if (this.#system === 'sqlite') return text;
    return this.#texts.of(text, () => {
      let number = 0;
      return text.replace(/\?/g, () => `$${++number}`);
    });
  }
}

const MAX_ROWS_PER_INSERT = 64;
const MAX_TEXT_COUNT = 1000;
const MIN_BULK_ROW_COUNT = 8;
const MAX_ROWS_PER_BULK = 1000;
/** The JSON escapes of half a surrogate pair, which SQLite converts to invalid UTF-8, and of NUL, which ends SQLite strings. */
const HALF_SURROGATE = '\\ud';
const NUL = '\\u0000';

/** Returns the statement; `undefined` when JSON cannot represent these rows exactly. */
function packedInsertion(
  table: string,
  columns: readonly string[],
  rows: readonly (readonly StatementValue[])[],
): Statement | undefined {
  const values: string[] = [];
  const shared: StatementValue[] = [];
  const varying: number[] = [];
  let bytesIndex = -1;
  for (const index of columns.keys()) {
    const first = rows[0]?.[index] ?? null;
    if (first instanceof Uint8Array) {
      bytesIndex = index;
      values.push(`substr(?2, value ->> '$[#-2]', value ->> '$[#-1]')`);
    } else if (rows.every((row) => row[index] === first)) {
      shared.push(first);
      values.push(`?${shared.length + 2}`);
    } else {
      values.push(`value ->> ${varying.length}`);
      varying.push(index);
    }
  }
  if (!rows.every((row) => varying.every((index) => isExactInJson(row[index])))) return undefined;
  const bytes = bytesIndex < 0 ? [] : rows.map((row) => row[bytesIndex] as Uint8Array); // never null
  if (bytes.some(({ length }) => length === 0)) return undefined;
  let start = 1;
  const json = JSON.stringify(
    rows.map((row, rowIndex) => {
      const items = varying.map((index) => row[index]);
      const length = bytes[rowIndex]?.length;
      if (length === undefined) return items;
      items.push(start, length);
      start += length;
      return items;
    }),
  );
  if (json.includes(HALF_SURROGATE) || json.includes(NUL)) return undefined;
  const text = `insert into ${table} (${columns.join(', ')}) select ${values.join(', ')} from json_each(?1)`;
  return { text, parameters: [json, bytesIndex < 0 ? null : joined(bytes), ...shared] };
}

/** Non-integer numbers and safe integers are exact; others change their type in JSON. */
function isExactInJson(value: StatementValue | undefined): boolean {
  if (typeof value !== 'number') return typeof value !== 'bigint';
  if (Number.isInteger(value)) return Number.isSafeInteger(value) && !Object.is(value, -0);
  return Number.isFinite(value);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let start = 0;
  for (const part of parts) {
    all.set(part, start);
    start += part.length;
  }
  return all;
}

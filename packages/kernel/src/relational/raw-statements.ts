import { CompiledQuery, type Kysely, type Transaction } from 'kysely';
import type { SqlEngine } from './relational-store.js';

/** A value that a statement may be given. */
export type StatementValue = string | number | bigint | boolean | null | Uint8Array;

type Connection = Kysely<never> | Transaction<never>;

/**
 * Statements written by hand, for paths where building a query costs more than running it. Placeholders are `?` in
 * either engine; no literal of such a statement may hold a question mark.
 */
export class RawStatements {
  readonly #engine: SqlEngine;
  readonly #texts = new Map<string, string>();
  readonly #inserts = new Map<string, string>();

  constructor(engine: SqlEngine) {
    this.#engine = engine;
  }

  async all<R>(
    on: unknown,
    text: string,
    parameters: readonly StatementValue[] = [],
  ): Promise<readonly R[]> {
    const { rows } = await (on as Connection).executeQuery<R>(
      CompiledQuery.raw(this.#translate(text), [...parameters]),
    );
    return rows;
  }

  /** @returns how many rows changed. */
  async run(
    on: unknown,
    text: string,
    parameters: readonly StatementValue[] = [],
  ): Promise<number> {
    const result = await (on as Connection).executeQuery(
      CompiledQuery.raw(this.#translate(text), [...parameters]),
    );
    return Number(result.numAffectedRows ?? 0n);
  }

  /**
   * Inserts any number of rows with few different statements (their number of rows is a power of two), so that both
   * engines find them prepared.
   */
  async insert(
    on: unknown,
    table: string,
    columns: readonly string[],
    rows: readonly (readonly StatementValue[])[],
  ): Promise<void> {
    await this.insertReturning(on, table, columns, rows, '');
  }

  /** As `insert`, with what follows the values: `on conflict ... returning ...`. */
  async insertReturning<R>(
    on: unknown,
    table: string,
    columns: readonly string[],
    rows: readonly (readonly StatementValue[])[],
    suffix: string,
  ): Promise<readonly R[]> {
    const pending: Promise<readonly R[]>[] = [];
    for (let start = 0; start < rows.length; ) {
      const count = Math.min(MAX_ROWS_PER_INSERT, 2 ** Math.floor(Math.log2(rows.length - start)));
      const text = this.#insertText({ table, columns, count, suffix });
      pending.push(this.all<R>(on, text, rows.slice(start, start + count).flat()));
      start += count;
    }
    return (await Promise.all(pending)).flat();
  }

  /** A condition that `column` is one of a list of texts, whose parameter is the list as JSON. */
  isOneOf(column: string): string {
    return this.#engine === 'sqlite'
      ? `${column} in (select value from json_each(?))`
      : `${column} in (select value from json_array_elements_text(?::json) as list (value))`;
  }

  /** As `isOneOf`, for columns of whole numbers. */
  isOneOfNumbers(column: string): string {
    return this.#engine === 'sqlite'
      ? `${column} in (select value from json_each(?))`
      : `${column} in (select value::bigint from json_array_elements_text(?::json) as list (value))`;
  }

  #insertText(of: {
    readonly table: string;
    readonly columns: readonly string[];
    readonly count: number;
    readonly suffix: string;
  }): string {
    const { table, columns, count, suffix } = of;
    const names = columns.join(', ');
    const key = `${count} ${table} ${names} ${suffix}`;
    let text = this.#inserts.get(key);
    if (text === undefined) {
      const row = `(${columns.map(() => '?').join(', ')})`;
      const rows = Array.from({ length: count }, () => row).join(', ');
      text = `insert into ${table} (${names}) values ${rows} ${suffix}`;
      if (this.#inserts.size < MAX_TEXT_COUNT) this.#inserts.set(key, text);
    }
    return text;
  }

  #translate(text: string): string {
    if (this.#engine === 'sqlite') return text;
    let translated = this.#texts.get(text);
    if (translated === undefined) {
      let number = 0;
      translated = text.replace(/\?/g, () => `$${++number}`);
      if (this.#texts.size < MAX_TEXT_COUNT) this.#texts.set(text, translated);
    }
    return translated;
  }
}

const MAX_ROWS_PER_INSERT = 64;
const MAX_TEXT_COUNT = 1000;

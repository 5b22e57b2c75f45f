import type { TableSchema } from '@plinth/tsdb-model/schema.js';

interface RemoteTablesDeps {
  names(): readonly string[];
  table(name: string): TableSchema | undefined;
}

/** Tables of a database in another thread, each requested once. */
export class RemoteTables implements ReadonlyMap<string, TableSchema> {
  readonly #query: RemoteTablesDeps;
  readonly #known = new Map<string, TableSchema | undefined>();
  #names: readonly string[] | undefined;

  constructor(query: RemoteTablesDeps) {
    this.#query = query;
  }

  get size(): number {
    return this.#allNames().length;
  }

  get(name: string): TableSchema | undefined {
    if (!this.#known.has(name)) this.#known.set(name, this.#query.table(name));
    return this.#known.get(name);
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  keys(): MapIterator<string> {
    return this.#allNames()[Symbol.iterator]();
  }

  *values(): MapIterator<TableSchema> {
    for (const [, table] of this.entries()) yield table;
  }

  *entries(): MapIterator<[string, TableSchema]> {
    for (const name of this.#allNames()) {
      const table = this.get(name);
      if (table !== undefined) yield [name, table];
    }
  }

  [Symbol.iterator](): MapIterator<[string, TableSchema]> {
    return this.entries();
  }

  forEach(
    visit: (table: TableSchema, name: string, tables: ReadonlyMap<string, TableSchema>) => void,
  ): void {
    for (const [name, table] of this) visit(table, name, this);
  }

  #allNames(): readonly string[] {
    this.#names ??= this.#query.names();
    return this.#names;
  }
}

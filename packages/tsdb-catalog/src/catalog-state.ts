import { tableLimitMessage } from '@plinth/tsdb-model/database/limits.js';
import { databaseOfPolicy, INTERNAL_DATABASE } from '@plinth/tsdb-model/database/names.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { grouped } from '@plinth/tsdb-model/grouped.js';
import type { DatabaseSchema, IntegerFields, TableSchema } from '@plinth/tsdb-model/schema.js';
import {
  type DeletedDatabase,
  DeletedResources,
  type DeletedTable,
} from './deletion/deleted-resources.js';
import type { CatalogContent } from './records/read-catalog.js';
import type { TableEntry } from './schema/grow-table.js';

interface UncommittedGrowth {
  readonly database: string;
  readonly isNewDatabase: boolean;
  readonly newTableCount: number;
}

/**
 * The catalog's snapshots in memory. A snapshot is replaced once a change is durable, never
 * mutated.
 */
export class CatalogState {
  readonly deleted = new DeletedResources();
  readonly #databases = new Map<string, DatabaseSchema>();
  readonly #databasesById = new Map<number, DatabaseSchema>();
  readonly #tables = new Map<number, TableEntry>();
  #sorted: readonly DatabaseSchema[] | undefined;
  /**
   * Number of active databases and those being created, for the limits. `_internal` does not count.
   */
  databaseCount = 0;
  tableCount = 0;
  /** Changes that are already counted but not visible yet. */
  readonly uncommitted = new Set<UncommittedGrowth>();

  constructor(content: CatalogContent) {
    const tablesOf = grouped(content.tables, ({ schema }) => schema.databaseId);
    for (const database of content.databases) {
      const tables = tablesOf.get(database.id) ?? [];
      this.show(database, tables);
      if (database.name === INTERNAL_DATABASE) continue;
      this.tableCount += tables.length;
      this.databaseCount++;
    }
    for (const database of content.deletedDatabases) this.deleted.putDatabase(database);
    for (const table of content.deletedTables) this.deleted.putTable(table);
  }

  database(name: string): DatabaseSchema | undefined {
    return this.#databases.get(name);
  }

  databaseById(id: number): DatabaseSchema | undefined {
    return this.#databasesById.get(id);
  }

  table(id: number): TableEntry | undefined {
    return this.#tables.get(id);
  }

  keptTable(id: number): TableSchema | undefined {
    return this.#tables.get(id)?.schema ?? this.deleted.keptTable(id);
  }

  /** A retention policy uses the option of its database. */
  integerFieldsOf(name: string): IntegerFields {
    return this.database(databaseOfPolicy(name) ?? name)?.integerFields ?? 'integer';
  }

  databases(): readonly DatabaseSchema[] {
    // Names are ASCII, so UTF-16 order equals byte order.
    this.#sorted ??= [...this.#databases.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    return this.#sorted;
  }

  /** Retention policies of a database, ascending by name. */
  policiesOf(database: string): readonly DatabaseSchema[] {
    return this.databases().filter(({ name }) => databaseOfPolicy(name) === database);
  }

  /** Number of retention policies of a database, including those being created. */
  policyCountOf(database: string): number {
    const making = [...this.uncommitted].filter(
      (change) => change.isNewDatabase && databaseOfPolicy(change.database) === database,
    );
    return this.policiesOf(database).length + making.length;
  }

  /**
   * Number of active tables, and tables being created, of a database and all its policies. `name`
   * may be the database or one of its policies.
   */
  tableCountOf(name: string): number {
    const databaseName = databaseOfPolicy(name) ?? name;
    const counts = [this.database(databaseName), ...this.policiesOf(databaseName)].map(
      (each) => each?.tables.size ?? 0,
    );
    for (const { database, newTableCount } of this.uncommitted) {
      if ((databaseOfPolicy(database) ?? database) === databaseName) counts.push(newTableCount);
    }
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Throws `database_deleted` if the name belongs to a deleted database. */
  assertNotDeleted(database: string): void {
    if (this.deleted.database(database) !== undefined)
      throw tsdbError('database_deleted', { database });
  }

  /** Throws `schema_limit_reached`. */
  assertRoomForTables(count: number, limit: number): void {
    const { tableCount } = this;
    if (tableCount + count <= limit) return;
    throw tsdbError('schema_limit_reached', tableLimitMessage({ tableCount, limit }));
  }

  /** Replaces the snapshot of the database with a snapshot of these tables. */
  show(database: DatabaseSchema, entries: readonly TableEntry[]): DatabaseSchema {
    const tables = new Map(database.tables);
    for (const entry of entries) {
      tables.set(entry.schema.name, entry.schema);
      this.#tables.set(entry.schema.id, entry);
    }
    const { formerTables: _, ...others } = database;
    const formerTables = formerTablesOf(tables);
    const shown: DatabaseSchema = { ...others, tables, ...(formerTables && { formerTables }) };
    this.#databases.set(shown.name, shown);
    this.#databasesById.set(shown.id, shown);
    this.#sorted = undefined;
    return shown;
  }

  /** Replaces the snapshot of a table, which may have a new name. */
  showRenamed(database: DatabaseSchema, before: string, entry: TableEntry): void {
    const tables = new Map(database.tables);
    tables.delete(before);
    this.show({ ...database, tables }, [entry]);
  }

  /** Moves a database and its tables to the deleted databases. */
  hideDatabase(deleted: DeletedDatabase, tables: readonly DeletedTable[]): void {
    this.#databases.delete(deleted.originalName);
    this.#databasesById.delete(deleted.schema.id);
    this.#sorted = undefined;
    this.deleted.putDatabase(deleted);
    for (const table of tables) {
      this.#tables.delete(table.entry.schema.id);
      this.deleted.putTable(table);
    }
    this.databaseCount--;
    this.tableCount -= tables.length;
  }

  /** Moves a table of an active database to the deleted tables. */
  hideTable(database: DatabaseSchema, table: DeletedTable): void {
    const tables = new Map(database.tables);
    tables.delete(table.originalName);
    this.#tables.delete(table.entry.schema.id);
    this.show({ ...database, tables }, []);
    this.deleted.putTable(table);
    if (database.name !== INTERNAL_DATABASE) this.tableCount--;
  }
}

/**
 * Maps former names to the tables that had them; `undefined` if there are none. Current names have
 * precedence.
 */
function formerTablesOf(
  tables: ReadonlyMap<string, TableSchema>,
): ReadonlyMap<string, string> | undefined {
  let former: Map<string, string> | undefined;
  for (const { name, formerNames } of tables.values()) {
    for (const each of formerNames ?? []) {
      if (tables.has(each)) continue;
      former ??= new Map();
      former.set(each, name);
    }
  }
  return former;
}

import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';
import type { TableEntry } from '../schema/grow-table.js';

interface Deletion {
  readonly originalName: string;
  readonly deletedMs: number;
  /** Time at which its data will be removed; `undefined` means never. */
  readonly hardDeleteMs: number | undefined;
  /** Time at which its data was removed; `undefined` while it still exists. */
  readonly purgedMs: number | undefined;
}

/** A soft-deleted database under its new name; its tables are listed separately. */
export interface DeletedDatabase extends Deletion {
  readonly schema: DatabaseSchema;
}

/** A soft-deleted table under its new name. */
export interface DeletedTable extends Deletion {
  readonly entry: TableEntry;
  /** True if it was deleted, and will be restored, together with its database. */
  readonly withDatabase: boolean;
}

/**
 * Time at which to remove the data of a deleted resource. `absent` means that the request did not
 * specify it.
 */
export type HardDeletion =
  | { readonly kind: 'absent' | 'never' | 'default' | 'now' }
  | { readonly kind: 'at'; readonly atMs: number };

/** Deleted databases and tables that the catalog still lists. */
export class DeletedResources {
  readonly #databases = new Map<string, DeletedDatabase>();
  readonly #databasesById = new Map<number, DeletedDatabase>();
  readonly #tables = new Map<number, DeletedTable>();
  readonly #tablesOf = new Map<number, Map<string, DeletedTable>>();

  database(name: string): DeletedDatabase | undefined {
    return this.#databases.get(name);
  }

  databaseById(id: number): DeletedDatabase | undefined {
    return this.#databasesById.get(id);
  }

  databases(): readonly DeletedDatabase[] {
    return [...this.#databases.values()];
  }

  table(databaseId: number, name: string): DeletedTable | undefined {
    return this.#tablesOf.get(databaseId)?.get(name);
  }

  tableById(id: number): DeletedTable | undefined {
    return this.#tables.get(id);
  }

  tables(): readonly DeletedTable[] {
    return [...this.#tables.values()];
  }

  tablesOf(databaseId: number): readonly DeletedTable[] {
    return [...(this.#tablesOf.get(databaseId)?.values() ?? [])];
  }

  /** Schema of a deleted table whose data still exists. */
  keptTable(id: number): TableSchema | undefined {
    const table = this.#tables.get(id);
    return table?.purgedMs === undefined ? table?.entry.schema : undefined;
  }

  /**
   * Returns the time at which a table's data will be removed: no later than that of its database.
   */
  hardDeleteMsOf(table: DeletedTable): number | undefined {
    const database = this.#databasesById.get(table.entry.schema.databaseId);
    const both = [table.hardDeleteMs, database?.hardDeleteMs].filter((ms) => ms !== undefined);
    return both.length === 0 ? undefined : Math.min(...both);
  }

  putDatabase(database: DeletedDatabase): void {
    this.#databases.set(database.schema.name, database);
    this.#databasesById.set(database.schema.id, database);
  }

  putTable(table: DeletedTable): void {
    const { id, databaseId, name } = table.entry.schema;
    this.#tables.set(id, table);
    const others = this.#tablesOf.get(databaseId);
    if (others === undefined) this.#tablesOf.set(databaseId, new Map([[name, table]]));
    else others.set(name, table);
  }

  removeDatabase({ schema }: DeletedDatabase): void {
    this.#databases.delete(schema.name);
    this.#databasesById.delete(schema.id);
  }

  removeTable({ entry }: DeletedTable): void {
    const { id, databaseId, name } = entry.schema;
    this.#tables.delete(id);
    const others = this.#tablesOf.get(databaseId);
    others?.delete(name);
    if (others?.size === 0) this.#tablesOf.delete(databaseId);
  }
}

/**
 * `<name>-<UTC YYYYMMDDTHHMMSS>`, followed by the id if that is taken. Source: tsdb-http, "Deletion
 * life cycle".
 */
export function deletedName(
  name: string,
  options: {
    readonly nowMs: number;
    readonly id: number;
    readonly isTaken: (name: string) => boolean;
  },
): string {
  const stamp = new Date(options.nowMs).toISOString().slice(0, 19).replace(/[-:]/g, '');
  const renamed = `${name}-${stamp}`;
  return options.isTaken(renamed) ? `${renamed}-${options.id}` : renamed;
}

/** Returns the table under a new name that is not in use. */
export function deletedTable(
  entry: TableEntry,
  options: Pick<DeletedTable, 'deletedMs' | 'hardDeleteMs' | 'withDatabase'> & {
    readonly database: DatabaseSchema;
    readonly deleted: DeletedResources;
  },
): DeletedTable {
  const { database, deleted, ...how } = options;
  const { schema } = entry;
  const isTaken = (name: string): boolean =>
    database.tables.has(name) || deleted.table(database.id, name) !== undefined;
  const name = deletedName(schema.name, { nowMs: how.deletedMs, id: schema.id, isTaken });
  return {
    entry: { ...entry, schema: { ...schema, name } },
    originalName: schema.name,
    purgedMs: undefined,
    ...how,
  };
}

/**
 * Returns the time at which the data of a resource is removed.
 * @param before the time set by an earlier deletion of the same resource.
 */
export function hardDeleteMsOf(
  choice: HardDeletion,
  options: {
    readonly nowMs: number;
    readonly defaultMs: number;
    readonly before: number | undefined;
  },
): number | undefined {
  switch (choice.kind) {
    case 'absent':
      return options.before;
    case 'never':
      return undefined;
    case 'default':
      return options.before ?? options.nowMs + options.defaultMs;
    case 'now':
      return options.nowMs;
    case 'at':
      return Math.max(choice.atMs, options.nowMs);
  }
}

/** True if the scheduled time has passed and the data still exists. */
export function isDue(each: DeletedDatabase | DeletedTable, nowMs: number): boolean {
  const { purgedMs, hardDeleteMs } = each;
  return purgedMs === undefined && hardDeleteMs !== undefined && hardDeleteMs <= nowMs;
}

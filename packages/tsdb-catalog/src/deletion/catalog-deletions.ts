import { INTERNAL_DATABASE } from '@plinth/tsdb-model/database/names.js';
import { tableNotKnown, tsdbError } from '@plinth/tsdb-model/errors.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import type { Kysely, Transaction } from 'kysely';
import type { CatalogTables } from '../records/catalog-tables.js';
import type { TableEntry } from '../schema/grow-table.js';
import { CatalogPurge, type PurgeSteps } from './catalog-purge.js';
import { CatalogRestoration, type CatalogRestorationDeps } from './catalog-restoration.js';
import {
  type DeletedDatabase,
  type DeletedTable,
  deletedName,
  deletedTable,
  type HardDeletion,
  hardDeleteMsOf,
} from './deleted-resources.js';
import {
  isDatabaseDeletedAs,
  isTableDeletedAs,
  writeDeletedDatabase,
  writeDeletedTable,
  writeDeletedTables,
} from './deletion-records.js';

type CatalogTransaction = Transaction<CatalogTables>;

/** A table that was deleted. */
export interface RemovedTable {
  readonly id: number;
  readonly database: string;
  /** Name before the deletion. */
  readonly table: string;
}

export interface CatalogDeletionsDeps extends CatalogRestorationDeps {
  /** Delay of the hard deletion for `default`. */
  readonly defaultMs: number;
  /** Called in the same tick in which the tables become deleted. */
  readonly onRemoved: (tables: readonly RemovedTable[]) => void;
}

/**
 * Deletes and restores databases and tables. A deletion renames immediately, so the name is free
 * again. Deleted objects can be restored until their data is removed at the scheduled time. Source:
 * tsdb-http, "Deletion life cycle".
 */
export class CatalogDeletions {
  readonly #deps: CatalogDeletionsDeps;
  readonly #restoration: CatalogRestoration;
  readonly #purge: CatalogPurge;

  constructor(deps: CatalogDeletionsDeps) {
    this.#deps = deps;
    this.#restoration = new CatalogRestoration(deps);
    this.#purge = new CatalogPurge(deps);
  }

  /**
   * Deletes its retention policies first, so an interrupted call leaves a database with policies.
   */
  async deleteDatabase(name: string, choice: HardDeletion): Promise<void> {
    if (name === INTERNAL_DATABASE) throw tsdbError('internal_database', 'delete');
    const deletedMs = this.#deps.clock.nowMs();
    const policies = this.#deps.state.policiesOf(name).map((policy) => policy.name);
    for (const each of [...policies, name]) {
      await this.#deps.changes.run(each, async () => {
        const database = this.#deps.state.database(each);
        if (database !== undefined) await this.#softDeleteDatabase(database, choice, deletedMs);
        else if (each === name) await this.#rescheduleDatabase(name, choice);
      });
    }
  }

  async deleteTable(options: {
    readonly database: string;
    readonly table: string;
    readonly hardDelete: HardDeletion;
  }): Promise<void> {
    if (options.database === INTERNAL_DATABASE) throw tsdbError('internal_database', 'modify');
    await this.#deps.changes.run(options.database, async () => {
      const database = this.#deps.state.database(options.database);
      if (database === undefined)
        throw tsdbError('database_not_known', { database: options.database });
      const schema = database.tables.get(options.table);
      const entry = schema && this.#deps.state.table(schema.id);
      if (entry === undefined) await this.#rescheduleTable(database, options);
      else await this.#softDeleteTable(database, entry, options.hardDelete);
    });
  }

  /**
   * Restores the database under its earlier name. @param name its current or earlier name; the
   * latest deletion if there are several.
   */
  async undeleteDatabase(name: string): Promise<void> {
    await this.#restoration.database(name);
  }

  /** Restores the table under its earlier name; `table` as in `undeleteDatabase`. */
  async undeleteTable(target: {
    readonly database: string;
    readonly table: string;
  }): Promise<void> {
    await this.#restoration.table(target);
  }

  /** Removes the data of databases and tables whose removal is due. */
  async purgeDue(steps: PurgeSteps): Promise<void> {
    await this.#purge.due(steps);
  }

  /** Removes from the catalog the databases and tables whose data was removed at `untilMs` or before. */
  async forgetPurged(untilMs: number): Promise<void> {
    await this.#purge.forget(untilMs);
  }

  async #softDeleteDatabase(
    database: DatabaseSchema,
    choice: HardDeletion,
    deletedMs: number,
  ): Promise<void> {
    const { deleted } = this.#deps.state;
    const isTaken = (name: string): boolean =>
      deleted.database(name) !== undefined || this.#deps.state.database(name) !== undefined;
    const name = deletedName(database.name, { nowMs: deletedMs, id: database.id, isTaken });
    const tables = [...database.tables.values()].flatMap((schema): DeletedTable[] => {
      const entry = this.#deps.state.table(schema.id);
      if (entry === undefined) return [];
      const options = { database, deleted, deletedMs, hardDeleteMs: undefined };
      return [deletedTable(entry, { ...options, withDatabase: true })];
    });
    const left: DeletedDatabase = {
      schema: { ...database, name, tables: new Map() },
      originalName: database.name,
      deletedMs,
      hardDeleteMs: this.#hardDeleteMs(choice, deletedMs, undefined),
      purgedMs: undefined,
    };
    await this.#make(database.name, {
      write: async (tx) => {
        await writeDeletedDatabase(tx, left);
        await writeDeletedTables(tx, tables);
        // The event for the database covers its tables.
        await this.#deps.events.database(tx, 'deleted', database);
      },
      wasCommitted: (reader) => isDatabaseDeletedAs(reader, left),
      applyCommitted: () => {
        this.#deps.state.hideDatabase(left, tables);
        this.#deps.onRemoved(tables.map((table) => removedTable(database.name, table)));
        this.#deps.onDatabases();
      },
    });
  }

  async #softDeleteTable(
    database: DatabaseSchema,
    entry: TableEntry,
    choice: HardDeletion,
  ): Promise<void> {
    const deletedMs = this.#deps.clock.nowMs();
    const table = deletedTable(entry, {
      ...{ database, deleted: this.#deps.state.deleted, deletedMs },
      hardDeleteMs: this.#hardDeleteMs(choice, deletedMs, undefined),
      withDatabase: false,
    });
    await this.#make(database.name, {
      write: async (tx) => {
        await writeDeletedTable(tx, table);
        const tables = [entry.schema.name];
        await this.#deps.events.tables(tx, 'deleted', { database, tables });
      },
      wasCommitted: (reader) => isTableDeletedAs(reader, table),
      applyCommitted: () => {
        this.#deps.state.hideTable(database, table);
        this.#deps.onRemoved([removedTable(database.name, table)]);
      },
    });
  }

  async #rescheduleDatabase(name: string, choice: HardDeletion): Promise<void> {
    const database = this.#deps.state.deleted.database(name);
    if (database === undefined) throw tsdbError('resource_not_found', { resource: name });
    const after = { ...database, hardDeleteMs: this.#rescheduledMs(database, choice, name) };
    await this.#make(name, {
      write: (tx) => writeDeletedDatabase(tx, after),
      wasCommitted: (reader) => isDatabaseDeletedAs(reader, after),
      applyCommitted: () => this.#deps.state.deleted.putDatabase(after),
    });
  }

  async #rescheduleTable(
    database: DatabaseSchema,
    options: {
      readonly database: string;
      readonly table: string;
      readonly hardDelete: HardDeletion;
    },
  ): Promise<void> {
    const table = this.#deps.state.deleted.table(database.id, options.table);
    if (table === undefined) throw tableNotKnown(database, options.table);
    const after = {
      ...table,
      hardDeleteMs: this.#rescheduledMs(table, options.hardDelete, options.table),
    };
    await this.#make(database.name, {
      write: (tx) => writeDeletedTable(tx, after),
      wasCommitted: (reader) => isTableDeletedAs(reader, after),
      applyCommitted: () => this.#deps.state.deleted.putTable(after),
    });
  }

  /** Throws `already_deleted` if the deletion would not change the schedule. */
  #rescheduledMs(
    before: DeletedDatabase | DeletedTable,
    choice: HardDeletion,
    resource: string,
  ): number | undefined {
    const nowMs = this.#deps.clock.nowMs();
    const after = this.#hardDeleteMs(choice, nowMs, before.hardDeleteMs);
    if (before.purgedMs !== undefined || after === before.hardDeleteMs) {
      throw tsdbError('already_deleted', { resource });
    }
    return after;
  }

  #hardDeleteMs(
    choice: HardDeletion,
    nowMs: number,
    before: number | undefined,
  ): number | undefined {
    return hardDeleteMsOf(choice, { nowMs, defaultMs: this.#deps.defaultMs, before });
  }

  async #make(
    database: string,
    change: {
      readonly write: (tx: CatalogTransaction) => Promise<void>;
      readonly wasCommitted: (reader: Kysely<CatalogTables>) => Promise<boolean>;
      readonly applyCommitted: () => void;
    },
  ): Promise<void> {
    const { store, changes } = this.#deps;
    await changes.commit([database], {
      runTransaction: () => store.transaction<CatalogTables, void>(change.write),
      wasCommitted: () => change.wasCommitted(store.reader<CatalogTables>()),
      applyCommitted: change.applyCommitted,
      abandon: () => undefined,
    });
  }
}

function removedTable(database: string, table: DeletedTable): RemovedTable {
  return { id: table.entry.schema.id, database, table: table.originalName };
}

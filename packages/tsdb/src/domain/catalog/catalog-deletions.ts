import type { Clock, RelationalStore } from '@plinth/kernel';
import type { Transaction } from 'kysely';
import {
  AlreadyDeleted,
  DatabaseLimitReached,
  DatabaseNotKnown,
  InternalDatabase,
  ResourceExists,
  ResourceNotFound,
  SchemaLimitReached,
  TableNotKnown,
} from '../../errors.js';
import type { DatabaseSchema } from '../../model/schema.js';
import type { CatalogEvents } from './catalog-events.js';
import type { CatalogState } from './catalog-state.js';
import type { CatalogTables } from './catalog-tables.js';
import {
  type DeletedDatabase,
  type DeletedTable,
  deletedName,
  type HardDeletion,
  hardDeleteMsOf,
} from './deleted-resources.js';
import {
  forgetPurged,
  restoreDatabase,
  restoreTable,
  writeDeletedDatabase,
  writeDeletedTable,
  writeDeletedTables,
  writePurged,
} from './deletion-records.js';
import type { TableEntry } from './grow-table.js';
import type { KeyedQueue } from './keyed-queue.js';
import { type CatalogLimits, tableLimitMessage } from './limits.js';
import { INTERNAL_DATABASE } from './names.js';

type CatalogTransaction = Transaction<CatalogTables>;

/** A table that left the active ones. */
export interface LeftTable {
  readonly id: number;
  readonly database: string;
  /** Name it had while it was active. */
  readonly table: string;
}

/**
 * The life after deletion: renamed at once, so that the name is free again; restored while the data are there; without
 * data from the scheduled time on. Source: tsdb-http, "Deletion life cycle".
 */
export class CatalogDeletions {
  readonly #state: CatalogState;
  readonly #store: RelationalStore;
  readonly #clock: Clock;
  readonly #limits: CatalogLimits;
  readonly #changes: KeyedQueue;
  readonly #defaultMs: number;
  readonly #onLeft: (tables: readonly LeftTable[]) => void;
  readonly #events: CatalogEvents;

  constructor(options: {
    readonly events: CatalogEvents;
    readonly state: CatalogState;
    readonly store: RelationalStore;
    readonly clock: Clock;
    readonly limits: CatalogLimits;
    /** Changes of one database run one after the other. */
    readonly changes: KeyedQueue;
    /** What `default` adds to the time of the deletion. */
    readonly defaultMs: number;
    /** Called in the same step in which the tables leave. */
    readonly onLeft: (tables: readonly LeftTable[]) => void;
  }) {
    this.#state = options.state;
    this.#store = options.store;
    this.#clock = options.clock;
    this.#limits = options.limits;
    this.#changes = options.changes;
    this.#defaultMs = options.defaultMs;
    this.#onLeft = options.onLeft;
    this.#events = options.events;
  }

  async deleteDatabase(name: string, choice: HardDeletion): Promise<void> {
    if (name === INTERNAL_DATABASE) throw new InternalDatabase('delete');
    await this.#changes.run(name, async () => {
      const database = this.#state.database(name);
      if (database === undefined) await this.#rescheduleDatabase(name, choice);
      else await this.#softDeleteDatabase(database, choice);
    });
  }

  async deleteTable(at: {
    readonly database: string;
    readonly table: string;
    readonly hardDelete: HardDeletion;
  }): Promise<void> {
    if (at.database === INTERNAL_DATABASE) throw new InternalDatabase('modify');
    await this.#changes.run(at.database, async () => {
      const database = this.#state.database(at.database);
      if (database === undefined) throw new DatabaseNotKnown({ database: at.database });
      const schema = database.tables.get(at.table);
      const entry = schema && this.#state.table(schema.id);
      if (entry === undefined) await this.#rescheduleTable(database, at);
      else await this.#softDeleteTable(database, entry, at.hardDelete);
    });
  }

  /** Back under its name before the deletion. @param name the name it has now, or had (then the latest of that name). */
  async undeleteDatabase(name: string): Promise<void> {
    const found = this.#findDatabase(name);
    if (found === undefined) throw new ResourceNotFound({ resource: name });
    await this.#changes.run(found.schema.name, async () => {
      // It may have been restored, or have lost its data, while this waited.
      const deleted = this.#state.deleted.database(found.schema.name);
      if (deleted === undefined) throw new ResourceNotFound({ resource: name });
      this.#assertRestorable(deleted, name);
      // Nothing takes the two names in the other order.
      await this.#changes.run(deleted.originalName, () => this.#restoreDatabase(deleted));
    });
  }

  /** Back under its name before the deletion; `table` as for `undeleteDatabase`. */
  async undeleteTable(at: { readonly database: string; readonly table: string }): Promise<void> {
    await this.#changes.run(at.database, async () => {
      const database = this.#state.database(at.database);
      if (database === undefined) throw new DatabaseNotKnown({ database: at.database });
      const { deleted } = this.#state;
      const table =
        deleted.table(database.id, at.table) ??
        latest(deleted.tablesOf(database.id).filter((each) => each.originalName === at.table));
      if (table === undefined) throw new TableNotKnown(at);
      this.#assertRestorable(table, at.table);
      if (database.tables.has(table.originalName)) {
        throw new ResourceExists({ resource: table.originalName });
      }
      this.#assertRoomForTables(1);
      const { id } = table.entry.schema;
      this.#state.tableCount++;
      try {
        await this.#write(async (tx) => {
          await restoreTable(tx, id, table.originalName);
          await this.#events.table(tx, 'created', { database, table: table.originalName });
        });
      } catch (error) {
        this.#state.tableCount--;
        throw error;
      }
      deleted.removeTable(table);
      this.#state.show(this.#state.databaseById(database.id) ?? database, [restored(table)]);
    });
  }

  /** Databases in which something has come to its time. */
  #databasesWithDue(): readonly string[] {
    const { deleted } = this.#state;
    const nowMs = this.#clock.nowMs();
    const ids = new Set([
      ...deleted.databases().flatMap((each) => (isDue(each, nowMs) ? [each.schema.id] : [])),
      ...deleted
        .tables()
        .flatMap((each) => (isDue(each, nowMs) ? [each.entry.schema.databaseId] : [])),
    ]);
    return [...ids].flatMap((id) => {
      const database = deleted.databaseById(id)?.schema ?? this.#state.databaseById(id);
      return database === undefined ? [] : [database.name];
    });
  }

  /** What has come to its time in one database; with the database all its tables. */
  #dueIn(name: string): { readonly databaseIds: number[]; readonly tableIds: number[] } {
    const { deleted } = this.#state;
    const nowMs = this.#clock.nowMs();
    const database = deleted.database(name);
    const isWhole = database !== undefined && isDue(database, nowMs);
    const id = database?.schema.id ?? this.#state.database(name)?.id;
    const tables = id === undefined ? [] : deleted.tablesOf(id);
    return {
      databaseIds: isWhole ? [database.schema.id] : [],
      tableIds: tables
        .filter((each) => each.purgedMs === undefined && (isWhole || isDue(each, nowMs)))
        .map(({ entry }) => entry.schema.id),
    };
  }

  /**
   * Takes what has come to its time out of the data that are kept. `begin` is told of the tables before anything
   * happens; `write` becomes durable in the same step as the note that their data are gone.
   */
  async purgeDue(steps: {
    begin(tableIds: readonly number[]): void;
    write(tx: CatalogTransaction, tableIds: readonly number[]): Promise<void>;
    end(tableIds: readonly number[]): Promise<void>;
  }): Promise<void> {
    for (const name of this.#databasesWithDue()) {
      // Alone with this database: it must not be restored meanwhile.
      await this.#changes.run(name, async () => {
        const { databaseIds, tableIds } = this.#dueIn(name);
        const nowMs = this.#clock.nowMs();
        steps.begin(tableIds);
        await this.#write(async (tx) => {
          await writePurged(tx, { databaseIds, tableIds, nowMs });
          await steps.write(tx, tableIds);
        });
        this.#notePurged({ databaseIds, tableIds, nowMs });
        await steps.end(tableIds);
      });
    }
  }

  #notePurged(purged: {
    readonly databaseIds: readonly number[];
    readonly tableIds: readonly number[];
    readonly nowMs: number;
  }): void {
    const { deleted } = this.#state;
    for (const id of purged.databaseIds) {
      const database = deleted.databaseById(id);
      if (database !== undefined) deleted.putDatabase({ ...database, purgedMs: purged.nowMs });
    }
    for (const id of purged.tableIds) {
      const table = deleted.tableById(id);
      if (table !== undefined) deleted.putTable({ ...table, purgedMs: purged.nowMs });
    }
  }

  /** Forgets what lost its data at `untilMs` or before. */
  async forgetPurged(untilMs: number): Promise<void> {
    const { deleted } = this.#state;
    const isOver = (each: { readonly purgedMs: number | undefined }): boolean =>
      each.purgedMs !== undefined && each.purgedMs <= untilMs;
    const databases = deleted.databases().filter(isOver);
    const tables = deleted.tables().filter(isOver);
    if (databases.length + tables.length === 0) return;
    const databaseIds = databases.map(({ schema }) => schema.id);
    const tableIds = tables.map(({ entry }) => entry.schema.id);
    await this.#write((tx) => forgetPurged(tx, { databaseIds, tableIds }));
    for (const database of databases) deleted.removeDatabase(database);
    for (const table of tables) deleted.removeTable(table);
  }

  async #softDeleteDatabase(database: DatabaseSchema, choice: HardDeletion): Promise<void> {
    const { deleted } = this.#state;
    const deletedMs = this.#clock.nowMs();
    const isTaken = (name: string): boolean =>
      deleted.database(name) !== undefined || this.#state.database(name) !== undefined;
    const name = deletedName(database.name, { nowMs: deletedMs, id: database.id, isTaken });
    const tables = [...database.tables.values()].flatMap((schema): DeletedTable[] => {
      const entry = this.#state.table(schema.id);
      if (entry === undefined) return [];
      return [this.#renamedTable(database, entry, { deletedMs, withDatabase: true })];
    });
    const left: DeletedDatabase = {
      schema: { ...database, name, tables: new Map() },
      originalName: database.name,
      deletedMs,
      hardDeleteMs: this.#hardDeleteMs(choice, deletedMs, undefined),
      purgedMs: undefined,
    };
    await this.#write(async (tx) => {
      await writeDeletedDatabase(tx, left);
      await writeDeletedTables(tx, tables);
      // Its tables go with it, and are not told of one by one.
      await this.#events.database(tx, 'deleted', database);
    });
    this.#state.hideDatabase(left, tables);
    this.#onLeft(tables.map((table) => leftTable(database.name, table)));
  }

  async #softDeleteTable(
    database: DatabaseSchema,
    entry: TableEntry,
    choice: HardDeletion,
  ): Promise<void> {
    const deletedMs = this.#clock.nowMs();
    const table: DeletedTable = {
      ...this.#renamedTable(database, entry, { deletedMs, withDatabase: false }),
      hardDeleteMs: this.#hardDeleteMs(choice, deletedMs, undefined),
    };
    await this.#write(async (tx) => {
      await writeDeletedTable(tx, table);
      await this.#events.table(tx, 'deleted', { database, table: entry.schema.name });
    });
    this.#state.hideTable(database, table);
    this.#onLeft([leftTable(database.name, table)]);
  }

  #renamedTable(
    database: DatabaseSchema,
    entry: TableEntry,
    how: { readonly deletedMs: number; readonly withDatabase: boolean },
  ): DeletedTable {
    const { schema } = entry;
    const isTaken = (name: string): boolean =>
      database.tables.has(name) || this.#state.deleted.table(database.id, name) !== undefined;
    const name = deletedName(schema.name, { nowMs: how.deletedMs, id: schema.id, isTaken });
    return {
      entry: { ...entry, schema: { ...schema, name } },
      originalName: schema.name,
      hardDeleteMs: undefined,
      purgedMs: undefined,
      ...how,
    };
  }

  async #rescheduleDatabase(name: string, choice: HardDeletion): Promise<void> {
    const database = this.#state.deleted.database(name);
    if (database === undefined) throw new ResourceNotFound({ resource: name });
    const after = { ...database, hardDeleteMs: this.#rescheduledMs(database, choice, name) };
    await this.#write((tx) => writeDeletedDatabase(tx, after));
    this.#state.deleted.putDatabase(after);
  }

  async #rescheduleTable(
    database: DatabaseSchema,
    at: { readonly database: string; readonly table: string; readonly hardDelete: HardDeletion },
  ): Promise<void> {
    const table = this.#state.deleted.table(database.id, at.table);
    if (table === undefined) throw new TableNotKnown(at);
    const after = { ...table, hardDeleteMs: this.#rescheduledMs(table, at.hardDelete, at.table) };
    await this.#write((tx) => writeDeletedTable(tx, after));
    this.#state.deleted.putTable(after);
  }

  /** Throws `AlreadyDeleted` when the deletion would be the one that stands already. */
  #rescheduledMs(
    before: DeletedDatabase | DeletedTable,
    choice: HardDeletion,
    resource: string,
  ): number | undefined {
    const nowMs = this.#clock.nowMs();
    const after = this.#hardDeleteMs(choice, nowMs, before.hardDeleteMs);
    if (before.purgedMs !== undefined || after === before.hardDeleteMs) {
      throw new AlreadyDeleted({ resource });
    }
    return after;
  }

  async #restoreDatabase(deleted: DeletedDatabase): Promise<void> {
    const state = this.#state;
    const { id } = deleted.schema;
    if (state.database(deleted.originalName) !== undefined) {
      throw new ResourceExists({ resource: deleted.originalName });
    }
    const { databaseCount } = this.#limits;
    if (state.databaseCount >= databaseCount) {
      throw new DatabaseLimitReached({ limit: databaseCount });
    }
    const tables = state.deleted
      .tablesOf(id)
      .filter((table) => table.withDatabase && table.purgedMs === undefined);
    this.#assertRoomForTables(tables.length);
    state.databaseCount++;
    state.tableCount += tables.length;
    try {
      await this.#write(async (tx) => {
        await restoreDatabase(tx, id, deleted.originalName);
        for (const { entry, originalName } of tables) {
          await restoreTable(tx, entry.schema.id, originalName);
        }
        const database = { ...deleted.schema, name: deleted.originalName };
        await this.#events.database(tx, 'created', database);
      });
    } catch (error) {
      state.databaseCount--;
      state.tableCount -= tables.length;
      throw error;
    }
    state.deleted.removeDatabase(deleted);
    for (const table of tables) state.deleted.removeTable(table);
    state.show({ ...deleted.schema, name: deleted.originalName }, tables.map(restored));
  }

  #findDatabase(name: string): DeletedDatabase | undefined {
    const { deleted } = this.#state;
    return (
      deleted.database(name) ??
      latest(deleted.databases().filter((each) => each.originalName === name))
    );
  }

  #assertRestorable(deleted: DeletedDatabase | DeletedTable, resource: string): void {
    if (deleted.purgedMs !== undefined || isDue(deleted, this.#clock.nowMs())) {
      throw new AlreadyDeleted({ resource });
    }
  }

  #assertRoomForTables(count: number): void {
    const { tableCount } = this.#state;
    const limit = this.#limits.tableCount;
    if (tableCount + count > limit) {
      throw new SchemaLimitReached(tableLimitMessage({ tableCount, limit }));
    }
  }

  #hardDeleteMs(
    choice: HardDeletion,
    nowMs: number,
    before: number | undefined,
  ): number | undefined {
    return hardDeleteMsOf(choice, { nowMs, defaultMs: this.#defaultMs, before });
  }

  async #write(work: (tx: CatalogTransaction) => Promise<void>): Promise<void> {
    await this.#store.transaction<CatalogTables, void>(work);
  }
}

function isDue(each: DeletedDatabase | DeletedTable, nowMs: number): boolean {
  const { purgedMs, hardDeleteMs } = each;
  return purgedMs === undefined && hardDeleteMs !== undefined && hardDeleteMs <= nowMs;
}

function leftTable(database: string, table: DeletedTable): LeftTable {
  return { id: table.entry.schema.id, database, table: table.originalName };
}

function restored({ entry, originalName }: DeletedTable): TableEntry {
  return { ...entry, schema: { ...entry.schema, name: originalName } };
}

function latest<T extends { readonly deletedMs: number }>(all: readonly T[]): T | undefined {
  return all.reduce<T | undefined>(
    (best, each) => (best === undefined || each.deletedMs >= best.deletedMs ? each : best),
    undefined,
  );
}

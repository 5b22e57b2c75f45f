import type { Clock, RelationalStore } from '@plinth/kernel';
import type { CatalogLimits } from '@plinth/tsdb-model/database/limits.js';
import { databaseOfPolicy } from '@plinth/tsdb-model/database/names.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { CatalogEvents } from '../catalog-events.js';
import type { CatalogState } from '../catalog-state.js';
import type { CatalogChanges } from '../records/catalog-changes.js';
import type { CatalogTables } from '../records/catalog-tables.js';
import type { TableEntry } from '../schema/grow-table.js';
import { type DeletedDatabase, type DeletedTable, isDue } from './deleted-resources.js';
import {
  isDatabaseRestored,
  isTableRestored,
  restoreDatabase,
  restoreTable,
} from './deletion-records.js';

export interface CatalogRestorationDeps {
  readonly events: CatalogEvents;
  readonly state: CatalogState;
  readonly store: RelationalStore;
  readonly clock: Clock;
  readonly limits: CatalogLimits;
  /** Serializes the changes to each database. */
  readonly changes: CatalogChanges;
  /** Creates the database of a retention policy. */
  readonly ensureDatabaseOfPolicy: (policy: string) => Promise<void>;
  /** Called in the same tick in which a database is deleted or restored. */
  readonly onDatabases: () => void;
}

/** Restores deleted databases and tables while their data exists. */
export class CatalogRestoration {
  readonly #deps: CatalogRestorationDeps;

  constructor(deps: CatalogRestorationDeps) {
    this.#deps = deps;
  }

  /**
   * Restores the database under its earlier name, with the retention policies deleted with it.
   * @param name its current or earlier name; the latest deletion if there are several.
   */
  async database(name: string): Promise<void> {
    const found = this.#findDatabase(name);
    if (found === undefined) throw tsdbError('resource_not_found', { resource: name });
    await this.#database(found, name);
    const policies = this.#deps.state.deleted
      .databases()
      .filter(
        ({ originalName, deletedMs, purgedMs }) =>
          databaseOfPolicy(originalName) === found.originalName &&
          deletedMs === found.deletedMs &&
          purgedMs === undefined,
      );
    for (const policy of policies) await this.#database(policy, policy.schema.name);
  }

  async #database(found: DeletedDatabase, name: string): Promise<void> {
    await this.#deps.changes.run(found.schema.name, async () => {
      // The resource may have been restored, or its data removed, while this call waited.
      const deleted = this.#deps.state.deleted.database(found.schema.name);
      if (deleted === undefined) throw tsdbError('resource_not_found', { resource: name });
      this.#assertRestorable(deleted, name);
      // No other code acquires the queues of these two names in the opposite order.
      await this.#deps.changes.run(deleted.originalName, () => this.#restoreDatabase(deleted));
    });
  }

  /** Restores the table under its earlier name; `table` as for `database`. */
  async table(target: { readonly database: string; readonly table: string }): Promise<void> {
    await this.#deps.changes.run(target.database, async () => {
      const database = this.#deps.state.database(target.database);
      if (database === undefined)
        throw tsdbError('database_not_known', { database: target.database });
      const { deleted } = this.#deps.state;
      const table =
        deleted.table(database.id, target.table) ??
        latest(deleted.tablesOf(database.id).filter((each) => each.originalName === target.table));
      if (table === undefined) throw tsdbError('table_not_known', target);
      this.#assertRestorable(table, target.table);
      if (database.tables.has(table.originalName)) {
        throw tsdbError('resource_exists', { resource: table.originalName });
      }
      this.#deps.state.assertRoomForTables(1, this.#deps.limits.tableCount);
      const { id } = table.entry.schema;
      this.#deps.state.tableCount++;
      await this.#deps.changes.commit([target.database], {
        runTransaction: () =>
          this.#deps.store.transaction<CatalogTables, void>(async (tx) => {
            await restoreTable(tx, id, table.originalName);
            await this.#deps.events.tables(tx, 'created', {
              database,
              tables: [table.originalName],
            });
          }),
        wasCommitted: () => isTableRestored(this.#deps.store.reader<CatalogTables>(), id),
        applyCommitted: () => {
          deleted.removeTable(table);
          this.#deps.state.show(this.#deps.state.databaseById(database.id) ?? database, [
            restored(table),
          ]);
        },
        abandon: () => {
          this.#deps.state.tableCount--;
        },
      });
    });
  }

  async #restoreDatabase(deleted: DeletedDatabase): Promise<void> {
    const state = this.#deps.state;
    const { id } = deleted.schema;
    await this.#deps.ensureDatabaseOfPolicy(deleted.originalName);
    if (state.database(deleted.originalName) !== undefined) {
      throw tsdbError('resource_exists', { resource: deleted.originalName });
    }
    const { databaseCount } = this.#deps.limits;
    if (state.databaseCount >= databaseCount) {
      throw tsdbError('database_limit_reached', { limit: databaseCount });
    }
    const tables = state.deleted
      .tablesOf(id)
      .filter((table) => table.withDatabase && table.purgedMs === undefined);
    state.assertRoomForTables(tables.length, this.#deps.limits.tableCount);
    state.databaseCount++;
    state.tableCount += tables.length;
    const database = { ...deleted.schema, name: deleted.originalName };
    await this.#deps.changes.commit([deleted.schema.name, deleted.originalName], {
      runTransaction: () =>
        this.#deps.store.transaction<CatalogTables, void>(async (tx) => {
          await restoreDatabase(tx, id, deleted.originalName);
          for (const { entry, originalName } of tables) {
            await restoreTable(tx, entry.schema.id, originalName);
          }
          await this.#deps.events.database(tx, 'created', database);
        }),
      wasCommitted: () => isDatabaseRestored(this.#deps.store.reader<CatalogTables>(), id),
      applyCommitted: () => {
        state.deleted.removeDatabase(deleted);
        for (const table of tables) state.deleted.removeTable(table);
        state.show(database, tables.map(restored));
        this.#deps.onDatabases();
      },
      abandon: () => {
        state.databaseCount--;
        state.tableCount -= tables.length;
      },
    });
  }

  #findDatabase(name: string): DeletedDatabase | undefined {
    const { deleted } = this.#deps.state;
    return (
      deleted.database(name) ??
      latest(deleted.databases().filter((each) => each.originalName === name))
    );
  }

  #assertRestorable(deleted: DeletedDatabase | DeletedTable, resource: string): void {
    if (deleted.purgedMs !== undefined || isDue(deleted, this.#deps.clock.nowMs())) {
      throw tsdbError('already_deleted', { resource });
    }
  }
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

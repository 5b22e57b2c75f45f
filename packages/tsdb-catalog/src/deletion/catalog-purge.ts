import type { Clock, RelationalStore } from '@plinth/kernel';
import type { Transaction } from 'kysely';
import type { CatalogState } from '../catalog-state.js';
import type { CatalogChanges } from '../records/catalog-changes.js';
import type { CatalogTables } from '../records/catalog-tables.js';
import { isDue } from './deleted-resources.js';
import { forgetPurged, writePurged } from './deletion-records.js';

export interface CatalogPurgeDeps {
  readonly state: CatalogState;
  readonly store: RelationalStore;
  readonly clock: Clock;
  /** Serializes the changes to each database. */
  readonly changes: CatalogChanges;
}

/** Callbacks of the storage engine for tables whose removal is due. */
export interface PurgeSteps {
  /** Called with the tables before anything else. */
  begin(tableIds: readonly number[]): void;
  /** Writes in the same transaction that marks the data as removed. */
  write(tx: Transaction<CatalogTables>, tableIds: readonly number[]): Promise<void>;
  end(tableIds: readonly number[]): Promise<void>;
}

/**
 * Final removal of deleted databases and tables: first the data at the scheduled time, later the
 * catalog entries.
 */
export class CatalogPurge {
  readonly #state: CatalogState;
  readonly #store: RelationalStore;
  readonly #clock: Clock;
  readonly #changes: CatalogChanges;

  constructor(deps: CatalogPurgeDeps) {
    this.#state = deps.state;
    this.#store = deps.store;
    this.#clock = deps.clock;
    this.#changes = deps.changes;
  }

  /** Removes the data of databases and tables whose removal is due. */
  async due(steps: PurgeSteps): Promise<void> {
    for (const name of this.#databasesWithDue()) {
      // Exclusive for this database, so that it is not restored in the meantime.
      await this.#changes.run(name, async () => {
        const { databaseIds, tableIds } = this.#dueIn(name);
        const nowMs = this.#clock.nowMs();
        steps.begin(tableIds);
        await this.#store.transaction<CatalogTables, void>(async (tx) => {
          await writePurged(tx, { databaseIds, tableIds, nowMs });
          await steps.write(tx, tableIds);
        });
        this.#notePurged({ databaseIds, tableIds, nowMs });
        await steps.end(tableIds);
      });
    }
  }

  /** Removes from the catalog the databases and tables whose data was removed at `untilMs` or before. */
  async forget(untilMs: number): Promise<void> {
    const { deleted } = this.#state;
    const isDue = (each: { readonly purgedMs: number | undefined }): boolean =>
      each.purgedMs !== undefined && each.purgedMs <= untilMs;
    const databases = deleted.databases().filter(isDue);
    const tables = deleted.tables().filter(isDue);
    if (databases.length + tables.length === 0) return;
    const databaseIds = databases.map(({ schema }) => schema.id);
    const tableIds = tables.map(({ entry }) => entry.schema.id);
    await this.#store.transaction<CatalogTables, void>((tx) =>
      forgetPurged(tx, { databaseIds, tableIds }),
    );
    for (const database of databases) deleted.removeDatabase(database);
    for (const table of tables) deleted.removeTable(table);
  }

  /** Returns the databases that contain data whose removal is due. */
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

  /** Returns the ids whose removal is due in one database; a database includes all its tables. */
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

  #notePurged(purged: Parameters<typeof writePurged>[1]): void {
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
}

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
  /** Changes of one database run one after the other. */
  readonly changes: CatalogChanges;
}

/** What the keeper of the data does when tables come to their time. */
export interface PurgeSteps {
  /** Told of the tables before anything happens. */
  begin(tableIds: readonly number[]): void;
  /** Becomes durable in the same step as the note that their data are gone. */
  write(tx: Transaction<CatalogTables>, tableIds: readonly number[]): Promise<void>;
  end(tableIds: readonly number[]): Promise<void>;
}

/** The end of deleted databases and tables: their data go at the scheduled time, what is known of them later. */
export class CatalogPurge {
  readonly #state: CatalogState;
  readonly #store: RelationalStore;
  readonly #clock: Clock;
  readonly #changes: CatalogChanges;

  constructor(needs: CatalogPurgeDeps) {
    this.#state = needs.state;
    this.#store = needs.store;
    this.#clock = needs.clock;
    this.#changes = needs.changes;
  }

  /** Takes what has come to its time out of the data that are kept. */
  async due(steps: PurgeSteps): Promise<void> {
    for (const name of this.#databasesWithDue()) {
      // Alone with this database: it must not be restored meanwhile.
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

  /** Forgets what lost its data at `untilMs` or before. */
  async forget(untilMs: number): Promise<void> {
    const { deleted } = this.#state;
    const isOver = (each: { readonly purgedMs: number | undefined }): boolean =>
      each.purgedMs !== undefined && each.purgedMs <= untilMs;
    const databases = deleted.databases().filter(isOver);
    const tables = deleted.tables().filter(isOver);
    if (databases.length + tables.length === 0) return;
    const databaseIds = databases.map(({ schema }) => schema.id);
    const tableIds = tables.map(({ entry }) => entry.schema.id);
    await this.#store.transaction<CatalogTables, void>((tx) =>
      forgetPurged(tx, { databaseIds, tableIds }),
    );
    for (const database of databases) deleted.removeDatabase(database);
    for (const table of tables) deleted.removeTable(table);
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

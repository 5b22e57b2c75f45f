import type { RelationalStore } from '@plinth/kernel';
import { INTERNAL_DATABASE } from '@plinth/tsdb-model/database/names.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { CatalogState } from '../catalog-state.js';
import type { CatalogChanges } from '../records/catalog-changes.js';
import type { CatalogTables } from '../records/catalog-tables.js';
import { writeDatabaseSettings, writeTableRetention } from '../records/write-catalog.js';

/**
 * Changes settings of existing databases and tables: retention periods, and the retention policies
 * of InfluxQL.
 */
export class CatalogSettings {
  readonly #state: CatalogState;
  readonly #store: RelationalStore;
  readonly #changes: CatalogChanges;

  constructor(deps: {
    readonly state: CatalogState;
    readonly store: RelationalStore;
    /** Serialises the changes of each database. */
    readonly changes: CatalogChanges;
  }) {
    this.#state = deps.state;
    this.#store = deps.store;
    this.#changes = deps.changes;
  }

  /**
   * `undefined` keeps rows forever. Throws `resource_not_found`, `already_deleted`,
   * `internal_database`.
   */
  async setRetention(name: string, retentionNs: bigint | undefined): Promise<void> {
    if (name === INTERNAL_DATABASE) throw tsdbError('internal_database', 'modify');
    await this.#changes.run(name, async () => {
      const database = this.#state.database(name);
      if (database === undefined) {
        if (this.#state.deleted.database(name) !== undefined) {
          throw tsdbError('already_deleted', { resource: name });
        }
        throw tsdbError('resource_not_found', { resource: name });
      }
      await this.#store.transaction<CatalogTables, void>((tx) =>
        writeDatabaseSettings(tx, database.id, { retention_ns: retentionNs?.toString() ?? null }),
      );
      this.#state.show({ ...(this.#state.databaseById(database.id) ?? database), retentionNs }, []);
    });
  }

  /** `undefined` selects the database itself. Throws `database_not_known`. */
  async setDefaultPolicy(name: string, policy: string | undefined): Promise<void> {
    if (name === INTERNAL_DATABASE) throw tsdbError('internal_database', 'modify');
    await this.#changes.run(name, async () => {
      const database = this.#state.database(name);
      if (database === undefined) throw tsdbError('database_not_known', { database: name });
      if (database.defaultPolicy === policy) return;
      await this.#store.transaction<CatalogTables, void>((tx) =>
        writeDatabaseSettings(tx, database.id, { default_policy: policy ?? null }),
      );
      const { defaultPolicy: _, ...others } = this.#state.databaseById(database.id) ?? database;
      this.#state.show(policy === undefined ? others : { ...others, defaultPolicy: policy }, []);
    });
  }

  /** `undefined` derives it from the retention period. Throws `database_not_known`. */
  async setShardDuration(name: string, durationNs: bigint | undefined): Promise<void> {
    if (name === INTERNAL_DATABASE) throw tsdbError('internal_database', 'modify');
    await this.#changes.run(name, async () => {
      const database = this.#state.database(name);
      if (database === undefined) throw tsdbError('database_not_known', { database: name });
      if (database.shardDurationNs === durationNs) return;
      await this.#store.transaction<CatalogTables, void>((tx) =>
        writeDatabaseSettings(tx, database.id, {
          shard_duration_ns: durationNs?.toString() ?? null,
        }),
      );
      const { shardDurationNs: _, ...others } = this.#state.databaseById(database.id) ?? database;
      this.#state.show(
        durationNs === undefined ? others : { ...others, shardDurationNs: durationNs },
        [],
      );
    });
  }

  /** Sets the table's own retention period; `undefined` uses the period of its database. */
  async setTableRetention(at: {
    readonly database: string;
    readonly table: string;
    readonly retentionNs: bigint | undefined;
  }): Promise<void> {
    if (at.database === INTERNAL_DATABASE) throw tsdbError('internal_database', 'modify');
    await this.#changes.run(at.database, async () => {
      const database = this.#state.database(at.database);
      if (database === undefined) throw tsdbError('database_not_known', { database: at.database });
      const schema = database.tables.get(at.table);
      const entry = schema && this.#state.table(schema.id);
      if (entry === undefined) throw tsdbError('table_not_known', at);
      await this.#store.transaction<CatalogTables, void>((tx) =>
        writeTableRetention(tx, entry.schema.id, at.retentionNs),
      );
      const after = { ...entry, schema: { ...entry.schema, retentionNs: at.retentionNs } };
      this.#state.show(database, [after]);
    });
  }
}

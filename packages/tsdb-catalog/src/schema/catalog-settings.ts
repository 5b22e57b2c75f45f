import type { RelationalStore } from '@plinth/kernel';
import { databaseOfPolicy, INTERNAL_DATABASE } from '@plinth/tsdb-model/database/names.js';
import { tableNotKnown, tsdbError } from '@plinth/tsdb-model/errors.js';
import type { DatabaseSchema, IntegerFields } from '@plinth/tsdb-model/schema.js';
import type { CatalogState } from '../catalog-state.js';
import type { CatalogChanges } from '../records/catalog-changes.js';
import type { CatalogTables } from '../records/catalog-tables.js';
import { writeDatabaseSettings, writeTableRetention } from '../records/write-catalog.js';

/** Settings to change; omitted settings keep their values. */
export interface DatabaseSettings {
  /** `forever` keeps rows forever. */
  readonly retentionNs?: bigint | 'forever' | undefined;
  readonly integerFields?: IntegerFields | undefined;
}

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
    /** Serializes the changes to each database. */
    readonly changes: CatalogChanges;
  }) {
    this.#state = deps.state;
    this.#store = deps.store;
    this.#changes = deps.changes;
  }

  /**
   * Throws `resource_not_found`, `already_deleted`, `internal_database`, and `parameter_invalid` for
   * the integer fields of a retention policy.
   */
  async changeDatabase(name: string, settings: DatabaseSettings): Promise<void> {
    const { retentionNs, integerFields } = settings;
    if (name === INTERNAL_DATABASE) throw tsdbError('internal_database', 'modify');
    if (integerFields !== undefined) assertNoPolicy(name);
    await this.#changes.run(name, async () => {
      const database = this.#state.database(name);
      if (database === undefined) {
        if (this.#state.deleted.database(name) !== undefined) {
          throw tsdbError('already_deleted', { resource: name });
        }
        throw tsdbError('resource_not_found', { resource: name });
      }
      await this.#store.transaction<CatalogTables, void>((tx) =>
        writeDatabaseSettings(tx, database.id, {
          ...(retentionNs !== undefined && {
            retention_ns: retentionNs === 'forever' ? null : retentionNs.toString(),
          }),
          ...(integerFields !== undefined && {
            integer_fields: integerFields === 'float' ? 'float' : null,
          }),
        }),
      );
      this.#state.show(changed(this.#state.databaseById(database.id) ?? database, settings), []);
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
  async setTableRetention(options: {
    readonly database: string;
    readonly table: string;
    readonly retentionNs: bigint | undefined;
  }): Promise<void> {
    if (options.database === INTERNAL_DATABASE) throw tsdbError('internal_database', 'modify');
    await this.#changes.run(options.database, async () => {
      const database = this.#state.database(options.database);
      if (database === undefined)
        throw tsdbError('database_not_known', { database: options.database });
      const schema = database.tables.get(options.table);
      const entry = schema && this.#state.table(schema.id);
      if (entry === undefined) throw tableNotKnown(database, options.table);
      await this.#store.transaction<CatalogTables, void>((tx) =>
        writeTableRetention(tx, entry.schema.id, options.retentionNs),
      );
      const after = { ...entry, schema: { ...entry.schema, retentionNs: options.retentionNs } };
      this.#state.show(database, [after]);
    });
  }
}

function changed(database: DatabaseSchema, settings: DatabaseSettings): DatabaseSchema {
  const { integerFields: before, ...others } = database;
  const { retentionNs, integerFields = before } = settings;
  return {
    ...others,
    ...(retentionNs !== undefined && {
      retentionNs: retentionNs === 'forever' ? undefined : retentionNs,
    }),
    ...(integerFields === 'float' && { integerFields }),
  };
}

/** Throws `parameter_invalid` for a retention policy, which uses the option of its database. */
export function assertNoPolicy(name: string): void {
  const database = databaseOfPolicy(name);
  if (database === undefined) return;
  const text = `integer_fields cannot be set for the retention policy '${name}', which uses the value of its database; set it for the database '${database}'`;
  throw tsdbError('parameter_invalid', text);
}

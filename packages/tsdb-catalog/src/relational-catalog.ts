import {
  type Clock,
  invariant,
  type Random,
  type RelationalStore,
  type ReportEvent,
} from '@plinth/kernel';
import type { CatalogLimits } from '@plinth/tsdb-model/database/limits.js';
import { findDatabaseNameFault, INTERNAL_DATABASE } from '@plinth/tsdb-model/database/names.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { DatabaseSchema, IntegerFields, TableSchema } from '@plinth/tsdb-model/schema.js';
import type { Catalog, ValidationResult } from './catalog.js';
import { CatalogEvents } from './catalog-events.js';
import { CatalogState } from './catalog-state.js';
import { CatalogDeletions, type RemovedTable } from './deletion/catalog-deletions.js';
import type { DeletedResources } from './deletion/deleted-resources.js';
import { CatalogChanges } from './records/catalog-changes.js';
import { CATALOG_MIGRATIONS, type CatalogTables } from './records/catalog-tables.js';
import { type CatalogContent, readCatalog } from './records/read-catalog.js';
import { CatalogGrowth } from './schema/catalog-growth.js';
import { CatalogRenames } from './schema/catalog-renames.js';
import { CatalogReplacements } from './schema/catalog-replacements.js';
import {
  assertNoPolicy,
  CatalogSettings,
  type DatabaseSettings,
} from './schema/catalog-settings.js';
import { draftTable, type TableDefinition } from './schema/draft-table.js';
import { renamedTable } from './schema-validation/check-rows.js';
import { SchemaValidation, type ValidationRequest } from './schema-validation/schema-validation.js';

export interface CatalogDeps {
  readonly store: RelationalStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: CatalogLimits;
  /** Delay of the hard deletion for `hard_delete_at=default`. */
  readonly hardDeleteDefaultMs?: number;
  /** Receives events for created and deleted databases and tables, except the server's own. */
  readonly report?: ReportEvent | undefined;
}

const DEFAULT_HARD_DELETE_MS = 72 * 3_600_000;

/**
 * The catalog in the relational store. Lookups and checks against known columns use snapshots in
 * memory. A change is written first, and becomes visible when it is durable. Changes to one
 * database run one after another.
 */
export class RelationalCatalog implements Catalog {
  readonly clusterUuid: string;
  /** Id of this node, which is the only node if the store is a local file. */
  readonly nodeUuid: string;
  readonly #limits: CatalogLimits;
  readonly #changes = new CatalogChanges();
  readonly #state: CatalogState;
  readonly #growth: CatalogGrowth;
  readonly #validation: SchemaValidation;
  readonly #settings: CatalogSettings;
  readonly deletions: CatalogDeletions;
  readonly renames: CatalogRenames;
  readonly replacements: CatalogReplacements;
  readonly #onRemoved: ((tables: readonly RemovedTable[]) => void)[] = [];
  readonly #onDatabases: (() => void)[] = [];
  readonly #onRenamed: ((table: TableSchema) => void)[] = [];

  static async open(deps: CatalogDeps): Promise<RelationalCatalog> {
    await deps.store.migrate('tsdb_catalog', CATALOG_MIGRATIONS);
    const content = await readCatalog(deps.store.reader<CatalogTables>());
    const catalog = new RelationalCatalog(deps, content);
    if (content.clusterUuid === undefined) {
      const { clusterUuid, nodeUuid } = catalog;
      await catalog.#growth.initialize({ clusterUuid, nodeUuid });
    }
    // Earlier versions created policies without their database.
    for (const { name } of catalog.databases()) {
      if (catalog.#state.databaseCount >= deps.limits.databaseCount) break;
      await catalog.#growth.ensureDatabaseOfPolicy(name);
    }
    return catalog;
  }

  /** Use `open`. */
  private constructor(deps: CatalogDeps, content: CatalogContent) {
    this.clusterUuid = content.clusterUuid ?? deps.random.uuidV4();
    this.nodeUuid = content.nodeUuid ?? deps.random.uuidV4();
    this.#limits = deps.limits;
    this.#state = new CatalogState(content);
    const parts = {
      ...deps,
      state: this.#state,
      changes: this.#changes,
      events: new CatalogEvents(deps.report),
    };
    this.#growth = new CatalogGrowth(parts, content);
    this.#validation = new SchemaValidation({ ...parts, growth: this.#growth });
    this.#settings = new CatalogSettings(parts);
    const defaultMs = deps.hardDeleteDefaultMs ?? DEFAULT_HARD_DELETE_MS;
    const onRenamed = (table: TableSchema): void => {
      for (const listener of this.#onRenamed) listener(table);
    };
    const onRemoved = (tables: readonly RemovedTable[]): void => this.#onTablesRemoved(tables);
    this.renames = new CatalogRenames({ ...parts, onRenamed });
    this.replacements = new CatalogReplacements({
      ...{ ...parts, growth: this.#growth, defaultMs, onRemoved, onRenamed },
    });
    this.deletions = new CatalogDeletions({
      ...parts,
      ensureDatabaseOfPolicy: (policy) => this.#growth.ensureDatabaseOfPolicy(policy),
      defaultMs,
      onRemoved,
      onDatabases: () => {
        for (const listener of this.#onDatabases) listener();
      },
    });
  }

  /** Calls the listener with deleted tables, in the tick in which they become deleted. */
  whenTablesLeave(listener: (tables: readonly RemovedTable[]) => void): void {
    this.#onRemoved.push(listener);
  }

  /**
   * Calls the listener with a table in the tick in which its new name, or that of one of its
   * columns, becomes visible.
   */
  whenRenamed(listener: (table: TableSchema) => void): void {
    this.#onRenamed.push(listener);
  }

  /** Calls the listener in the tick in which a database is deleted or restored. */
  whenDatabasesLeaveOrReturn(listener: () => void): void {
    this.#onDatabases.push(listener);
  }

  get deleted(): DeletedResources {
    return this.#state.deleted;
  }

  database(name: string): DatabaseSchema | undefined {
    return this.#state.database(name);
  }

  databaseById(id: number): DatabaseSchema | undefined {
    return this.#state.databaseById(id);
  }

  tableById(id: number): TableSchema | undefined {
    return this.#state.table(id)?.schema;
  }

  keptTableById(id: number): TableSchema | undefined {
    return this.#state.keptTable(id);
  }

  mayHaveAssignedTableId(id: number): boolean {
    return this.#growth.mayHaveAssignedTableId(id);
  }

  reserveTableIdsUpTo(id: number): void {
    this.#growth.reserveTableIdsUpTo(id);
  }

  databases(): readonly DatabaseSchema[] {
    return this.#state.databases();
  }

  /**
   * `undefined` keeps rows forever. Throws `resource_not_found`, `already_deleted`,
   * `internal_database`.
   */
  async setRetention(name: string, retentionNs: bigint | undefined): Promise<void> {
    await this.changeDatabase(name, { retentionNs: retentionNs ?? 'forever' });
  }

  /** Throws like `setRetention`, and `parameter_invalid`. */
  async changeDatabase(name: string, settings: DatabaseSettings): Promise<void> {
    await this.#settings.changeDatabase(name, settings);
  }

  /** `undefined` selects the database itself. Throws `database_not_known`. */
  async setDefaultPolicy(name: string, policy: string | undefined): Promise<void> {
    await this.#settings.setDefaultPolicy(name, policy);
  }

  /** `undefined` derives it from the retention period. Throws `database_not_known`. */
  async setShardDuration(name: string, durationNs: bigint | undefined): Promise<void> {
    await this.#settings.setShardDuration(name, durationNs);
  }

  /** Sets the table's own retention period; `undefined` uses the period of its database. */
  async setTableRetention(at: Parameters<CatalogSettings['setTableRetention']>[0]): Promise<void> {
    await this.#settings.setTableRetention(at);
  }

  async ensureDatabase(name: string): Promise<DatabaseSchema> {
    const create = () => {
      const known = this.#state.database(name);
      if (known === undefined) this.#state.assertNotDeleted(name);
      return known ?? this.#growth.change(name, undefined, []);
    };
    return this.#state.database(name) ?? (await this.#changes.run(name, create));
  }

  async createDatabase(
    name: string,
    retentionNs: bigint | undefined,
    integerFields?: IntegerFields,
  ): Promise<DatabaseSchema> {
    const fault = findDatabaseNameFault(name);
    if (fault !== undefined) throw tsdbError('database_name_invalid', fault);
    if (integerFields !== undefined) assertNoPolicy(name);
    return await this.#changes.run(name, () => {
      const isTaken =
        this.#state.database(name) !== undefined ||
        this.#state.deleted.database(name) !== undefined;
      if (isTaken) throw tsdbError('resource_exists', { resource: name });
      return this.#growth.change(name, retentionNs, [], { integerFields });
    });
  }

  /**
   * Creates the table with all its columns, and the database if it does not exist. Throws
   * `database_name_invalid`, `internal_database`, `resource_exists`, `table_definition_invalid`,
   * `schema_limit_reached`, `database_limit_reached`. Source: tsdb-http, "Tables".
   */
  async createTable(definition: TableDefinition): Promise<TableSchema> {
    const { database, table } = definition;
    if (database === INTERNAL_DATABASE) throw tsdbError('internal_database', 'modify');
    const fault = findDatabaseNameFault(database);
    if (fault !== undefined) throw tsdbError('database_name_invalid', fault);
    // Line protocol cannot express an empty name.
    if (table === '') throw tsdbError('table_definition_invalid', 'table name cannot be empty');
    const after = await this.#changes.run(database, () => {
      const existing = this.#state.database(database);
      const renamedTo = existing?.formerTables?.get(table);
      if (renamedTo !== undefined) {
        throw tsdbError('name_taken', `${renamedTable(table, renamedTo)}, or use another name`);
      }
      if (existing === undefined) this.#state.assertNotDeleted(database);
      else if (
        existing.tables.has(table) ||
        this.#state.deleted.table(existing.id, table) !== undefined
      ) {
        throw tsdbError('resource_exists', { resource: table });
      }
      const draft = draftTable(definition, this.#limits);
      this.#state.assertRoomForTables(1, this.#limits.tableCount);
      return this.#growth.change(database, undefined, [draft]);
    });
    const created = after.tables.get(table);
    invariant(created !== undefined, 'the created table is missing from its database');
    return created;
  }

  validate(request: ValidationRequest): ValidationResult | Promise<ValidationResult> {
    return this.#validation.validate(request);
  }

  #onTablesRemoved(tables: readonly RemovedTable[]): void {
    this.#validation.onTablesDeleted(tables);
    for (const listener of this.#onRemoved) listener(tables);
  }
}

import type { Clock, Random, RelationalStore, ReportEvent } from '@plinth/kernel';
import { invariant } from '@plinth/kernel';
import {
  AlreadyDeleted,
  DatabaseDeleted,
  DatabaseLimitReached,
  DatabaseNameInvalid,
  DatabaseNotKnown,
  InternalDatabase,
  ResourceExists,
  ResourceNotFound,
  SchemaLimitReached,
  TableDefinitionInvalid,
  TableNotKnown,
} from '../../errors.js';
import type { FieldType } from '../../model/column.js';
import type { DatabaseSchema, TableSchema } from '../../model/schema.js';
import type { Admission, Catalog } from './catalog.js';
import { CatalogDeletions, type LeftTable } from './catalog-deletions.js';
import { CatalogEvents } from './catalog-events.js';
import type { CatalogContent, TableChange } from './catalog-records.js';
import {
  readCatalog,
  writeChange,
  writeDatabaseRetention,
  writeDefaultPolicy,
  writeIdentity,
  writeShardDuration,
  writeTableRetention,
} from './catalog-records.js';
import { CatalogState } from './catalog-state.js';
import type { CatalogTables } from './catalog-tables.js';
import { CATALOG_MIGRATIONS } from './catalog-tables.js';
import { admitKnown, hasNewTags } from './check-known.js';
import type { CheckedTable } from './check-rows.js';
import { checkRows } from './check-rows.js';
import type { DeletedResources } from './deleted-resources.js';
import { DoubtfulTables } from './doubtful-tables.js';
import type { TableEntry } from './grow-table.js';
import { growTable, newTable } from './grow-table.js';
import { KeyedQueue } from './keyed-queue.js';
import type { CatalogLimits } from './limits.js';
import { tableLimitMessage } from './limits.js';
import { findDatabaseNameFault, INTERNAL_DATABASE } from './names.js';
import type { NewColumn } from './table-draft.js';
import { TableDraft } from './table-draft.js';

type AdmitRequest = Parameters<Catalog['admit']>[0];

export interface CatalogNeeds {
  readonly store: RelationalStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: CatalogLimits;
  /** What `hard_delete_at=default` adds to the time of a deletion. */
  readonly hardDeleteDefaultMs?: number;
  /** Told of databases and tables that come and go; not of the server's own. */
  readonly report?: ReportEvent | undefined;
}

const DEFAULT_HARD_DELETE_MS = 72 * 3_600_000;

const INTERNAL_RETENTION_NS = 7n * 86_400n * 1_000_000_000n;

/**
 * The catalog in the relational store. Look-ups and the check of a request whose columns are all known work on
 * pictures in memory; a change is written first and shows when it is durable. Changes of one database run one
 * after the other.
 */
export class RelationalCatalog implements Catalog {
  readonly clusterUuid: string;
  /** Of this node: the only one as long as the store is a local file. */
  readonly nodeUuid: string;
  readonly #needs: CatalogNeeds;
  readonly #changes = new KeyedQueue();
  readonly #doubtful = new DoubtfulTables();
  readonly #state: CatalogState;
  readonly #deletions: CatalogDeletions;
  readonly #events: CatalogEvents;
  readonly #onLeft: ((tables: readonly LeftTable[]) => void)[] = [];
  #nextDatabaseId: number;
  #nextTableId: number;

  static async open(needs: CatalogNeeds): Promise<RelationalCatalog> {
    await needs.store.migrate('tsdb_catalog', CATALOG_MIGRATIONS);
    const content = await readCatalog(needs.store.reader<CatalogTables>());
    const catalog = new RelationalCatalog(needs, content);
    if (content.clusterUuid === undefined) await catalog.#initialize();
    return catalog;
  }

  /** Use `open`. */
  private constructor(needs: CatalogNeeds, content: CatalogContent) {
    this.#needs = needs;
    this.clusterUuid = content.clusterUuid ?? needs.random.uuidV4();
    this.nodeUuid = content.nodeUuid ?? needs.random.uuidV4();
    this.#nextDatabaseId = content.nextDatabaseId;
    this.#nextTableId = content.nextTableId;
    this.#state = new CatalogState(content);
    this.#events = new CatalogEvents(needs.report);
    this.#deletions = new CatalogDeletions({
      events: this.#events,
      state: this.#state,
      store: needs.store,
      clock: needs.clock,
      limits: needs.limits,
      changes: this.#changes,
      defaultMs: needs.hardDeleteDefaultMs ?? DEFAULT_HARD_DELETE_MS,
      onLeft: (tables) => this.#tablesLeft(tables),
    });
  }

  /** Called with tables in the step in which they leave the active ones. */
  whenTablesLeave(listener: (tables: readonly LeftTable[]) => void): void {
    this.#onLeft.push(listener);
  }

  get deletions(): CatalogDeletions {
    return this.#deletions;
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

  databases(): readonly DatabaseSchema[] {
    return this.#state.databases();
  }

  /** `undefined` keeps everything. Throws `ResourceNotFound`, `AlreadyDeleted`, `InternalDatabase`. */
  async setRetention(name: string, retentionNs: bigint | undefined): Promise<void> {
    if (name === INTERNAL_DATABASE) throw new InternalDatabase();
    await this.#changes.run(name, async () => {
      const database = this.#state.database(name);
      if (database === undefined) {
        if (this.#state.deleted.database(name) !== undefined) {
          throw new AlreadyDeleted({ resource: name });
        }
        throw new ResourceNotFound({ resource: name });
      }
      await this.#needs.store.transaction<CatalogTables, void>((tx) =>
        writeDatabaseRetention(tx, database.id, retentionNs),
      );
      this.#state.show({ ...(this.#state.databaseById(database.id) ?? database), retentionNs }, []);
    });
  }

  /** `undefined`: the database itself is meant. Throws `DatabaseNotKnown`. */
  async setDefaultPolicy(name: string, policy: string | undefined): Promise<void> {
    if (name === INTERNAL_DATABASE) throw new InternalDatabase();
    await this.#changes.run(name, async () => {
      const database = this.#state.database(name);
      if (database === undefined) throw new DatabaseNotKnown({ database: name });
      if (database.defaultPolicy === policy) return;
      await this.#needs.store.transaction<CatalogTables, void>((tx) =>
        writeDefaultPolicy(tx, database.id, policy),
      );
      const { defaultPolicy: _, ...others } = this.#state.databaseById(database.id) ?? database;
      this.#state.show(policy === undefined ? others : { ...others, defaultPolicy: policy }, []);
    });
  }

  /** `undefined`: what fits the retention period. Throws `DatabaseNotKnown`. */
  async setShardDuration(name: string, durationNs: bigint | undefined): Promise<void> {
    if (name === INTERNAL_DATABASE) throw new InternalDatabase();
    await this.#changes.run(name, async () => {
      const database = this.#state.database(name);
      if (database === undefined) throw new DatabaseNotKnown({ database: name });
      if (database.shardDurationNs === durationNs) return;
      await this.#needs.store.transaction<CatalogTables, void>((tx) =>
        writeShardDuration(tx, database.id, durationNs),
      );
      const { shardDurationNs: _, ...others } = this.#state.databaseById(database.id) ?? database;
      this.#state.show(
        durationNs === undefined ? others : { ...others, shardDurationNs: durationNs },
        [],
      );
    });
  }

  /** A period of the table's own; `undefined`: that of its database holds. */
  async setTableRetention(at: {
    readonly database: string;
    readonly table: string;
    readonly retentionNs: bigint | undefined;
  }): Promise<void> {
    if (at.database === INTERNAL_DATABASE) throw new InternalDatabase();
    await this.#changes.run(at.database, async () => {
      const database = this.#state.database(at.database);
      if (database === undefined) throw new DatabaseNotKnown({ database: at.database });
      const schema = database.tables.get(at.table);
      const entry = schema && this.#state.table(schema.id);
      if (entry === undefined) throw new TableNotKnown(at);
      await this.#needs.store.transaction<CatalogTables, void>((tx) =>
        writeTableRetention(tx, entry.schema.id, at.retentionNs),
      );
      const after = { ...entry, schema: { ...entry.schema, retentionNs: at.retentionNs } };
      this.#state.show(database, [after]);
    });
  }

  async ensureDatabase(name: string): Promise<DatabaseSchema> {
    const create = () => {
      const known = this.#state.database(name);
      if (known === undefined) this.#assertNotDeleted(name);
      return known ?? this.#change(name, undefined, []);
    };
    return this.#state.database(name) ?? (await this.#changes.run(name, create));
  }

  async createDatabase(name: string, retentionNs: bigint | undefined): Promise<DatabaseSchema> {
    const fault = findDatabaseNameFault(name);
    if (fault !== undefined) throw new DatabaseNameInvalid(fault);
    return await this.#changes.run(name, () => {
      const isTaken =
        this.#state.database(name) !== undefined ||
        this.#state.deleted.database(name) !== undefined;
      if (isTaken) throw new ResourceExists({ resource: name });
      return this.#change(name, retentionNs, []);
    });
  }

  /**
   * Creates the table with all its columns, and the database when it is absent. Throws `DatabaseNameInvalid`,
   * `InternalDatabase`, `ResourceExists`, `TableDefinitionInvalid`, `SchemaLimitReached`, `DatabaseLimitReached`.
   * Source: tsdb-http, "Tables".
   */
  async createTable(definition: {
    readonly database: string;
    readonly table: string;
    /** In the order of the series key. */
    readonly tags: readonly string[];
    readonly fields: readonly { readonly name: string; readonly type: FieldType }[];
  }): Promise<TableSchema> {
    const { database, table } = definition;
    if (database === INTERNAL_DATABASE) throw new InternalDatabase();
    const fault = findDatabaseNameFault(database);
    if (fault !== undefined) throw new DatabaseNameInvalid(fault);
    // No line of any writer can say such a name.
    if (table === '') throw new TableDefinitionInvalid('table name cannot be empty');
    const after = await this.#changes.run(database, () => {
      const existing = this.#state.database(database);
      if (existing === undefined) this.#assertNotDeleted(database);
      else if (
        existing.tables.has(table) ||
        this.#state.deleted.table(existing.id, table) !== undefined
      ) {
        throw new ResourceExists({ resource: table });
      }
      const draft = this.#draftTable(definition);
      return this.#change(database, undefined, [draft]);
    });
    const created = after.tables.get(table);
    invariant(created !== undefined, 'a created table shows in its database');
    return created;
  }

  #draftTable(definition: Parameters<RelationalCatalog['createTable']>[0]): TableDraft {
    const { limits } = this.#needs;
    const draft = new TableDraft(definition.table, undefined, limits);
    const columns: readonly NewColumn[] = [
      ...definition.tags.map((name): NewColumn => ({ name, kind: 'tag' })),
      ...definition.fields.map(({ name, type }): NewColumn => ({ name, kind: type })),
    ];
    for (const { name, kind } of columns) {
      if (name === '') throw new TableDefinitionInvalid('column name cannot be empty');
      const refusal = draft.require(name, kind);
      if (refusal?.isLimit === true) throw new SchemaLimitReached(refusal.message);
      if (refusal !== undefined) throw new TableDefinitionInvalid(refusal.message);
    }
    draft.keepRow();
    if (this.#state.tableCount >= limits.tableCount) {
      throw new SchemaLimitReached(
        tableLimitMessage({ tableCount: this.#state.tableCount, limit: limits.tableCount }),
      );
    }
    return draft;
  }

  admit(request: AdmitRequest): Admission | Promise<Admission> {
    if (request.database === INTERNAL_DATABASE && request.isOwn !== true) {
      throw new InternalDatabase();
    }
    if (this.#changes.isBusy(request.database)) {
      // The parser's known tag sets may be just those whose columns are still on their way.
      const known = this.#admitKnown(request, true);
      if (known !== undefined) return known;
    }
    return this.#changes.run(
      request.database,
      () => this.#admitKnown(request, false) ?? this.#admitByRow(request),
    );
  }

  #admitKnown(request: AdmitRequest, isChanging: boolean): Admission | undefined {
    const database = this.#state.database(request.database);
    if (database === undefined) return undefined;
    const isDoubtful = (table: string) => isChanging || this.#doubtful.has(database.name, table);
    const tables = admitKnown(database, request.tables, request.seriesOf, isDoubtful);
    return tables === undefined ? undefined : { database, tables };
  }

  #admitByRow(request: AdmitRequest): Admission | Promise<Admission> {
    const database = this.#state.database(request.database);
    if (database === undefined) this.#assertNotDeleted(request.database);
    const checked = checkRows({
      database,
      isDeleted: (table) =>
        database !== undefined && this.#state.deleted.table(database.id, table) !== undefined,
      tables: request.tables,
      seriesOf: request.seriesOf,
      limits: this.#needs.limits,
      tableCount: this.#state.tableCount,
    });
    const hasRefusals =
      request.alreadyRefused.length > 0 || checked.some((table) => table.refusals.length > 0);
    if (request.allOrNothing && hasRefusals) return this.#conclude(request, checked, database);
    const drafts = checked
      .filter((table) => table.mayExist && table.draft.hasChanges)
      .map((table) => table.draft);
    if (database !== undefined && drafts.length === 0) {
      return this.#conclude(request, checked, database);
    }
    return this.#change(request.database, undefined, drafts).then(
      (after) => this.#conclude(request, checked, after),
      (error: unknown) => {
        this.#conclude(request, checked, database);
        throw error;
      },
    );
  }

  /** Also notes the tag sets that the parser knows from here on and the schema does not. */
  #conclude(
    request: AdmitRequest,
    checked: readonly CheckedTable[],
    database: DatabaseSchema | undefined,
  ): Admission {
    const tables = checked.map(({ parsed, refusals }) => {
      const schema = database?.tables.get(parsed.table);
      if (schema === undefined || !hasNewTags(schema, parsed)) {
        this.#doubtful.add(request.database, parsed.table);
      }
      return { parsed, schema, refusals };
    });
    return { database, tables };
  }

  /**
   * Makes the drafts durable, then visible; creates the database when it is absent. The caller holds the queue of
   * the database.
   */
  async #change(
    name: string,
    retentionNs: bigint | undefined,
    drafts: readonly TableDraft[],
  ): Promise<DatabaseSchema> {
    const { limits, store, clock } = this.#needs;
    const existing = this.#state.database(name);
    if (existing === undefined && this.#state.databaseCount >= limits.databaseCount) {
      throw new DatabaseLimitReached({ limit: limits.databaseCount });
    }
    const database = existing ?? this.#newDatabase(name, retentionNs);
    const changes = drafts.map((draft) => this.#grow(database, draft));
    const isOwn = name === INTERNAL_DATABASE;
    const newTableCount = isOwn ? 0 : changes.filter(({ before }) => before === undefined).length;
    this.#state.tableCount += newTableCount;
    if (existing === undefined) this.#state.databaseCount++;
    try {
      await store.transaction<CatalogTables, void>(async (tx) => {
        await writeChange(tx, {
          createdMs: clock.nowMs(),
          newDatabase: existing === undefined ? database : undefined,
          tables: changes,
        });
        if (isOwn) return;
        if (existing === undefined) await this.#events.database(tx, 'created', database);
        for (const { before, after } of changes) {
          if (before !== undefined) continue;
          await this.#events.table(tx, 'created', { database, table: after.schema.name });
        }
      });
    } catch (error) {
      this.#state.tableCount -= newTableCount;
      if (existing === undefined) this.#state.databaseCount--;
      throw error;
    }
    return this.#state.show(
      database,
      changes.map((change) => change.after),
    );
  }

  #newDatabase(name: string, retentionNs: bigint | undefined): DatabaseSchema {
    return {
      id: this.#nextDatabaseId++,
      uuid: this.#needs.random.uuidV7(),
      name,
      retentionNs,
      tables: new Map(),
    };
  }

  #grow(database: DatabaseSchema, draft: TableDraft): TableChange {
    const before = draft.base;
    const entry = before === undefined ? undefined : this.#state.table(before.id);
    return { before, after: growTable(entry ?? this.#newTable(database, draft.name), draft.added) };
  }

  #newTable(database: DatabaseSchema, name: string): TableEntry {
    const { random } = this.#needs;
    return newTable({
      id: this.#nextTableId++,
      uuid: random.uuidV7(),
      databaseId: database.id,
      name,
      seriesSeed: Buffer.from(random.bytes(8)).readBigUInt64LE(),
    });
  }

  #assertNotDeleted(name: string): void {
    if (this.#state.deleted.database(name) !== undefined) {
      throw new DatabaseDeleted({ database: name });
    }
  }

  /** Parsers know tag sets of these names that the schema of a later table need not have. */
  #tablesLeft(tables: readonly LeftTable[]): void {
    for (const { database, table } of tables) this.#doubtful.add(database, table);
    for (const listener of this.#onLeft) listener(tables);
  }

  /** First start with this store. */
  async #initialize(): Promise<void> {
    const internal = this.#newDatabase(INTERNAL_DATABASE, INTERNAL_RETENTION_NS);
    await this.#needs.store.transaction<CatalogTables, void>(async (tx) => {
      await writeIdentity(tx, { clusterUuid: this.clusterUuid, nodeUuid: this.nodeUuid });
      await writeChange(tx, {
        createdMs: this.#needs.clock.nowMs(),
        newDatabase: internal,
        tables: [],
      });
    });
    this.#state.show(internal, []);
  }
}

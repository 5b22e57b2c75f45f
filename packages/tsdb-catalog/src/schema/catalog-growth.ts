import { setImmediate } from 'node:timers/promises';
import type { Clock, Random, RelationalStore } from '@plinth/kernel';
import { type CatalogLimits, WRITER_SHARE } from '@plinth/tsdb-model/database/limits.js';
import {
  databaseOfPolicy,
  findNewDatabaseFault,
  INTERNAL_DATABASE,
} from '@plinth/tsdb-model/database/names.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { DatabaseSchema, IntegerFields } from '@plinth/tsdb-model/schema.js';
import type { Transaction } from 'kysely';
import type { CatalogEvents } from '../catalog-events.js';
import type { CatalogState } from '../catalog-state.js';
import type { CatalogChanges } from '../records/catalog-changes.js';
import type { CatalogTables } from '../records/catalog-tables.js';
import type { CatalogContent } from '../records/read-catalog.js';
import {
  type CatalogChange,
  hasChange,
  type TableChange,
  writeChange,
  writeIdentity,
} from '../records/write-catalog.js';
import { growTable, newTable, type TableEntry } from './grow-table.js';
import type { TableDraft } from './table-draft.js';

/** After this many tables, which take several milliseconds, a change yields to the event loop. */
const TABLES_PER_TICK = 256;
const INTERNAL_RETENTION_NS = 7n * 86_400n * 1_000_000_000n;

export interface CatalogGrowthDeps {
  readonly state: CatalogState;
  readonly store: RelationalStore;
  readonly events: CatalogEvents;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: CatalogLimits;
  /** Serializes the changes to each database. */
  readonly changes: CatalogChanges;
}

/** Creates databases, tables and columns: durable first, then visible. */
export class CatalogGrowth {
  readonly #deps: CatalogGrowthDeps;
  readonly #state: CatalogState;
  #nextDatabaseId: number;
  #nextTableId: number;

  constructor(deps: CatalogGrowthDeps, content: CatalogContent) {
    this.#deps = deps;
    this.#state = deps.state;
    this.#nextDatabaseId = content.nextDatabaseId;
    this.#nextTableId = content.nextTableId;
  }

  /** Whether, according to the catalog, a table may ever have had this id. */
  mayHaveAssignedTableId(id: number): boolean {
    return id < this.#nextTableId;
  }

  /** Ensures that new tables receive greater ids. */
  reserveTableIdsUpTo(id: number): void {
    this.#nextTableId = Math.max(this.#nextTableId, id + 1);
  }

  /** Called when the server first starts with this store. */
  async initialize(identity: Parameters<typeof writeIdentity>[1]): Promise<void> {
    const internal = this.#newDatabase(INTERNAL_DATABASE, INTERNAL_RETENTION_NS);
    await this.#deps.store.transaction<CatalogTables, void>(async (tx) => {
      await writeIdentity(tx, identity);
      await writeChange(tx, {
        createdMs: this.#deps.clock.nowMs(),
        newDatabase: internal,
        tables: [],
      });
    });
    this.#state.show(internal, []);
  }

  /**
   * Makes the drafts durable, then visible. Creates the database if it does not exist, and before
   * it the database of a policy. The caller must hold the queue of the database. Throws
   * `database_name_invalid`.
   */
  async change(
    name: string,
    retentionNs: bigint | undefined,
    drafts: readonly TableDraft[],
    options: {
      readonly isLimited?: boolean | undefined;
      /** Applies to a new database. */
      readonly integerFields?: IntegerFields | undefined;
    } = {},
  ): Promise<DatabaseSchema> {
    const { store, clock } = this.#deps;
    const { isLimited = false, integerFields } = options;
    const existing = this.#state.database(name);
    if (existing === undefined) {
      const fault = findNewDatabaseFault(name);
      if (fault !== undefined) throw tsdbError('database_name_invalid', fault);
      this.#assertRoomFor(name, isLimited);
      await this.ensureDatabaseOfPolicy(name);
      this.#assertRoomFor(name, isLimited); // other databases may have been created in the meantime
    }
    const database = existing ?? this.#newDatabase(name, retentionNs, integerFields);
    const isInternal = name === INTERNAL_DATABASE;
    const newTableCount = isInternal ? 0 : drafts.filter(({ base }) => base === undefined).length;
    this.#state.tableCount += newTableCount;
    if (existing === undefined) this.#state.databaseCount++;
    const uncommitted = { database: name, isNewDatabase: existing === undefined, newTableCount };
    this.#state.uncommitted.add(uncommitted);
    const changes: TableChange[] = [];
    for (const draft of drafts) {
      changes.push(this.#grow(database, draft));
      if (changes.length % TABLES_PER_TICK === 0) await setImmediate();
    }
    const change: CatalogChange = {
      createdMs: clock.nowMs(),
      newDatabase: existing === undefined ? database : undefined,
      tables: changes,
    };
    let shown = database;
    await this.#deps.changes.commit([name], {
      runTransaction: () =>
        store.transaction<CatalogTables, void>(async (tx) => {
          await writeChange(tx, change);
          if (!isInternal) await this.#report(tx, change, database);
        }),
      wasCommitted: () => hasChange(store.reader<CatalogTables>(), change),
      applyCommitted: () => {
        this.#state.uncommitted.delete(uncommitted);
        shown = this.#state.show(
          database,
          changes.map(({ after }) => after),
        );
      },
      abandon: () => {
        this.#state.uncommitted.delete(uncommitted);
        this.#state.tableCount -= newTableCount;
        if (existing === undefined) this.#state.databaseCount--;
      },
    });
    return shown;
  }

  #assertRoomFor(name: string, isLimited: boolean): void {
    const all = this.#deps.limits.databaseCount;
    const limit = isLimited ? Math.floor(all * WRITER_SHARE.all) : all;
    // A policy is not created if it or its database exceeds the limit.
    const database = databaseOfPolicy(name);
    const count = database === undefined || this.#state.database(database) !== undefined ? 1 : 2;
    if (this.#state.databaseCount + count > limit) {
      throw tsdbError('database_limit_reached', { limit });
    }
    const policyLimit = Math.floor(all * WRITER_SHARE.policiesOfDatabase);
    if (isLimited && database !== undefined && this.#state.policyCountOf(database) >= policyLimit) {
      throw tsdbError('policy_limit_reached', { database, limit: policyLimit });
    }
  }

  /** No other code acquires the queues of a database and of its policy in the opposite order. */
  async ensureDatabaseOfPolicy(policy: string): Promise<void> {
    const database = databaseOfPolicy(policy);
    if (database === undefined || this.#state.database(database) !== undefined) return;
    await this.#deps.changes.run(database, async () => {
      if (this.#state.database(database) === undefined) await this.change(database, undefined, []);
    });
  }

  async #report(
    tx: Transaction<CatalogTables>,
    { newDatabase, tables }: CatalogChange,
    database: DatabaseSchema,
  ): Promise<void> {
    const { events } = this.#deps;
    if (newDatabase !== undefined) await events.database(tx, 'created', newDatabase);
    const made = tables.filter(({ before }) => before === undefined);
    const names = made.map(({ after }) => after.schema.name);
    await events.tables(tx, 'created', { database, tables: names });
  }

  #newDatabase(
    name: string,
    retentionNs: bigint | undefined,
    integerFields?: IntegerFields,
  ): DatabaseSchema {
    return {
      id: this.#nextDatabaseId++,
      uuid: this.#deps.random.uuidV7(),
      name,
      retentionNs,
      ...(integerFields === 'float' && { integerFields }),
      tables: new Map(),
    };
  }

  #grow(database: DatabaseSchema, draft: TableDraft): TableChange {
    const before = draft.base;
    const entry = before === undefined ? undefined : this.#state.table(before.id);
    return { before, after: growTable(entry ?? this.#newTable(database, draft.name), draft.added) };
  }

  #newTable(database: DatabaseSchema, name: string): TableEntry {
    const { random } = this.#deps;
    return newTable({
      id: this.#nextTableId++,
      uuid: random.uuidV7(),
      databaseId: database.id,
      name,
      seriesSeed: Buffer.from(random.bytes(8)).readBigUInt64LE(),
    });
  }
}

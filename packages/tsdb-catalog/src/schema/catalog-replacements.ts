import type { Clock, RelationalStore } from '@plinth/kernel';
import { invariant } from '@plinth/kernel';
import { MAX_INT64 } from '@plinth/tsdb-model/columns/int64.js';
import type { CatalogLimits } from '@plinth/tsdb-model/database/limits.js';
import { INTERNAL_DATABASE, isStagedName, stagedName } from '@plinth/tsdb-model/database/names.js';
import { tableNotKnown } from '@plinth/tsdb-model/errors.js';
import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';
import type { Transaction } from 'kysely';
import type { CatalogState } from '../catalog-state.js';
import type { RemovedTable } from '../deletion/catalog-deletions.js';
import { type DeletedTable, deletedTable } from '../deletion/deleted-resources.js';
import { isTableDeletedAs, writeDeletedTable } from '../deletion/deletion-records.js';
import type { CatalogChanges } from '../records/catalog-changes.js';
import type { CatalogTables } from '../records/catalog-tables.js';
import { writeFormerNames, writeMovedTable } from '../records/rename-records.js';
import type { CatalogGrowth } from './catalog-growth.js';
import { draftTable, type TableDefinition } from './draft-table.js';

/**
 * No row is older than this: the staged copy of a table keeps its rows until it replaces the table.
 */
const KEEP_ALL_NS = MAX_INT64;

type StagedDefinition = Pick<TableDefinition, 'tags' | 'fields'>;

/** A table that replaced another one under the same name. */
export interface Replacement {
  readonly before: TableSchema;
  readonly after: TableSchema;
}

/** Objects that refer to a table by id and are updated when it is replaced. */
export interface ReplacementFollower {
  write<DB>(tx: Transaction<DB>, replacement: Replacement): Promise<void>;
  /** Called in the tick in which the replacement becomes visible. */
  applyCommitted(replacement: Replacement): void;
}

interface Deps {
  readonly state: CatalogState;
  readonly store: RelationalStore;
  readonly clock: Clock;
  readonly limits: CatalogLimits;
  readonly changes: CatalogChanges;
  readonly growth: CatalogGrowth;
  /** Delay until the data of the replaced table is removed. */
  readonly defaultMs: number;
  readonly onRemoved: (tables: readonly RemovedTable[]) => void;
  readonly onRenamed: (table: TableSchema) => void;
}

/**
 * Replaces a table by a converted copy, which is staged in the internal database. One transaction
 * gives the copy the name of the table and deletes the table, which can be restored.
 */
export class CatalogReplacements {
  readonly #deps: Deps;
  readonly #followers: ReplacementFollower[] = [];

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  follow(follower: ReplacementFollower): void {
    this.#followers.push(follower);
  }

  /** Staged copies; those that exist at startup are left over from a crash. */
  staged(): readonly TableSchema[] {
    const { tables } = this.#internal();
    return [...tables.values()].filter(({ name }) => isStagedName(name));
  }

  /**
   * Creates the copy of a table, without rows. A rename in progress is finished first.
   * Throws `table_not_known`, and the errors of `definitionOf`.
   * @param definitionOf returns the columns of the copy of the current table.
   */
  async stage(
    original: TableSchema,
    definitionOf: (present: TableSchema) => StagedDefinition,
  ): Promise<TableSchema> {
    const { changes, state } = this.#deps;
    const name = state.databaseById(original.databaseId)?.name ?? '';
    return await changes.run(name, async () => {
      const present = state.table(original.id);
      if (present === undefined) throw tableNotKnown({ name }, original.name);
      return await this.#stage(stagedName(original.id), definitionOf(present.schema));
    });
  }

  async #stage(table: string, definition: StagedDefinition): Promise<TableSchema> {
    const { changes, growth, limits, state, store } = this.#deps;
    const leftOver = this.#internal().tables.get(table);
    if (leftOver !== undefined) await this.discard(leftOver);
    return await changes.run(INTERNAL_DATABASE, async () => {
      const draft = draftTable({ ...definition, database: INTERNAL_DATABASE, table }, limits);
      const after = await growth.change(INTERNAL_DATABASE, undefined, [draft]);
      const created = after.tables.get(table);
      const entry = created && state.table(created.id);
      invariant(entry !== undefined, 'the staged table is missing');
      await store.transaction<CatalogTables, void>(async (tx) => {
        await tx
          .updateTable('tsdb_tables')
          .set({ retention_ns: String(KEEP_ALL_NS) })
          .where('id', '=', entry.schema.id)
          .execute();
      });
      const changed = { ...entry, schema: { ...entry.schema, retentionNs: KEEP_ALL_NS } };
      state.show(this.#internal(), [changed]);
      return changed.schema;
    });
  }

  /** Removes a staged copy with its rows. */
  async discard(staged: TableSchema): Promise<void> {
    const { changes, state, onRemoved } = this.#deps;
    await changes.run(INTERNAL_DATABASE, async () => {
      const entry = state.table(staged.id);
      // A completed replacement has moved it to the database of the original.
      if (entry === undefined || entry.schema.databaseId !== this.#internal().id) return;
      const nowMs = this.#deps.clock.nowMs();
      const deleted = deletedTable(entry, {
        ...{ database: this.#internal(), deleted: state.deleted },
        ...{ deletedMs: nowMs, hardDeleteMs: nowMs, withDatabase: false },
      });
      await this.#commit([INTERNAL_DATABASE], deleted, {
        write: async () => undefined,
        applyCommitted: () => {
          state.hideTable(this.#internal(), deleted);
          onRemoved([{ id: staged.id, database: INTERNAL_DATABASE, table: staged.name }]);
        },
      });
    });
  }

  /**
   * Replaces the table. The caller excludes writes to its database. Throws `table_not_known` if it
   * was deleted.
   */
  async replace(original: TableSchema, staged: TableSchema): Promise<TableSchema> {
    const { changes, state } = this.#deps;
    const name = state.databaseById(original.databaseId)?.name ?? '';
    return await changes.run(name, () =>
      changes.run(INTERNAL_DATABASE, () => this.#replace(original, staged)),
    );
  }

  async #replace(original: TableSchema, staged: TableSchema): Promise<TableSchema> {
    const { state, clock, defaultMs, onRemoved, onRenamed } = this.#deps;
    const [entry, copy] = [state.table(original.id), state.table(staged.id)];
    const database = state.databaseById(original.databaseId);
    if (database === undefined || entry === undefined || copy === undefined)
      throw tableNotKnown({ name: database?.name ?? '' }, original.name);
    const before = entry.schema;
    const after = successor(before, copy.schema);
    const replacement = { before, after };
    const nowMs = clock.nowMs();
    const deleted = deletedTable(entry, {
      ...{ database, deleted: state.deleted },
      ...{ deletedMs: nowMs, hardDeleteMs: nowMs + defaultMs, withDatabase: false },
    });
    await this.#commit([database.name, INTERNAL_DATABASE], deleted, {
      write: async (tx) => {
        await writeMovedTable(tx, after);
        await writeFormerNames(tx, after);
        for (const each of this.#followers) await each.write(tx, replacement);
      },
      applyCommitted: () => {
        const internal = this.#internal();
        const others = new Map(internal.tables);
        others.delete(copy.schema.name);
        state.show({ ...internal, tables: others }, []);
        state.hideTable(state.databaseById(database.id) ?? database, deleted);
        const present = state.databaseById(database.id) ?? database;
        state.show(present, [{ ...copy, schema: after }]);
        state.tableCount++; // the copy was not counted before
        onRenamed(after);
        for (const each of this.#followers) each.applyCommitted(replacement);
        onRemoved([{ id: before.id, database: database.name, table: before.name }]);
      },
    });
    return after;
  }

  async #commit(
    databases: readonly string[],
    deleted: DeletedTable,
    change: {
      readonly write: (tx: Transaction<CatalogTables>) => Promise<void>;
      readonly applyCommitted: () => void;
    },
  ): Promise<void> {
    const { store, changes } = this.#deps;
    await changes.commit(databases, {
      runTransaction: () =>
        store.transaction<CatalogTables, void>(async (tx) => {
          await writeDeletedTable(tx, deleted);
          await change.write(tx);
        }),
      wasCommitted: () => isTableDeletedAs(store.reader<CatalogTables>(), deleted),
      applyCommitted: change.applyCommitted,
      abandon: () => undefined,
    });
  }

  #internal(): DatabaseSchema {
    const internal = this.#deps.state.database(INTERNAL_DATABASE);
    invariant(internal !== undefined, 'the internal database always exists');
    return internal;
  }
}

/** Returns the copy with all properties of the table except its columns. */
function successor(before: TableSchema, copy: TableSchema): TableSchema {
  const { retentionNs: _, ...others } = copy;
  const { name, databaseId, retentionNs, formerNames } = before;
  const former = [...(before.formerColumns ?? [])].filter(([, present]) =>
    copy.columns.has(present),
  );
  return {
    ...others,
    ...{ name, databaseId, version: copy.version + 1 },
    ...(retentionNs !== undefined && { retentionNs }),
    ...(formerNames && { formerNames }),
    ...(former.length > 0 && { formerColumns: new Map(former) }),
  };
}

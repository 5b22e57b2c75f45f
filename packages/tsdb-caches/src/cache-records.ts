import type { Migration, RelationalStore } from '@plinth/kernel';
import { fromStoredName, toStoredName } from '@plinth/tsdb-catalog/schema/stored-name.js';
import type { Transaction } from 'kysely';
import type { CacheDefinition } from './cache-definitions.js';

interface CacheRow {
  kind: CacheDefinition['kind'];
  id: number;
  table_id: number;
  name: string;
  /** The remaining properties of the definition, as JSON. */
  definition: string;
}

interface CacheTables {
  tsdb_caches: CacheRow;
}

export const CACHE_MIGRATIONS: readonly Migration[] = [
  {
    name: '0001_caches',
    async up(tx) {
      await tx.schema
        .createTable('tsdb_caches')
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('id', 'integer', (column) => column.notNull())
        .addColumn('table_id', 'integer', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('definition', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('tsdb_caches_key', ['kind', 'id'])
        .addUniqueConstraint('tsdb_caches_name', ['kind', 'table_id', 'name'])
        .execute();
    },
  },
];

/**
 * Cache definitions in the relational store. The contents are rebuilt from the rows at startup.
 */
export class CacheRecords {
  readonly #store: RelationalStore;

  constructor(store: RelationalStore) {
    this.#store = store;
  }

  async load(): Promise<readonly CacheDefinition[]> {
    const rows = await this.#store
      .reader<CacheTables>()
      .selectFrom('tsdb_caches')
      .selectAll()
      .execute();
    return rows.map((row) => ({
      ...(JSON.parse(row.definition) as CacheDefinition), // written by `add`
      kind: row.kind as never, // stored from the same definition
      id: row.id,
      tableId: row.table_id,
      name: fromStoredName(row.name),
    }));
  }

  async add({ kind, id, tableId, name, ...rest }: CacheDefinition): Promise<void> {
    await this.#store.transaction<CacheTables, void>(async (tx) => {
      await tx
        .insertInto('tsdb_caches')
        .values({
          kind,
          id,
          table_id: tableId,
          name: toStoredName(name),
          definition: JSON.stringify(rest),
        })
        .execute();
    });
  }

  /** Changes the tables and columns of caches, or removes them, in the transaction of the table. */
  async replace<DB>(
    transaction: Transaction<DB>,
    changed: {
      readonly retained: readonly CacheDefinition[];
      readonly dropped: readonly CacheDefinition[];
    },
  ): Promise<void> {
    const tx = transaction as unknown as Transaction<CacheTables>; // can change every table
    for (const { kind, id } of changed.dropped) {
      await tx.deleteFrom('tsdb_caches').where('kind', '=', kind).where('id', '=', id).execute();
    }
    for (const { kind, id, tableId, name: _, ...rest } of changed.retained) {
      await tx
        .updateTable('tsdb_caches')
        .set({ table_id: tableId, definition: JSON.stringify(rest) })
        .where('kind', '=', kind)
        .where('id', '=', id)
        .execute();
    }
  }

  async remove({ kind, id }: Pick<CacheDefinition, 'kind' | 'id'>): Promise<void> {
    await this.#store.transaction<CacheTables, void>(async (tx) => {
      await tx.deleteFrom('tsdb_caches').where('kind', '=', kind).where('id', '=', id).execute();
    });
  }

  async removeOfTables(tableIds: readonly number[]): Promise<void> {
    await this.#store.transaction<CacheTables, void>(async (tx) => {
      for (const tableId of tableIds) {
        await tx.deleteFrom('tsdb_caches').where('table_id', '=', tableId).execute();
      }
    });
  }
}

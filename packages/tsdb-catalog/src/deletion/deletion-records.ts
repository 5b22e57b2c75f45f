import { grouped } from '@plinth/tsdb-model/grouped.js';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { CatalogTables } from '../records/catalog-tables.js';
import { toStoredName } from '../schema/stored-name.js';
import type { DeletedDatabase, DeletedTable } from './deleted-resources.js';

/** Ids per statement, because the number of bound values is limited. */
const IDS_PER_STATEMENT = 1000;

type Tx = Transaction<CatalogTables>;

export async function writeDeletedDatabase(tx: Tx, database: DeletedDatabase): Promise<void> {
  await tx
    .updateTable('tsdb_databases')
    .set({
      name: database.schema.name,
      original_name: database.originalName,
      deleted_ms: database.deletedMs,
      hard_delete_ms: database.hardDeleteMs ?? null,
    })
    .where('id', '=', database.schema.id)
    .execute();
}

export async function writeDeletedTable(tx: Tx, table: DeletedTable): Promise<void> {
  await tx
    .updateTable('tsdb_tables')
    .set({
      name: toStoredName(table.entry.schema.name),
      original_name: toStoredName(table.originalName),
      deleted_ms: table.deletedMs,
      hard_delete_ms: table.hardDeleteMs ?? null,
      deleted_with_database: table.withDatabase ? 1 : 0,
    })
    .where('id', '=', table.entry.schema.id)
    .execute();
}

/**
 * Renames the tables of a deleted database; nearly all receive the same suffix, which a single statement can append.
 */
export async function writeDeletedTables(tx: Tx, tables: readonly DeletedTable[]): Promise<void> {
  const endingOf = ({ entry, originalName }: DeletedTable): string =>
    entry.schema.name.slice(originalName.length);
  for (const [ending, alike] of grouped(tables, endingOf)) {
    const ids = alike.map(({ entry }) => entry.schema.id);
    for (const piece of inPieces(ids)) {
      await tx
        .updateTable('tsdb_tables')
        .set({
          name: sql<string>`name || ${ending}`,
          original_name: sql<string>`name`,
          deleted_ms: alike[0]?.deletedMs ?? null,
          hard_delete_ms: null,
          deleted_with_database: 1,
        })
        .where('id', 'in', piece)
        .execute();
    }
  }
}

/** Whether the changes of `writeDeletedDatabase` are stored. */
export async function isDatabaseDeletedAs(
  reader: Kysely<CatalogTables>,
  { schema, hardDeleteMs }: DeletedDatabase,
): Promise<boolean> {
  const found = reader
    .selectFrom('tsdb_databases')
    .select(['name', 'hard_delete_ms'])
    .where('id', '=', schema.id);
  const row = await found.executeTakeFirst();
  return row?.name === schema.name && toMs(row.hard_delete_ms) === hardDeleteMs;
}

/** Whether the changes of `writeDeletedTable` are stored. */
export async function isTableDeletedAs(
  reader: Kysely<CatalogTables>,
  { entry: { schema }, hardDeleteMs }: DeletedTable,
): Promise<boolean> {
  const found = reader
    .selectFrom('tsdb_tables')
    .select(['name', 'hard_delete_ms'])
    .where('id', '=', schema.id);
  const row = await found.executeTakeFirst();
  return row?.name === toStoredName(schema.name) && toMs(row.hard_delete_ms) === hardDeleteMs;
}

/** Whether the changes of `restoreDatabase` are stored. */
export async function isDatabaseRestored(
  reader: Kysely<CatalogTables>,
  id: number,
): Promise<boolean> {
  const found = reader.selectFrom('tsdb_databases').select('deleted_ms').where('id', '=', id);
  return (await found.executeTakeFirst())?.deleted_ms === null;
}

/** Whether the changes of `restoreTable` are stored. */
export async function isTableRestored(reader: Kysely<CatalogTables>, id: number): Promise<boolean> {
  const found = reader.selectFrom('tsdb_tables').select('deleted_ms').where('id', '=', id);
  return (await found.executeTakeFirst())?.deleted_ms === null;
}

const toMs = (stored: number | null): number | undefined =>
  stored === null ? undefined : Number(stored);

export async function restoreDatabase(tx: Tx, id: number, name: string): Promise<void> {
  await tx
    .updateTable('tsdb_databases')
    .set({ name, original_name: null, deleted_ms: null, hard_delete_ms: null })
    .where('id', '=', id)
    .execute();
}

export async function restoreTable(tx: Tx, id: number, name: string): Promise<void> {
  await tx
    .updateTable('tsdb_tables')
    .set({
      name: toStoredName(name),
      original_name: null,
      deleted_ms: null,
      hard_delete_ms: null,
      deleted_with_database: 0,
    })
    .where('id', '=', id)
    .execute();
}

/** Marks the data of these databases and tables as removed. */
export async function writePurged(
  tx: Tx,
  purged: {
    readonly databaseIds: readonly number[];
    readonly tableIds: readonly number[];
    readonly nowMs: number;
  },
): Promise<void> {
  for (const ids of inPieces(purged.tableIds)) {
    await tx
      .updateTable('tsdb_tables')
      .set({ purged_ms: purged.nowMs })
      .where('id', 'in', ids)
      .execute();
  }
  for (const ids of inPieces(purged.databaseIds)) {
    await tx
      .updateTable('tsdb_databases')
      .set({ purged_ms: purged.nowMs })
      .where('id', 'in', ids)
      .execute();
  }
}

/** Removes all records of these databases and tables. */
export async function forgetPurged(
  tx: Tx,
  gone: { readonly databaseIds: readonly number[]; readonly tableIds: readonly number[] },
): Promise<void> {
  for (const ids of inPieces(gone.tableIds)) {
    await tx.deleteFrom('tsdb_columns').where('table_id', 'in', ids).execute();
    await tx.deleteFrom('tsdb_former_names').where('table_id', 'in', ids).execute();
    await tx.deleteFrom('tsdb_tables').where('id', 'in', ids).execute();
  }
  for (const ids of inPieces(gone.databaseIds)) {
    await tx.deleteFrom('tsdb_databases').where('id', 'in', ids).execute();
  }
}

function inPieces(ids: readonly number[]): number[][] {
  const pieces: number[][] = [];
  for (let from = 0; from < ids.length; from += IDS_PER_STATEMENT) {
    pieces.push(ids.slice(from, from + IDS_PER_STATEMENT));
  }
  return pieces;
}

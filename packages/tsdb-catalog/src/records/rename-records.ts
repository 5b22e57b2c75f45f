import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { Transaction } from 'kysely';
import { toStoredName } from '../schema/stored-name.js';
import type { CatalogTables } from './catalog-tables.js';
import { inParts } from './write-catalog.js';

type Tx = Transaction<CatalogTables>;

interface FormerName {
  readonly tableId: number;
  /** 0 for the table itself. */
  readonly columnId: number;
  readonly name: string;
}

export async function writeTableName(
  tx: Tx,
  { tableId, before, after }: { tableId: number; before: string; after: string },
): Promise<void> {
  await tx
    .updateTable('tsdb_tables')
    .set({ name: toStoredName(after) })
    .where('id', '=', tableId)
    .execute();
  await exchangeNames(tx, { tableId, columnId: 0, before, after });
}

export async function writeColumnName(
  tx: Tx,
  options: {
    readonly tableId: number;
    readonly columnId: number;
    readonly before: string;
    readonly after: string;
    readonly storedTagName: string | undefined;
  },
): Promise<void> {
  const storedTagName =
    options.storedTagName === undefined ? null : toStoredName(options.storedTagName);
  await tx
    .updateTable('tsdb_columns')
    .set({ name: toStoredName(options.after), tag_key: storedTagName })
    .where('table_id', '=', options.tableId)
    .where('id', '=', options.columnId)
    .execute();
  await exchangeNames(tx, options);
}

/** A name that is in use again stops being a former name. */
async function exchangeNames(
  tx: Tx,
  options: Omit<FormerName, 'name'> & { readonly before: string; readonly after: string },
): Promise<void> {
  const { tableId, columnId, before, after } = options;
  await deleteFormerName(tx, { tableId, columnId, name: after });
  await tx
    .insertInto('tsdb_former_names')
    .values({ table_id: tableId, column_id: columnId, name: toStoredName(before) })
    .execute();
}

export async function deleteFormerName(
  tx: Tx,
  { tableId, columnId, name }: FormerName,
): Promise<void> {
  await tx
    .deleteFrom('tsdb_former_names')
    .where('table_id', '=', tableId)
    .where('column_id', '=', columnId)
    .where('name', '=', toStoredName(name))
    .execute();
}

/** Writes the name, database, version and retention period of a table that replaces another one. */
export async function writeMovedTable(tx: Tx, table: TableSchema): Promise<void> {
  await tx
    .updateTable('tsdb_tables')
    .set({
      name: toStoredName(table.name),
      database_id: table.databaseId,
      version: table.version,
      retention_ns: table.retentionNs?.toString() ?? null,
    })
    .where('id', '=', table.id)
    .execute();
}

/** Writes all former names of a table that has none yet. */
export async function writeFormerNames(tx: Tx, table: TableSchema): Promise<void> {
  const own = (table.formerNames ?? []).map((name) => ({ column_id: 0, name }));
  const columns = [...(table.formerColumns ?? [])].flatMap(([name, present]) => {
    const id = table.columns.get(present)?.id;
    return id === undefined ? [] : [{ column_id: id, name }];
  });
  const rows = [...own, ...columns].map(({ column_id, name }) => ({
    ...{ table_id: table.id, column_id, name: toStoredName(name) },
  }));
  for (const some of inParts(rows)) await tx.insertInto('tsdb_former_names').values(some).execute();
}

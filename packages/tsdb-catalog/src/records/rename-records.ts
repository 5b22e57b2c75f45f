import type { Transaction } from 'kysely';
import { toStoredName } from '../schema/stored-name.js';
import type { CatalogTables } from './catalog-tables.js';

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
  of: {
    readonly tableId: number;
    readonly columnId: number;
    readonly before: string;
    readonly after: string;
    readonly tagKey: string | undefined;
  },
): Promise<void> {
  const tagKey = of.tagKey === undefined ? null : toStoredName(of.tagKey);
  await tx
    .updateTable('tsdb_columns')
    .set({ name: toStoredName(of.after), tag_key: tagKey })
    .where('table_id', '=', of.tableId)
    .where('id', '=', of.columnId)
    .execute();
  await exchangeNames(tx, of);
}

/** A name that is in use again is no longer a former name. */
async function exchangeNames(
  tx: Tx,
  of: Omit<FormerName, 'name'> & { readonly before: string; readonly after: string },
): Promise<void> {
  const { tableId, columnId, before, after } = of;
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

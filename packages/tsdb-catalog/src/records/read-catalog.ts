import { grouped } from '@plinth/tsdb-model/grouped.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import type { Kysely, Selectable } from 'kysely';
import type { DeletedDatabase, DeletedTable } from '../deletion/deleted-resources.js';
import { byName, type TableEntry } from '../schema/grow-table.js';
import { fromStoredName } from '../schema/stored-name.js';
import type { CatalogTables } from './catalog-tables.js';

export interface CatalogContent {
  readonly clusterUuid: string | undefined;
  readonly nodeUuid: string | undefined;
  readonly nextDatabaseId: number;
  readonly nextTableId: number;
  /** Active databases without their tables, and all active tables. */
  readonly databases: readonly DatabaseSchema[];
  readonly tables: readonly TableEntry[];
  readonly deletedDatabases: readonly DeletedDatabase[];
  readonly deletedTables: readonly DeletedTable[];
}

export async function readCatalog(reader: Kysely<CatalogTables>): Promise<CatalogContent> {
  const meta = new Map(
    (await reader.selectFrom('tsdb_meta').selectAll().execute()).map((row) => [row.key, row.value]),
  );
  const next = new Map(
    (await reader.selectFrom('tsdb_sequences').selectAll().execute()).map((row) => [
      row.name,
      row.next,
    ]),
  );
  return {
    clusterUuid: meta.get('cluster_uuid'),
    nodeUuid: meta.get('node_uuid'),
    nextDatabaseId: next.get('database') ?? 1,
    nextTableId: next.get('table') ?? 1,
    ...(await readDatabases(reader)),
    ...(await readTables(reader)),
  };
}

async function readDatabases(
  reader: Kysely<CatalogTables>,
): Promise<Pick<CatalogContent, 'databases' | 'deletedDatabases'>> {
  const databases: DatabaseSchema[] = [];
  const deletedDatabases: DeletedDatabase[] = [];
  for (const row of await reader.selectFrom('tsdb_databases').selectAll().execute()) {
    const schema: DatabaseSchema = {
      id: row.id,
      uuid: row.uuid,
      name: row.name,
      retentionNs: row.retention_ns === null ? undefined : BigInt(row.retention_ns),
      ...(row.default_policy !== null && { defaultPolicy: row.default_policy }),
      ...(row.shard_duration_ns !== null && { shardDurationNs: BigInt(row.shard_duration_ns) }),
      ...(row.integer_fields !== null && { integerFields: row.integer_fields }),
      tables: new Map(),
    };
    const deletion = deletionOf(row);
    if (deletion === undefined) databases.push(schema);
    else
      deletedDatabases.push({ schema, originalName: row.original_name ?? row.name, ...deletion });
  }
  return { databases, deletedDatabases };
}

/** Returns `undefined` for active rows. */
function deletionOf(row: {
  readonly deleted_ms: number | null;
  readonly hard_delete_ms: number | null;
  readonly purged_ms: number | null;
}): Pick<DeletedTable, 'deletedMs' | 'hardDeleteMs' | 'purgedMs'> | undefined {
  if (row.deleted_ms === null) return undefined;
  return {
    deletedMs: Number(row.deleted_ms),
    hardDeleteMs: row.hard_delete_ms === null ? undefined : Number(row.hard_delete_ms),
    purgedMs: row.purged_ms === null ? undefined : Number(row.purged_ms),
  };
}

async function readTables(
  reader: Kysely<CatalogTables>,
): Promise<Pick<CatalogContent, 'tables' | 'deletedTables'>> {
  const rows = await reader.selectFrom('tsdb_tables').selectAll().execute();
  const columnsOfTable = await readColumns(reader);
  const formerNamesOfTable = grouped(
    await reader.selectFrom('tsdb_former_names').selectAll().execute(),
    ({ table_id }) => table_id,
  );
  const tables: TableEntry[] = [];
  const deletedTables: DeletedTable[] = [];
  for (const row of rows) {
    const entry = toTableEntry(
      row,
      columnsOfTable.get(row.id) ?? [],
      formerNamesOfTable.get(row.id) ?? [],
    );
    const deletion = deletionOf(row);
    if (deletion === undefined) tables.push(entry);
    else {
      deletedTables.push({
        entry,
        originalName: fromStoredName(row.original_name ?? row.name),
        withDatabase: row.deleted_with_database === 1,
        ...deletion,
      });
    }
  }
  return { tables, deletedTables };
}

function toTableEntry(
  row: Selectable<CatalogTables['tsdb_tables']>,
  own: readonly ColumnRow[],
  former: readonly FormerNameRow[],
): TableEntry {
  const nameOf = new Map(own.map(({ id, name }) => [id, fromStoredName(name)]));
  const formerNames = former
    .filter(({ column_id }) => column_id === 0)
    .map(({ name }) => fromStoredName(name));
  const formerColumns = former.flatMap(({ column_id, name }): [string, string][] => {
    const present = nameOf.get(column_id);
    return present === undefined ? [] : [[fromStoredName(name), present]];
  });
  return {
    nextColumnId: row.next_column_id,
    schema: {
      id: row.id,
      uuid: row.uuid,
      databaseId: row.database_id,
      name: fromStoredName(row.name),
      columns: byName(
        own.map(({ id, name, kind, physical_name, tag_key }) => ({
          id,
          name: fromStoredName(name),
          kind,
          physicalName: physical_name,
          ...(tag_key !== null && { storedTagName: fromStoredName(tag_key) }),
        })),
      ),
      seriesKey: own
        .filter((column) => column.series_position !== null)
        .sort((a, b) => Number(a.series_position) - Number(b.series_position))
        .map((column) => fromStoredName(column.name)),
      seriesSeed: BigInt(row.series_seed),
      version: row.version,
      ...(row.retention_ns !== null && { retentionNs: BigInt(row.retention_ns) }),
      ...(formerNames.length > 0 && { formerNames }),
      ...(formerColumns.length > 0 && { formerColumns: new Map(formerColumns) }),
    },
  };
}

type ColumnRow = Selectable<CatalogTables['tsdb_columns']>;
type FormerNameRow = Selectable<CatalogTables['tsdb_former_names']>;

/** Limits the rows per statement. */
const COLUMNS_PER_PAGE = 50_000;

/** Columns by table, sorted by id. */
async function readColumns(
  reader: Kysely<CatalogTables>,
): Promise<ReadonlyMap<number, ColumnRow[]>> {
  const columnsOfTable = new Map<number, ColumnRow[]>();
  let last: ColumnRow | undefined;
  do {
    const after = last ?? { table_id: -1, id: -1 };
    const page = await reader
      .selectFrom('tsdb_columns')
      .selectAll()
      .where((where) =>
        where.or([
          where('table_id', '>', after.table_id),
          where.and([where('table_id', '=', after.table_id), where('id', '>', after.id)]),
        ]),
      )
      .orderBy('table_id')
      .orderBy('id')
      .limit(COLUMNS_PER_PAGE)
      .execute();
    for (const column of page) {
      const own = columnsOfTable.get(column.table_id);
      if (own === undefined) columnsOfTable.set(column.table_id, [column]);
      else own.push(column);
    }
    last = page.length === COLUMNS_PER_PAGE ? page.at(-1) : undefined;
  } while (last !== undefined);
  return columnsOfTable;
}

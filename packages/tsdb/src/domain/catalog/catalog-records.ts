import type { Kysely, Selectable, Transaction } from 'kysely';
import type { DatabaseSchema, TableSchema } from '../../model/schema.js';
import type { CatalogTables } from './catalog-tables.js';
import type { DeletedDatabase, DeletedTable } from './deleted-resources.js';
import type { TableEntry } from './grow-table.js';
import { byName } from './grow-table.js';
import { fromStoredName, toStoredName } from './stored-name.js';

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

/** What one change of the catalog leaves behind. */
export interface CatalogChange {
  readonly createdMs: number;
  readonly newDatabase: DatabaseSchema | undefined;
  readonly tables: readonly TableChange[];
}

export interface TableChange {
  /** `undefined`: the table is new. */
  readonly before: TableSchema | undefined;
  readonly after: TableEntry;
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
      tables: new Map(),
    };
    const deletion = deletionOf(row);
    if (deletion === undefined) databases.push(schema);
    else
      deletedDatabases.push({ schema, originalName: row.original_name ?? row.name, ...deletion });
  }
  return { databases, deletedDatabases };
}

/** `undefined`: it is active. */
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
  const tables: TableEntry[] = [];
  const deletedTables: DeletedTable[] = [];
  for (const row of rows) {
    const entry = toTableEntry(row, columnsOfTable.get(row.id) ?? []);
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
): TableEntry {
  return {
    nextColumnId: row.next_column_id,
    schema: {
      id: row.id,
      uuid: row.uuid,
      databaseId: row.database_id,
      name: fromStoredName(row.name),
      columns: byName(
        own.map(({ id, name, kind, physical_name }) => ({
          id,
          name: fromStoredName(name),
          kind,
          physicalName: physical_name,
        })),
      ),
      seriesKey: own
        .filter((column) => column.series_position !== null)
        .sort((a, b) => Number(a.series_position) - Number(b.series_position))
        .map((column) => fromStoredName(column.name)),
      seriesSeed: BigInt(row.series_seed),
      version: row.version,
      ...(row.retention_ns !== null && { retentionNs: BigInt(row.retention_ns) }),
    },
  };
}

type ColumnRow = Selectable<CatalogTables['tsdb_columns']>;

/** A statement may return a bounded number of rows only. */
const COLUMNS_PER_PAGE = 50_000;

/** Columns by table, those of one table in order of their ids. */
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

export async function writeChange(
  tx: Transaction<CatalogTables>,
  change: CatalogChange,
): Promise<void> {
  if (change.newDatabase !== undefined) {
    await insertDatabase(tx, change.newDatabase, change.createdMs);
  }
  for (const table of change.tables) await writeTable(tx, table, change.createdMs);
}

async function insertDatabase(
  tx: Transaction<CatalogTables>,
  database: DatabaseSchema,
  createdMs: number,
): Promise<void> {
  await tx
    .insertInto('tsdb_databases')
    .values({
      id: database.id,
      uuid: database.uuid,
      name: database.name,
      retention_ns: database.retentionNs?.toString() ?? null,
      created_ms: createdMs,
      deleted_ms: null,
      hard_delete_ms: null,
      original_name: null,
      purged_ms: null,
      default_policy: null,
      shard_duration_ns: null,
    })
    .execute();
  await keepAhead(tx, 'database', database.id);
}

async function writeTable(
  tx: Transaction<CatalogTables>,
  { before, after }: TableChange,
  createdMs: number,
): Promise<void> {
  const { schema, nextColumnId } = after;
  if (before === undefined) {
    await tx
      .insertInto('tsdb_tables')
      .values({
        id: schema.id,
        uuid: schema.uuid,
        database_id: schema.databaseId,
        name: toStoredName(schema.name),
        series_seed: schema.seriesSeed.toString(),
        version: schema.version,
        next_column_id: nextColumnId,
        created_ms: createdMs,
        deleted_ms: null,
        hard_delete_ms: null,
        original_name: null,
        purged_ms: null,
        deleted_with_database: 0,
        retention_ns: null,
      })
      .execute();
    await keepAhead(tx, 'table', schema.id);
  } else {
    await tx
      .updateTable('tsdb_tables')
      .set({ version: schema.version, next_column_id: nextColumnId })
      .where('id', '=', schema.id)
      .execute();
  }
  await insertColumns(tx, before, schema);
}

/** Statements have a limit of bound values (32,766 in SQLite). */
const COLUMNS_PER_STATEMENT = 1000;

async function insertColumns(
  tx: Transaction<CatalogTables>,
  before: TableSchema | undefined,
  after: TableSchema,
): Promise<void> {
  const seriesPositions = new Map(after.seriesKey.map((tag, position) => [tag, position]));
  const rows = [...after.columns.values()]
    .filter((column) => before?.columns.has(column.name) !== true)
    .map((column) => ({
      table_id: after.id,
      id: column.id,
      name: toStoredName(column.name),
      kind: column.kind,
      physical_name: column.physicalName,
      series_position: seriesPositions.get(column.name) ?? null,
    }));
  for (let from = 0; from < rows.length; from += COLUMNS_PER_STATEMENT) {
    await tx
      .insertInto('tsdb_columns')
      .values(rows.slice(from, from + COLUMNS_PER_STATEMENT))
      .execute();
  }
}

/** Changes of several databases may become durable in another order than their ids were given out. */
async function keepAhead(
  tx: Transaction<CatalogTables>,
  name: 'database' | 'table',
  usedId: number,
): Promise<void> {
  await tx
    .insertInto('tsdb_sequences')
    .values({ name, next: usedId + 1 })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ next: usedId + 1 })
        .where('tsdb_sequences.next', '<=', usedId),
    )
    .execute();
}

/** Writes what the node is called, once. */
export async function writeIdentity(
  tx: Transaction<CatalogTables>,
  identity: { readonly clusterUuid: string; readonly nodeUuid: string },
): Promise<void> {
  await tx
    .insertInto('tsdb_meta')
    .values([
      { key: 'cluster_uuid', value: identity.clusterUuid },
      { key: 'node_uuid', value: identity.nodeUuid },
    ])
    .execute();
}

export async function writeDatabaseRetention(
  tx: Transaction<CatalogTables>,
  id: number,
  retentionNs: bigint | undefined,
): Promise<void> {
  await tx
    .updateTable('tsdb_databases')
    .set({ retention_ns: retentionNs?.toString() ?? null })
    .where('id', '=', id)
    .execute();
}

export async function writeDefaultPolicy(
  tx: Transaction<CatalogTables>,
  id: number,
  policy: string | undefined,
): Promise<void> {
  await tx
    .updateTable('tsdb_databases')
    .set({ default_policy: policy ?? null })
    .where('id', '=', id)
    .execute();
}

export async function writeShardDuration(
  tx: Transaction<CatalogTables>,
  id: number,
  durationNs: bigint | undefined,
): Promise<void> {
  await tx
    .updateTable('tsdb_databases')
    .set({ shard_duration_ns: durationNs?.toString() ?? null })
    .where('id', '=', id)
    .execute();
}

export async function writeTableRetention(
  tx: Transaction<CatalogTables>,
  id: number,
  retentionNs: bigint | undefined,
): Promise<void> {
  await tx
    .updateTable('tsdb_tables')
    .set({ retention_ns: retentionNs?.toString() ?? null })
    .where('id', '=', id)
    .execute();
}

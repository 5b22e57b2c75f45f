import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';
import type { Kysely, Transaction, Updateable } from 'kysely';
import type { TableEntry } from '../schema/grow-table.js';
import { toStoredName } from '../schema/stored-name.js';
import type { CatalogTables } from './catalog-tables.js';

export interface CatalogChange {
  readonly createdMs: number;
  readonly newDatabase: DatabaseSchema | undefined;
  readonly tables: readonly TableChange[];
}

export interface TableChange {
  /** `undefined` if the table is new. */
  readonly before: TableSchema | undefined;
  readonly after: TableEntry;
}

export async function writeChange(
  tx: Transaction<CatalogTables>,
  change: CatalogChange,
): Promise<void> {
  if (change.newDatabase !== undefined) {
    await insertDatabase(tx, change.newDatabase, change.createdMs);
  }
  await writeTables(tx, change.tables, change.createdMs);
}

/** Whether the change is stored. It is atomic, so checking one part is enough. */
export async function hasChange(
  reader: Kysely<CatalogTables>,
  { newDatabase, tables }: CatalogChange,
): Promise<boolean> {
  if (newDatabase !== undefined) {
    const { uuid } = newDatabase;
    const found = reader.selectFrom('tsdb_databases').select('id').where('uuid', '=', uuid);
    return (await found.execute()).length > 0;
  }
  const schema = tables[0]?.after.schema;
  if (schema === undefined) return false; // the change is empty
  const found = reader
    .selectFrom('tsdb_tables')
    .select('id')
    .where('uuid', '=', schema.uuid)
    .where('version', '=', schema.version);
  return (await found.execute()).length > 0;
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
      integer_fields: database.integerFields === 'float' ? 'float' : null,
    })
    .execute();
  await keepAhead(tx, 'database', database.id);
}

async function writeTables(
  tx: Transaction<CatalogTables>,
  changes: readonly TableChange[],
  createdMs: number,
): Promise<void> {
  const made = changes.filter(({ before }) => before === undefined);
  const rows = made.map(({ after: { schema, nextColumnId } }) => ({
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
  }));
  for (const some of inParts(rows)) await tx.insertInto('tsdb_tables').values(some).execute();
  const last = rows.reduce((most, { id }) => Math.max(most, id), 0);
  if (rows.length > 0) await keepAhead(tx, 'table', last);
  for (const { before, after } of changes) {
    if (before === undefined) continue;
    await tx
      .updateTable('tsdb_tables')
      .set({ version: after.schema.version, next_column_id: after.nextColumnId })
      .where('id', '=', after.schema.id)
      .execute();
  }
  for (const some of inParts(changes.flatMap(newColumns))) {
    await tx.insertInto('tsdb_columns').values(some).execute();
  }
}

/**
 * Statements have a limited number of bound values (32,766 in SQLite), and a large one blocks the
 * thread that builds it.
 */
const ROWS_PER_STATEMENT = 500;

export function* inParts<T>(rows: readonly T[]): Generator<T[], void> {
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) {
    yield rows.slice(from, from + ROWS_PER_STATEMENT);
  }
}

function newColumns({ before, after: { schema } }: TableChange) {
  const seriesPositions = new Map(schema.seriesKey.map((tag, position) => [tag, position]));
  return [...schema.columns.values()]
    .filter((column) => before?.columns.has(column.name) !== true)
    .map((column) => ({
      table_id: schema.id,
      id: column.id,
      name: toStoredName(column.name),
      kind: column.kind,
      physical_name: column.physicalName,
      series_position: seriesPositions.get(column.name) ?? null,
      tag_key: null,
    }));
}

/**
 * Changes of several databases may become durable in a different order than their ids were assigned.
 */
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

/** Writes the node's identity once. */
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

/** Writes the settings of a database and leaves its other columns unchanged. */
export async function writeDatabaseSettings(
  tx: Transaction<CatalogTables>,
  id: number,
  settings: Pick<
    Updateable<CatalogTables['tsdb_databases']>,
    'retention_ns' | 'default_policy' | 'shard_duration_ns' | 'integer_fields'
  >,
): Promise<void> {
  await tx.updateTable('tsdb_databases').set(settings).where('id', '=', id).execute();
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

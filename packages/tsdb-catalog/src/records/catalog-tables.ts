import type { Migration } from '@plinth/kernel';
import type { ColumnKind } from '@plinth/tsdb-model/columns/column.js';
import type { Transaction } from 'kysely';

/**
 * The catalog in the relational store. 64-bit numbers are decimal strings, because neither
 * JavaScript numbers nor every driver preserve them. Deleted databases and tables stay as rows
 * (renamed, with `deleted_ms`).
 */
export interface CatalogTables {
  tsdb_meta: { key: string; value: string };
  /** Next id of each sequence: ids are never reused. */
  tsdb_sequences: { name: string; next: number };
  tsdb_databases: {
    id: number;
    uuid: string;
    name: string;
    retention_ns: string | null;
    created_ms: number;
    deleted_ms: number | null;
    hard_delete_ms: number | null;
    /** Name before the deletion. */
    original_name: string | null;
    /** Set when its data was removed; the row stays for a grace period. */
    purged_ms: number | null;
    /** Retention policy for InfluxDB 1.x clients that do not specify a policy. */
    default_policy: string | null;
    /** Shard duration set by InfluxDB 1.x clients. */
    shard_duration_ns: string | null;
    /** `float` if new integer fields become float columns. */
    integer_fields: 'float' | null;
  };
  tsdb_tables: {
    id: number;
    uuid: string;
    database_id: number;
    name: string;
    series_seed: string;
    version: number;
    next_column_id: number;
    created_ms: number;
    deleted_ms: number | null;
    hard_delete_ms: number | null;
    original_name: string | null;
    purged_ms: number | null;
    /** 1 if it was deleted as part of its database. */
    deleted_with_database: number;
    retention_ns: string | null;
  };
  tsdb_columns: {
    table_id: number;
    id: number;
    name: string;
    kind: ColumnKind;
    physical_name: string;
    /** Position of a tag in the series key, from 0. */
    series_position: number | null;
    /** See `Column.storedTagName`. */
    tag_key: string | null;
  };
  /** Former names of renamed tables and columns. */
  tsdb_former_names: {
    table_id: number;
    /** 0 for the table itself. */
    column_id: number;
    name: string;
  };
}

/**
 * Other parts of the service have their own lists, each under its own name in
 * `RelationalStore.migrate`.
 */
export const CATALOG_MIGRATIONS: readonly Migration[] = [
  { name: '0001_catalog', up: createCatalog },
  { name: '0002_deletion', up: addDeletion },
  { name: '0003_default_policy', up: addDefaultPolicy },
  { name: '0004_shard_duration', up: addShardDuration },
  { name: '0005_integer_fields', up: addIntegerFields },
  { name: '0006_former_names', up: addFormerNames },
];

async function addFormerNames(tx: Transaction<unknown>): Promise<void> {
  await tx.schema.alterTable('tsdb_columns').addColumn('tag_key', 'text').execute();
  await tx.schema
    .createTable('tsdb_former_names')
    .addColumn('table_id', 'integer', (column) => column.notNull())
    .addColumn('column_id', 'integer', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('tsdb_former_names_key', ['table_id', 'column_id', 'name'])
    .execute();
}

async function addIntegerFields(tx: Transaction<unknown>): Promise<void> {
  await tx.schema.alterTable('tsdb_databases').addColumn('integer_fields', 'text').execute();
}

async function addShardDuration(tx: Transaction<unknown>): Promise<void> {
  await tx.schema.alterTable('tsdb_databases').addColumn('shard_duration_ns', 'text').execute();
}

async function addDefaultPolicy(tx: Transaction<unknown>): Promise<void> {
  await tx.schema.alterTable('tsdb_databases').addColumn('default_policy', 'text').execute();
}

async function addDeletion(tx: Transaction<unknown>): Promise<void> {
  for (const table of ['tsdb_databases', 'tsdb_tables']) {
    await tx.schema.alterTable(table).addColumn('original_name', 'text').execute();
    await tx.schema.alterTable(table).addColumn('purged_ms', 'bigint').execute();
  }
  await tx.schema
    .alterTable('tsdb_tables')
    .addColumn('deleted_with_database', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await tx.schema.alterTable('tsdb_tables').addColumn('retention_ns', 'text').execute();
}

async function createCatalog(tx: Transaction<unknown>): Promise<void> {
  await tx.schema
    .createTable('tsdb_meta')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('value', 'text', (column) => column.notNull())
    .execute();
  await tx.schema
    .createTable('tsdb_sequences')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('next', 'integer', (column) => column.notNull())
    .execute();
  await tx.schema
    .createTable('tsdb_databases')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('uuid', 'text', (column) => column.notNull().unique())
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('retention_ns', 'text')
    .addColumn('created_ms', 'bigint', (column) => column.notNull())
    .addColumn('deleted_ms', 'bigint')
    .addColumn('hard_delete_ms', 'bigint')
    .execute();
  await tx.schema
    .createTable('tsdb_tables')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('uuid', 'text', (column) => column.notNull().unique())
    .addColumn('database_id', 'integer', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('series_seed', 'text', (column) => column.notNull())
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('next_column_id', 'integer', (column) => column.notNull())
    .addColumn('created_ms', 'bigint', (column) => column.notNull())
    .addColumn('deleted_ms', 'bigint')
    .addColumn('hard_delete_ms', 'bigint')
    .addUniqueConstraint('tsdb_tables_name', ['database_id', 'name'])
    .execute();
  await tx.schema
    .createTable('tsdb_columns')
    .addColumn('table_id', 'integer', (column) => column.notNull())
    .addColumn('id', 'integer', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('physical_name', 'text', (column) => column.notNull())
    .addColumn('series_position', 'integer')
    .addPrimaryKeyConstraint('tsdb_columns_key', ['table_id', 'id'])
    .addUniqueConstraint('tsdb_columns_name', ['table_id', 'name'])
    .execute();
}

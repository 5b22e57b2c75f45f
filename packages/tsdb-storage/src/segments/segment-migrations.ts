import type { Migration } from '@plinth/kernel';

/** Tables of `SegmentRegistry`. */
export const SEGMENT_MIGRATIONS: readonly Migration[] = [
  {
    name: '0001_segments',
    async up(tx) {
      await tx.schema
        .createTable('tsdb_segments')
        .addColumn('id', 'text', (c) => c.primaryKey())
        .addColumn('table_id', 'integer', (c) => c.notNull())
        .addColumn('object_name', 'text', (c) => c.notNull())
        .addColumn('kind', 'text', (c) => c.notNull())
        .addColumn('format_version', 'integer', (c) => c.notNull())
        .addColumn('chunk_start_ns', 'text', (c) => c.notNull())
        .addColumn('chunk_width_ns', 'text', (c) => c.notNull())
        .addColumn('min_time', 'text', (c) => c.notNull())
        .addColumn('max_time', 'text', (c) => c.notNull())
        .addColumn('min_series', 'text', (c) => c.notNull())
        .addColumn('max_series', 'text', (c) => c.notNull())
        .addColumn('min_seq', 'text', (c) => c.notNull())
        .addColumn('max_seq', 'text', (c) => c.notNull())
        .addColumn('row_count', 'bigint', (c) => c.notNull())
        .addColumn('size_bytes', 'bigint', (c) => c.notNull())
        .addColumn('checksum', 'bigint', (c) => c.notNull())
        .addColumn('level', 'integer', (c) => c.notNull())
        .addColumn('column_ids', 'text', (c) => c.notNull())
        .execute();
      await tx.schema
        .createTable('tsdb_series_files')
        .addColumn('id', 'text', (c) => c.primaryKey())
        .addColumn('table_id', 'integer', (c) => c.notNull())
        .addColumn('object_name', 'text', (c) => c.notNull())
        .addColumn('series_count', 'bigint', (c) => c.notNull())
        .addColumn('size_bytes', 'bigint', (c) => c.notNull())
        .addColumn('checksum', 'bigint', (c) => c.notNull())
        .execute();
      await tx.schema
        .createTable('tsdb_log_state')
        .addColumn('id', 'integer', (c) => c.primaryKey())
        .addColumn('flushed_file', 'bigint', (c) => c.notNull())
        .addColumn('version', 'bigint', (c) => c.notNull())
        .execute();
    },
  },
  {
    name: '0002_tombstones',
    async up(tx) {
      await tx.schema
        .createTable('tsdb_tombstones')
        .addColumn('id', 'text', (c) => c.primaryKey())
        .addColumn('table_id', 'integer', (c) => c.notNull())
        .addColumn('seq', 'text', (c) => c.notNull())
        .addColumn('min_time', 'text', (c) => c.notNull())
        .addColumn('max_time', 'text', (c) => c.notNull())
        .addColumn('any_of', 'text', (c) => c.notNull())
        .execute();
      await tx.schema
        .createIndex('tsdb_segments_table')
        .on('tsdb_segments')
        .column('table_id')
        .execute();
    },
  },
  {
    name: '0003_modified',
    async up(tx) {
      await tx.schema.alterTable('tsdb_segments').addColumn('modified_ms', 'bigint').execute();
    },
  },
  {
    name: '0004_flushed_tables',
    async up(tx) {
      await tx.schema
        .createTable('tsdb_flushed_tables')
        .addColumn('table_id', 'integer', (c) => c.primaryKey())
        .addColumn('flushed_file', 'bigint', (c) => c.notNull())
        .execute();
    },
  },
  {
    name: '0005_deleted_from',
    async up(tx) {
      await tx.schema
        .createTable('tsdb_deleted_from')
        .addColumn('table_id', 'integer', (c) => c.primaryKey())
        .execute();
    },
  },
  {
    name: '0006_known_log_file',
    async up(tx) {
      await tx.schema
        .createTable('tsdb_known_log_file')
        .addColumn('id', 'integer', (c) => c.primaryKey())
        .addColumn('file', 'bigint', (c) => c.notNull())
        .execute();
    },
  },
  {
    name: '0007_known_log',
    async up(tx) {
      await tx.schema
        .createTable('tsdb_known_log')
        .addColumn('id', 'integer', (c) => c.primaryKey())
        .addColumn('epoch', 'bigint')
        .addColumn('first_file', 'bigint')
        .addColumn('first_sequence', 'bigint')
        .addColumn('end_file', 'bigint')
        .addColumn('end_sequence', 'bigint')
        .addColumn('end_checksum', 'bigint')
        .execute();
    },
  },
  {
    name: '0008_published',
    async up(tx) {
      await tx.schema
        .createTable('tsdb_published')
        .addColumn('table_id', 'integer', (c) => c.primaryKey())
        .addColumn('version', 'bigint', (c) => c.notNull())
        .addColumn('files_digest', 'text', (c) => c.notNull())
        .addColumn('published_ms', 'bigint', (c) => c.notNull())
        .addColumn('keeps_files', 'integer', (c) => c.notNull())
        .addColumn('history', 'text', (c) => c.notNull())
        .execute();
      await tx.schema
        .createTable('tsdb_published_files')
        .addColumn('object_name', 'text', (c) => c.primaryKey())
        .addColumn('table_id', 'integer', (c) => c.notNull())
        .addColumn('until_ms', 'bigint')
        .execute();
    },
  },
  {
    name: '0009_deleted_points',
    async up(tx) {
      await tx.schema.alterTable('tsdb_tombstones').addColumn('points', 'text').execute();
    },
  },
  {
    name: '0010_uploaded',
    async up(tx) {
      await tx.schema
        .createTable('tsdb_uploaded')
        .addColumn('object_name', 'text', (c) => c.primaryKey())
        .addColumn('table_id', 'integer', (c) => c.notNull())
        .addColumn('root', 'text', (c) => c.notNull())
        .addColumn('is_complete', 'integer', (c) => c.notNull())
        .addColumn('until_ms', 'bigint')
        .execute();
      await tx.schema
        .createIndex('tsdb_uploaded_table')
        .on('tsdb_uploaded')
        .column('table_id')
        .execute();
    },
  },
  {
    name: '0011_deleted_values',
    async up(tx) {
      await tx.schema.alterTable('tsdb_tombstones').addColumn('column_ids', 'text').execute();
    },
  },
];

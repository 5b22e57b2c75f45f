import type { Migration, RelationalStore } from '@plinth/kernel';
import type { Transaction } from 'kysely';
import type { Segment, SeriesFile } from './segment.js';

interface SegmentRow {
  id: string;
  table_id: number;
  object_name: string;
  kind: 'unique' | 'overlay';
  format_version: number;
  /** 64-bit integers are kept as decimal text: not every driver reads them exactly otherwise. */
  chunk_start_ns: string;
  chunk_width_ns: string;
  min_time: string;
  max_time: string;
  min_series: string;
  max_series: string;
  min_seq: string;
  max_seq: string;
  row_count: number;
  size_bytes: number;
  checksum: number;
  level: number;
  column_ids: string;
}

interface SeriesFileRow {
  id: string;
  table_id: number;
  object_name: string;
  series_count: number;
  size_bytes: number;
  checksum: number;
}

interface Tables {
  tsdb_segments: SegmentRow;
  tsdb_series_files: SeriesFileRow;
  tsdb_log_state: { id: number; flushed_file: number; version: number };
}

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
];

/** A change of the stored files of the node: all of it or nothing becomes true. */
export interface RegistryChange {
  readonly addSegments: readonly Segment[];
  /** Must all still be registered: otherwise nothing changes (`SegmentsChanged`). */
  readonly removeSegments: readonly string[];
  readonly addSeriesFiles: readonly SeriesFile[];
  readonly removeSeriesFiles: readonly string[];
  /** Log files up to this one hold nothing that is not in segments. */
  readonly flushedFile?: number;
}

export class SegmentsChanged extends Error {
  override readonly name = 'SegmentsChanged';
}

/** Which files make up the tables, in the relational store; the flushed log position moves in the same transaction. */
export class SegmentRegistry {
  readonly #store: RelationalStore;

  constructor(store: RelationalStore) {
    this.#store = store;
  }

  async load(): Promise<{
    readonly segments: readonly Segment[];
    readonly seriesFiles: readonly SeriesFile[];
    /** -1: nothing was ever flushed. */
    readonly flushedFile: number;
  }> {
    const reader = this.#store.reader<Tables>();
    const segments = await reader.selectFrom('tsdb_segments').selectAll().execute();
    const seriesFiles = await reader.selectFrom('tsdb_series_files').selectAll().execute();
    const state = await reader.selectFrom('tsdb_log_state').selectAll().executeTakeFirst();
    return {
      segments: segments.map(toSegment),
      seriesFiles: seriesFiles.map(toSeriesFile),
      flushedFile: state === undefined ? -1 : Number(state.flushed_file),
    };
  }

  async apply(change: RegistryChange): Promise<void> {
    await this.#store.transaction<Tables, void>(async (tx) => {
      if (change.removeSegments.length > 0) {
        const removed = await tx
          .deleteFrom('tsdb_segments')
          .where('id', 'in', [...change.removeSegments])
          .executeTakeFirst();
        if (Number(removed.numDeletedRows) !== change.removeSegments.length) {
          throw new SegmentsChanged('segments were replaced by somebody else meanwhile');
        }
      }
      for (const segment of change.addSegments) {
        await tx.insertInto('tsdb_segments').values(fromSegment(segment)).execute();
      }
      if (change.removeSeriesFiles.length > 0) {
        await tx
          .deleteFrom('tsdb_series_files')
          .where('id', 'in', [...change.removeSeriesFiles])
          .execute();
      }
      for (const file of change.addSeriesFiles) {
        await tx.insertInto('tsdb_series_files').values(fromSeriesFile(file)).execute();
      }
      await moveState(tx, change.flushedFile);
    });
  }
}

async function moveState(tx: Transaction<Tables>, flushedFile: number | undefined): Promise<void> {
  const before = await tx.selectFrom('tsdb_log_state').selectAll().executeTakeFirst();
  const flushed_file = flushedFile ?? (before === undefined ? -1 : Number(before.flushed_file));
  const version = before === undefined ? 1 : Number(before.version) + 1;
  if (before === undefined) {
    await tx.insertInto('tsdb_log_state').values({ id: 1, flushed_file, version }).execute();
  } else {
    await tx.updateTable('tsdb_log_state').set({ flushed_file, version }).execute();
  }
}

function toSegment(row: SegmentRow): Segment {
  return {
    id: row.id,
    tableId: Number(row.table_id),
    objectName: row.object_name,
    kind: row.kind,
    formatVersion: Number(row.format_version),
    chunkStartNs: BigInt(row.chunk_start_ns),
    chunkWidthNs: BigInt(row.chunk_width_ns),
    minTime: BigInt(row.min_time),
    maxTime: BigInt(row.max_time),
    minSeries: BigInt(row.min_series),
    maxSeries: BigInt(row.max_series),
    minSeq: BigInt(row.min_seq),
    maxSeq: BigInt(row.max_seq),
    rowCount: Number(row.row_count),
    sizeBytes: Number(row.size_bytes),
    checksum: Number(row.checksum),
    level: Number(row.level),
    columnIds: new Set(JSON.parse(row.column_ids) as number[]),
  };
}

function fromSegment(segment: Segment): SegmentRow {
  return {
    id: segment.id,
    table_id: segment.tableId,
    object_name: segment.objectName,
    kind: segment.kind,
    format_version: segment.formatVersion,
    chunk_start_ns: String(segment.chunkStartNs),
    chunk_width_ns: String(segment.chunkWidthNs),
    min_time: String(segment.minTime),
    max_time: String(segment.maxTime),
    min_series: String(segment.minSeries),
    max_series: String(segment.maxSeries),
    min_seq: String(segment.minSeq),
    max_seq: String(segment.maxSeq),
    row_count: segment.rowCount,
    size_bytes: segment.sizeBytes,
    checksum: segment.checksum,
    level: segment.level,
    column_ids: JSON.stringify([...segment.columnIds]),
  };
}

function toSeriesFile(row: SeriesFileRow): SeriesFile {
  return {
    id: row.id,
    tableId: Number(row.table_id),
    objectName: row.object_name,
    seriesCount: Number(row.series_count),
    sizeBytes: Number(row.size_bytes),
    checksum: Number(row.checksum),
  };
}

function fromSeriesFile(file: SeriesFile): SeriesFileRow {
  return {
    id: file.id,
    table_id: file.tableId,
    object_name: file.objectName,
    series_count: file.seriesCount,
    size_bytes: file.sizeBytes,
    checksum: file.checksum,
  };
}

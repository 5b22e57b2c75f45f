import type { Segment, SeriesFile } from '@plinth/tsdb-model/segment.js';
import type { TombstoneRow } from './stored-tombstones.js';

interface SegmentRow {
  id: string;
  table_id: number;
  object_name: string;
  kind: 'unique' | 'overlay';
  format_version: number;
  /** 64-bit integers are stored as decimal text, because not every driver reads them exactly. */
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
  modified_ms: number | null;
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

export interface RegistryTables {
  tsdb_tombstones: TombstoneRow;
  tsdb_segments: SegmentRow;
  tsdb_series_files: SeriesFileRow;
  tsdb_log_state: { id: number; flushed_file: number; version: number };
  /** Tables that are flushed beyond `tsdb_log_state`. */
  tsdb_flushed_tables: { table_id: number; flushed_file: number };
  tsdb_deleted_from: { table_id: number };
}

/** @param ms `undefined` in a store that was written by an earlier version. */
const toModified = (ms: number | null | undefined): number | undefined =>
  ms === null || ms === undefined ? undefined : Number(ms);

/** The stored names `chunk_*` are the partition in code. */
export function toSegment(row: SegmentRow): Segment {
  return {
    id: row.id,
    tableId: Number(row.table_id),
    objectName: row.object_name,
    kind: row.kind,
    formatVersion: Number(row.format_version),
    partitionStartNs: BigInt(row.chunk_start_ns),
    partitionWidthNs: BigInt(row.chunk_width_ns),
    minTime: BigInt(row.min_time),
    maxTime: BigInt(row.max_time),
    minSeries: BigInt(row.min_series),
    maxSeries: BigInt(row.max_series),
    minSeq: BigInt(row.min_seq),
    maxSeq: BigInt(row.max_seq),
    rowCount: Number(row.row_count),
    sizeBytes: Number(row.size_bytes),
    checksum: Number(row.checksum),
    modifiedMs: toModified(row.modified_ms),
    level: Number(row.level),
    columnIds: new Set(JSON.parse(row.column_ids) as number[]),
  };
}

export function fromSegment(segment: Segment): SegmentRow {
  return {
    id: segment.id,
    table_id: segment.tableId,
    object_name: segment.objectName,
    kind: segment.kind,
    format_version: segment.formatVersion,
    chunk_start_ns: String(segment.partitionStartNs),
    chunk_width_ns: String(segment.partitionWidthNs),
    min_time: String(segment.minTime),
    max_time: String(segment.maxTime),
    min_series: String(segment.minSeries),
    max_series: String(segment.maxSeries),
    min_seq: String(segment.minSeq),
    max_seq: String(segment.maxSeq),
    row_count: segment.rowCount,
    size_bytes: segment.sizeBytes,
    checksum: segment.checksum,
    modified_ms: segment.modifiedMs ?? null,
    level: segment.level,
    column_ids: JSON.stringify([...segment.columnIds]),
  };
}

export function toSeriesFile(row: SeriesFileRow): SeriesFile {
  return {
    id: row.id,
    tableId: Number(row.table_id),
    objectName: row.object_name,
    seriesCount: Number(row.series_count),
    sizeBytes: Number(row.size_bytes),
    checksum: Number(row.checksum),
  };
}

export function fromSeriesFile(file: SeriesFile): SeriesFileRow {
  return {
    id: file.id,
    table_id: file.tableId,
    object_name: file.objectName,
    series_count: file.seriesCount,
    size_bytes: file.sizeBytes,
    checksum: file.checksum,
  };
}

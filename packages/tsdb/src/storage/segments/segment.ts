/**
 * An immutable Parquet file of one table. A `unique` segment holds points that no other unique source holds; an `overlay`
 * holds later writes of points that older sources hold, too, and is merged over them when read.
 */
export interface Segment {
  /** UUIDv7 without meaning. */
  readonly id: string;
  readonly tableId: number;
  readonly objectName: string;
  readonly kind: 'unique' | 'overlay';
  readonly formatVersion: number;
  /** The segment lies within `[partitionStartNs, partitionStartNs + partitionWidthNs)`; width 0: one chunk holds all times. */
  readonly partitionStartNs: bigint;
  readonly partitionWidthNs: bigint;
  readonly minTime: bigint;
  readonly maxTime: bigint;
  readonly minSeries: bigint;
  readonly maxSeries: bigint;
  readonly minSeq: bigint;
  readonly maxSeq: bigint;
  readonly rowCount: number;
  readonly sizeBytes: number;
  /** CRC32C of the whole file. */
  readonly checksum: number;
  /** When the file was modified last, of one whose bytes were found right. */
  readonly modifiedMs: number | undefined;
  /** 0 as flushed, 1 and more after so many compactions. */
  readonly level: number;
  /** Field columns in the file; a column that is not named reads NULL. */
  readonly columnIds: ReadonlySet<number>;
}

/** A Parquet file with the tag sets that one or more flushes met for the first time. An index: segments hold the same facts. */
export interface SeriesFile {
  readonly id: string;
  readonly tableId: number;
  readonly objectName: string;
  readonly seriesCount: number;
  readonly sizeBytes: number;
  readonly checksum: number;
}

export const SEGMENT_FORMAT_VERSION = 1;

/**
 * An immutable Parquet file of one table. Points of a `unique` segment are in no other unique
 * source. An `overlay` contains later writes of points in older sources and is merged over them
 * when read.
 */
export interface Segment {
  /** A UUIDv7, used only as an identifier. */
  readonly id: string;
  readonly tableId: number;
  readonly objectName: string;
  readonly kind: 'unique' | 'overlay';
  readonly formatVersion: number;
  /**
   * The segment is in `[partitionStartNs, partitionStartNs + partitionWidthNs)`. Width 0 means one
   * partition for all times.
   */
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
  /** CRC32C of the complete file. */
  readonly checksum: number;
  /** Modification time at the last verification; `undefined` if not verified. */
  readonly modifiedMs: number | undefined;
  /** 0 for flushed segments; increases with each compaction of several segments. */
  readonly level: number;
  /** Field columns in the file; all other columns read NULL. */
  readonly columnIds: ReadonlySet<number>;
}

/**
 * A Parquet file with the tag sets that were new in one or more flushes. It is an index; segments
 * contain the same data.
 */
export interface SeriesFile {
  readonly id: string;
  readonly tableId: number;
  readonly objectName: string;
  readonly seriesCount: number;
  readonly sizeBytes: number;
  readonly checksum: number;
}

export const SEGMENT_FORMAT_VERSION = 1;

/** Returns the newest segments of a table. */
export type SegmentsOf = (tableId: number) => readonly Segment[];

/** Rows between two timestamps, both inclusive. */
export interface TimeSpan {
  readonly minTime: bigint;
  readonly maxTime: bigint;
  readonly rowCount: number;
}

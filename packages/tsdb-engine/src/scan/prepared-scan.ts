import type { Segment, TimeSpan } from '@plinth/tsdb-model/segment.js';
import type { ScanSlice, TimeSlice } from './time-slices.js';

/** A scan that can be read in slices of its time range or of its groups. */
export interface SliceableScan {
  readonly bounds: TimeSlice;
  /** Time spans that contain its rows; ignores all conditions except tag conditions. */
  readonly spans: readonly TimeSpan[];
  /** Estimated bytes of the strings per row; `undefined` if unknown. */
  readonly stringBytes: number | undefined;
  /** Reports the size of the strings in a result. */
  noteStringBytes(rowBytes: number): void;
  /** @param lateMaterializedTags see `ScanTextOptions`. */
  scanTextOf(slice: ScanSlice, lateMaterializedTags: readonly string[]): string;
  /**
   * Returns the query for the groups of its rows by these tags; `undefined` if there is at most
   * one.
   */
  groupsBy(tags: readonly string[]): ScanGroups | undefined;
}

export interface ScanGroups {
  /** The tags that have values. */
  readonly tags: readonly string[];
  /**
   * Query that returns one row per group, sorted by the tag values: one of its series, and its row
   * count.
   */
  readonly text: string;
}

export interface PreparedScan {
  readonly text: string;
  /** True if `text` contains a UNION ALL of several sources. */
  readonly hasUnion: boolean;
  /** Files that the scan reads. */
  readonly segments: readonly Segment[];
  /** The same scan in slices; absent if it cannot be divided. */
  readonly sliceable?: SliceableScan;
  /** Called if DuckDB failed to read the scan: its files are verified again. */
  invalidate?(): void;
  /** Call exactly once, when the query has ended. */
  release(): void;
}

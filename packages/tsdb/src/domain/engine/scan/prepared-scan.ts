import type { Segment } from '../../../storage/segments/segment.js';
import type { ScanSlice, TimeSlice, TimeSpan } from './time-slices.js';

/** A scan that can be asked about a stretch of its time at once. */
export interface ScanParts {
  readonly bounds: TimeSlice;
  /** Where its rows are; conditions other than those on tags are left out of account. */
  readonly spans: readonly TimeSpan[];
  /** What the texts of a row take; `undefined`: nobody knows yet. */
  readonly textBytes: number | undefined;
  /** Tells what they took in an answer. */
  noteTextBytes(rowBytes: number): void;
  /** @param passedTags see `ScanTextOptions`. */
  textOf(slice: ScanSlice, passedTags: readonly string[]): string;
  /** How to ask for the groups of its rows by these tags; `undefined`: there is one at most. */
  groupsBy(tags: readonly string[]): ScanGroups | undefined;
}

export interface ScanGroups {
  /** Those of which there are values. */
  readonly tags: readonly string[];
  /** A row for each group, in the order of the values of the tags: one of its series, and how many rows it has. */
  readonly text: string;
}

export interface PreparedScan {
  readonly text: string;
  /** Files that it reads. */
  readonly segments: readonly Segment[];
  /** The same scan in parts; absent where there are none. */
  readonly parts?: ScanParts;
  /** The engine could not make sense of it: its files are looked at. */
  invalidate?(): void;
  /** Must be called once when the query has ended. */
  release(): void;
}

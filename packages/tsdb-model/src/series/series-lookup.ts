import type { TagCondition } from '../scan.js';
import type { Steps } from '../time-sliced-task.js';

/**
 * The distinct tag sets of one table, for readers. A series has an ordinal, which is valid only in this process, and an
 * id, which is the same everywhere.
 */
export interface SeriesLookup {
  /** Number of series. Series ordinals are below this number. */
  readonly count: number;
  readonly tagNames: Iterable<string>;
  idOf(ordinal: number): bigint;
  /** Returns the series ordinal of an id given as two 32-bit words; -1 if unknown. */
  ordinalOf(low: number, high: number): number;
  /** Returns the latest timestamp of the series. */
  lastTimeOf(ordinal: number): bigint;
  tagValue(ordinal: number, tag: string): string | undefined;
  /**
   * Returns the code for the series' tag value, or 0 if the series lacks the tag. Codes are valid only in this process.
   */
  tagCode(ordinal: number, tag: string): number;
  /** Returns the number of distinct values of a tag. */
  valueCount(tag: string): number;
  /** Returns the value of a tag by its code; codes start at 1. */
  valueOfCode(tag: string, code: number): string | undefined;
  /** Returns the distinct values of a tag, in order of first appearance. */
  tagValues(tag: string): readonly string[];
  /** Returns the series ordinals that meet all conditions, ascending; `undefined` if more than `limit` do. */
  select(conditions: readonly TagCondition[], limit: number): Steps<readonly number[] | undefined>;
}

import type { TagCondition } from '../scan.js';
import type { Steps } from '../time-sliced-task.js';

/**
 * The distinct tag sets of one table, for reading. A series has an ordinal, which is valid in
 * this process, and an id, which is the same everywhere.
 */
export interface SeriesLookup {
  /** Number of series. Series ordinals are below it. */
  readonly count: number;
  readonly tagNames: Iterable<string>;
  idOf(ordinal: number): bigint;
  /** Series ordinal of an id given as two 32-bit words; -1 if unknown. */
  ordinalOf(low: number, high: number): number;
  /** Latest timestamp of the series. */
  lastTimeOf(ordinal: number): bigint;
  tagValue(ordinal: number, tag: string): string | undefined;
  /** Code of the series' value of the tag, valid in this process; 0 if absent. */
  tagCode(ordinal: number, tag: string): number;
  /** Number of distinct values of a tag. */
  valueCount(tag: string): number;
  /** Value of a tag by its code; codes start at 1. */
  valueOfCode(tag: string, code: number): string | undefined;
  /** Distinct values of a tag, in order of first appearance. */
  tagValues(tag: string): readonly string[];
  /** Series ordinals that meet all conditions, ascending; `undefined` if more than `limit` do. */
  select(conditions: readonly TagCondition[], limit: number): Steps<readonly number[] | undefined>;
}

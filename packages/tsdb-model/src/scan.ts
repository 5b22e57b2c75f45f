import type { TableSchema } from './schema.js';

/** A condition on one tag column. `undefined` among the values means an absent tag (NULL). */
export interface TagCondition {
  readonly tag: string;
  readonly op: 'in' | 'not_in';
  readonly values: readonly (string | undefined)[];
}

/**
 * The data that a plan reads from one base table. The plan still applies its WHERE, so the scan may return
 * more rows.
 */
export interface ScanRequest {
  readonly table: TableSchema;
  /**
   * Required columns by user-visible name, including `time` and tags if used. May be empty
   * (`count(*)`).
   */
  readonly columns: readonly string[];
  /** Inclusive bounds of `time`, nanoseconds. */
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
  /** All conditions must hold; rows that violate them may be returned. */
  readonly tagConditions: readonly TagCondition[];
  /**
   * If true, only the last row of each series within the bounds is needed; the scan may omit the
   * others.
   */
  readonly lastRowsOnly: boolean;
  /** If true, the scan also returns the series ids of the rows as `_series`. */
  readonly withSeries?: boolean;
  /**
   * Called in the event-loop tick in which the scan takes its snapshot. The scan returns every row
   * written before it. Of later rows, it returns only those whose point has no earlier row.
   */
  readonly onSnapshot?: () => void;
  /**
   * Source of the rows if it is a cache instead of the stored table. It may apply the conditions or
   * leave them to the plan.
   */
  readonly source?: ScanSource;
}

/** A row of a table, identified by its series id and timestamp. */
export interface SeriesPoint {
  readonly seriesId: bigint;
  readonly timeNs: bigint;
}

/** Rows that are not stored in a table, made readable for DuckDB during a query. */
export interface ScanSource {
  /** Resolves to an expression for FROM. Call `release` exactly once. */
  prepare(request: ScanRequest): Promise<{ readonly text: string; release(): void }>;
}

export const MIN_TIME_NS = -9223372036854775806n;
export const MAX_TIME_NS = 9223372036854775806n;

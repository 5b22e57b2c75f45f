import type { TableSchema } from './schema.js';

/** A condition on one tag column. `undefined` among the values stands for an absent tag (NULL). */
export interface TagCondition {
  readonly tag: string;
  readonly op: 'in' | 'not_in';
  readonly values: readonly (string | undefined)[];
}

/** What a plan reads of one base table. The plan still applies its own WHERE: the scan may give more rows. */
export interface ScanRequest {
  readonly table: TableSchema;
  /** Columns needed, by user-visible name; `time` and tags included when used. May be empty (`count(*)`). */
  readonly columns: readonly string[];
  /** Inclusive bounds of `time`, nanoseconds. */
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
  /** All hold for every row that matters. */
  readonly tagConditions: readonly TagCondition[];
  /** Of each series, only the last row within the bounds matters; the scan may leave out the others. */
  readonly lastRowsOnly: boolean;
  /** The ids of the rows' series are needed as well, under the name `_series`. */
  readonly withSeries?: boolean;
  /** Where the rows come from when it is not the stored table: a cache. Conditions may be applied or left to the plan. */
  readonly source?: ScanSource;
}

/** Rows that are not stored: as text for the engine, and as long as a query reads them. */
export interface ScanSource {
  /** Resolves to what stands in FROM, as for a stored table. `release` must be called once. */
  prepare(request: ScanRequest): Promise<{ readonly text: string; release(): void }>;
}

export const MIN_TIME_NS = -9223372036854775806n;
export const MAX_TIME_NS = 9223372036854775806n;

import type { OutputColumn } from '../columns/result.js';
import type { ScanRequest, ScanSource } from '../scan.js';
import type { DatabaseSchema, TableSchema } from '../schema.js';
import type { IntervalValue, SqlType } from '../sql-type.js';
import type { ColumnQuery } from './column-query.js';

/** Value of a `$name` placeholder, with the type of its JSON form. */
export type PlainParameter = null | boolean | number | bigint | string;

/** Flight clients can also bind types that JSON lacks. */
export type ParameterValue = PlainParameter | Uint8Array | IntervalValue;

export interface PlanContext {
  readonly database: DatabaseSchema;
  /** Value of `now()` for the complete request. */
  readonly nowNs: bigint;
  readonly params: ReadonlyMap<string, ParameterValue>;
  /** Source of `system.*` and cache functions; see `VirtualTables`. */
  readonly virtualTables: VirtualTables;
  /** Look-back of a statement that contains no hint. Default: 0. */
  readonly lookbackNs?: bigint;
}

/** Tables that are not stored: `system.queries`, `last_cache('t')` and similar. */
export interface VirtualTables {
  /** Returns `undefined` if the table does not exist. */
  table(schema: string, name: string): VirtualTable | undefined;
  /**
   * Throws `plan_error` for invalid arguments; returns `undefined` for an unknown function.
   */
  tableFunction(
    name: string,
    args: readonly ParameterValue[],
  ): VirtualTable | ScannedTable | undefined;
  /** Names of the tables in schema `system`, ascending. */
  readonly systemTableNames: readonly string[];
}

export interface VirtualTable {
  readonly columns: readonly OutputColumn[];
  /** Aliases of columns that `*` does not include, with the name of their column. */
  readonly otherNames?: ReadonlyMap<string, string>;
  /**
   * Returns the rows. Cells are `undefined` for NULL, otherwise as documented at `SqlType` (bigint,
   * number, string, boolean, list).
   */
  rows(): readonly (readonly unknown[])[];
}

/** A table function whose rows are read when the query runs, restricted by its conditions. */
export interface ScannedTable {
  readonly source: ScanSource;
  /** A schema for this query only, with columns in the order of `SELECT *`. */
  readonly table: TableSchema;
}

/**
 * Set if rows of a single scan, unchanged or filtered, are ordered by time. The result is then the
 * concatenation of the results of consecutive time ranges.
 */
export type TimeOrder = 'ascending' | 'descending';

/**
 * How the result of a statement over one table changes with new rows. `rows`: each stored row gives
 * at most one result row, independently of the others. `buckets`: each result row depends only on the rows
 * of one time bucket; buckets start at multiples of `widthNs`.
 */
export type LiveChange =
  | { readonly kind: 'rows' }
  | { readonly kind: 'buckets'; readonly widthNs: bigint };

/** The parts of a plan that determine the result rows for given sources. */
export type RowsStatement = Pick<
  PlannedQuery,
  | 'scans'
  | 'render'
  | 'columns'
  | 'mayMaterialize'
  | 'isExplain'
  | 'maxRows'
  | 'isUnordered'
  | 'hasUnion'
  | 'timeOrder'
  | 'groupTags'
  | 'bucketNs'
  | 'lateMaterializedTags'
>;

/** A tag of a single scan that is returned unchanged and used for nothing else. */
export interface LateMaterializedTag {
  readonly columnIndex: number;
  readonly tag: string;
}

/** A checked query for DuckDB. */
export interface PlannedQuery {
  readonly scans: readonly ScanRequest[];
  /**
   * Returns the DuckDB SQL. `scanText(i)` is the FROM item of `scans[i]`: a parenthesized query
   * without alias. Its columns are the requested ones under their `physicalName`, with the types
   * documented at `SqlType`.
   */
  render(scanText: (scanIndex: number) => string): string;
  readonly columns: readonly OutputColumn[];
  /** Types of NULL parameters, where the statement determines them. */
  readonly parameterTypes: ReadonlyMap<string, SqlType>;
  /** Table name if FROM is exactly one base table. */
  readonly tableName: string | undefined;
  /** True if the text is a DuckDB EXPLAIN, whose rows must be renamed. */
  readonly isExplain?: boolean;
  /**
   * True if DuckDB may materialize the result before the first row is returned, which saves a
   * millisecond. The rows are groups, or a small LIMIT applies. There may be as many groups as input
   * rows, so the caller also estimates the number of result rows.
   */
  readonly mayMaterialize: boolean;
  /**
   * Maximum number of rows, if a LIMIT sets it. With `timeOrder` the limit applies to each time
   * range, and the caller drops rows beyond it.
   */
  readonly maxRows?: number | undefined;
  /** True if the rows may be in any order. */
  readonly isUnordered?: boolean | undefined;
  /** True if the text contains a UNION ALL outside of its scans. */
  readonly hasUnion?: boolean;
  readonly timeOrder?: TimeOrder | undefined;
  /**
   * Rows of a single scan are sorted by these tags first, ascending, with absent tags as empty
   * strings. Each group depends only on its own rows and may be ordered by time.
   */
  readonly groupTags?: readonly string[] | undefined;
  /**
   * Length of the time buckets, if a group has one row per bucket with data. `maxRows` then applies
   * to each bucket.
   */
  readonly bucketNs?: bigint | undefined;
  /** Empty unless `timeOrder` is set. */
  readonly lateMaterializedTags?: readonly LateMaterializedTag[];
  /** `undefined` if the query cannot be a live query. */
  readonly liveChange?: LiveChange | undefined;
  /**
   * The equivalent column query, if the query has a suitable form. Its result has the same
   * columns.
   */
  readonly columnQuery?: ColumnQuery | undefined;
}

import type { OutputColumn } from '../../model/columns/result.js';
import type { InMemoryRequest } from '../../model/in-memory-request.js';
import type { ScanRequest, ScanSource } from '../../model/scan.js';
import type { DatabaseSchema, TableSchema } from '../../model/schema.js';
import type { IntervalValue, SqlType } from '../../model/sql-type.js';

/** Value of a `$name` placeholder, already typed by its JSON form. */
export type PlainParameter = null | boolean | number | bigint | string;

/** Clients of Flight also bind what JSON has no form for. */
export type ParameterValue = PlainParameter | Uint8Array | IntervalValue;

export interface PlanContext {
  readonly database: DatabaseSchema;
  /** `now()` of the whole request. */
  readonly nowNs: bigint;
  readonly params: ReadonlyMap<string, ParameterValue>;
  /** Rows of `system.*` and cache functions come from the service: see `VirtualTables`. */
  readonly virtualTables: VirtualTables;
}

/** Tables that are no stored tables: `system.queries`, `last_cache('t')` and the like. */
export interface VirtualTables {
  /** `undefined` when there is no such table. */
  table(schema: string, name: string): VirtualTable | undefined;
  /** Throws `plan_error` for bad arguments; `undefined` when there is no such function. */
  tableFunction(
    name: string,
    args: readonly ParameterValue[],
  ): VirtualTable | ScannedTable | undefined;
  /** Names of the tables in schema `system`, ascending. */
  readonly systemTableNames: readonly string[];
}

export interface VirtualTable {
  readonly columns: readonly OutputColumn[];
  /** Further names of columns, which `*` does not show: the other name to that of a column. */
  readonly otherNames?: ReadonlyMap<string, string>;
  /** Row-wise; cells are `undefined` for NULL and otherwise as in `SqlType`'s table (bigint, number, string, boolean, list). */
  rows(): readonly (readonly unknown[])[];
}

/** A table function whose rows are read when the query runs, with its conditions known. */
export interface ScannedTable {
  readonly source: ScanSource;
  /** Columns in the order of `SELECT *`. Its own picture: no stored table has it. */
  readonly table: TableSchema;
}

/**
 * Set when the rows of a single scan, one for one or left out, come in the order of their times: the answer is then that of
 * each stretch of time, one behind the other.
 */
export type TimeOrder = 'ascending' | 'descending';

/** What becomes rows of an answer, of its sources. */
export type RowsStatement = Pick<
  PlannedQuery,
  | 'scans'
  | 'render'
  | 'columns'
  | 'isSmall'
  | 'isExplained'
  | 'maxRows'
  | 'isUnordered'
  | 'timeOrder'
  | 'groupTags'
  | 'bucketNs'
  | 'passedTags'
>;

/** A tag that the rows of a single scan have, handed out as it is and read for nothing else. */
export interface PassedTag {
  readonly columnIndex: number;
  readonly tag: string;
}

/** A checked query, ready for the engine. */
export interface PlannedQuery {
  readonly scans: readonly ScanRequest[];
  /**
   * Text for the engine. `scanText(i)` is what stands in FROM for `scans[i]`: a parenthesised query without alias
   * whose columns are the requested ones under their `physicalName`, typed as in `SqlType`'s table.
   */
  render(scanText: (scanIndex: number) => string): string;
  readonly columns: readonly OutputColumn[];
  /** In which types the statement takes those of its parameters that are NULL, as far as it says so. */
  readonly parameterTypes: ReadonlyMap<string, SqlType>;
  /** The table when FROM is exactly one base table. */
  readonly tableName: string | undefined;
  /** True when the text is the engine's EXPLAIN, whose rows are yet to be named. */
  readonly isExplained?: boolean;
  /**
   * The answer is far smaller than what is read: the engine may make all of it before the first row is handed out, which
   * saves a millisecond.
   */
  readonly isSmall: boolean;
  /**
   * The answer has no more rows; set where a LIMIT says it. With an order of time, each stretch of time has no more of them, and
   * whoever asks leaves out those beyond it.
   */
  readonly maxRows?: number | undefined;
  /** True where the rows may come in any order. */
  readonly isUnordered?: boolean | undefined;
  readonly timeOrder?: TimeOrder | undefined;
  /**
   * Rows of a single scan come by their values of these tags first, ascending, absent ones as empty texts; each such group is
   * made of its own rows alone, and within it there may be an order of time.
   */
  readonly groupTags?: readonly string[] | undefined;
  /** A group has a row for each stretch of time of this length that has any: `maxRows` is of one of these. */
  readonly bucketNs?: bigint | undefined;
  /** Empty unless there is an order of time. */
  readonly passedTags?: readonly PassedTag[];
  /** The same query for rows in memory, where it has the shape for it. Its answer has the same columns. */
  readonly inMemory?: InMemoryRequest | undefined;
}

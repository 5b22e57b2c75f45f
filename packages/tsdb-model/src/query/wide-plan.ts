import type { OutputColumn } from '../columns/result.js';
import type { ScanRequest } from '../scan.js';
import type { TableSchema } from '../schema.js';
import type { PlanContext } from './planned-query.js';

/** A table as Trino sees it. */
export interface WideTable {
  /** Catalog, schema and table; `undefined` if the table has no rows and is not published. */
  readonly path: readonly string[] | undefined;
  /** Returns the published name of a column; `undefined` if it is not published. */
  columnName(column: string): string | undefined;
  /** Earlier rows have expired. */
  readonly visibleFromNs: bigint | undefined;
}

/** A checked statement for Trino. */
export interface WidePlan {
  readonly scans: readonly ScanRequest[];
  readonly columns: readonly OutputColumn[];
  /** Table name if FROM is exactly one base table. */
  readonly tableName: string | undefined;
  /** Returns Trino's SQL. Throws `plan_error` for everything that is not verified for Trino. */
  print(tableOf: (schema: TableSchema) => WideTable): string;
}

/** Plans a statement for Trino. Throws `plan_error` and `not_implemented`. */
export type WidePlanner = (text: string, context: PlanContext) => WidePlan | Promise<WidePlan>;

import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { OutputColumn } from '@plinth/tsdb-model/columns/result.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { FieldCondition } from '@plinth/tsdb-model/query/column-query.js';
import type { PlannedQuery } from '@plinth/tsdb-model/query/planned-query.js';
import type { ScanRequest, TagCondition } from '@plinth/tsdb-model/scan.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';

/** Conditions that a row must meet to be considered. */
export interface RowConditions {
  /** Inclusive. */
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
  readonly tagConditions: readonly TagCondition[];
  readonly fieldConditions: readonly FieldCondition[];
}

/** A statement as a live query. */
export interface LivePlan {
  readonly table: TableSchema;
  /** Columns of the result. */
  readonly columns: readonly OutputColumn[];
  readonly conditions: RowConditions;
  /**
   * `copied`: rows that meet the conditions are the result. `computed`: DuckDB computes the result
   * from these rows. `buckets`: the statement is run again for the time buckets of these rows.
   */
  readonly output:
    | { readonly kind: 'copied'; readonly rowColumns: readonly Column[] }
    | {
        readonly kind: 'computed';
        readonly rowColumns: readonly Column[];
        readonly planned: PlannedQuery;
      }
    | { readonly kind: 'buckets'; readonly widthNs: bigint; readonly planned: PlannedQuery };
}

const SUPPORTED =
  'a live query reads one table, as SELECT … FROM table [WHERE …], or as an aggregate with date_bin(INTERVAL …, time) in GROUP BY; ' +
  'joins, subqueries, DISTINCT, LIMIT, window functions, gap filling, and ORDER BY without GROUP BY are not supported';

/** Throws `live_query_unsupported`. */
export function livePlan(planned: PlannedQuery): LivePlan {
  const { liveChange, columns } = planned;
  const [scan, ...others] = planned.scans;
  if (liveChange === undefined || scan === undefined || others.length > 0 || isVirtual(scan))
    throw tsdbError('live_query_unsupported', SUPPORTED);
  const { table, minTimeNs, maxTimeNs, tagConditions } = scan;
  const conditions = { minTimeNs, maxTimeNs, tagConditions, fieldConditions: [] };
  if (liveChange.kind === 'buckets') {
    const { widthNs } = liveChange;
    return { table, columns, conditions, output: { kind: 'buckets', widthNs, planned } };
  }
  const { columnQuery } = planned;
  if (columnQuery?.computation.kind === 'rows') {
    const rowColumns = columnQuery.computation.columns;
    return { table, columns, conditions: columnQuery, output: { kind: 'copied', rowColumns } };
  }
  const rowColumns = scan.columns.flatMap((name) => table.columns.get(name) ?? []);
  return { table, columns, conditions, output: { kind: 'computed', rowColumns, planned } };
}

const isVirtual = ({ source, lastRowsOnly }: ScanRequest): boolean =>
  source !== undefined || lastRowsOnly;

import type { ColumnKind } from '@plinth/tsdb-model/columns/column.js';
import type { ColumnQuery } from '@plinth/tsdb-model/query/column-query.js';
import type {
  LateMaterializedTag,
  LiveChange,
  PlanContext,
  TimeOrder,
  VirtualTable,
} from '@plinth/tsdb-model/query/planned-query.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import type { StringBudget } from '../emit/string-budget.js';
import type { FunctionRegistry } from '../functions/registry.js';
import type { ParameterTypes } from '../parameter-types.js';
import type { Expr, FunctionNode, Query, WindowSpec } from '../parse/ast.js';
import type { Lazy, QueryTree } from '../plan-tree.js';
import type { Aggregation } from './aggregate/aggregation.js';
import type { RowCondition, ScanDraft } from './scan-draft.js';
import type { Scope, ScopeColumn } from './scope.js';
import type { Bound } from './types/bound.js';

/**
 * State of planning one query. `bindExpr` and `bindQuery` are here because expressions and queries
 * contain each other.
 */
export interface Session {
  readonly context: PlanContext;
  readonly scans: ScanDraft[];
  readonly functions: FunctionRegistry;
  readonly parameterTypes: ParameterTypes;
  readonly stringBudget: StringBudget;
  /** Look-back of `locf`. */
  readonly lookback: Lookback;
  /** Set when a UNION ALL is bound. */
  hasUnion: boolean;
  /** Returns a DuckDB name that is unique in the query. */
  newName(prefix: string): string;
  /** Queries of virtual tables by name. Each is created once. */
  readonly virtualQueries: Map<string, VirtualQuery>;
  /** Counts bound expressions or columns. Throws `PlanningLimitExceeded` above the limit. */
  spend(count: number): void;
  bindExpr(expr: Expr, env: Env): Bound;
  bindQuery(query: Query, around: QueryEnv): BoundQuery;
  /**
   * Binds `locf`, `interpolate` and the gap-filling binning functions. Returns `undefined` for all
   * others.
   */
  bindGapFillCall(node: FunctionNode, env: Env): Bound | undefined;
  /** Returns the column of this level that `expr` names, if it is a bare name. */
  columnOf(expr: Expr, scope: Scope): ScopeColumn | undefined;
}

export interface Lookback {
  /** Distance before the time range; 0 for none. */
  readonly ns: bigint;
  /**
   * Whether the statement contains the hint. If so, a look-back that is not possible is an error.
   */
  readonly isRequested: boolean;
}

export interface VirtualQuery {
  readonly table: VirtualTable;
  readonly query: BoundQuery;
}

/** Context of a query: names of outer levels and common table expressions. */
export interface QueryEnv {
  readonly session: Session;
  readonly outer: Scope | undefined;
  readonly ctes: ReadonlyMap<string, CommonTable>;
  /** Number of enclosing queries. */
  readonly depth: number;
}

export interface ColumnUse {
  isLocal: boolean;
  isOuter: boolean;
}

/** Context of an expression. */
export interface Env extends QueryEnv {
  readonly scope: Scope;
  /** Set after grouping: the expression can use groups, not rows. */
  readonly aggregation?: Aggregation;
  readonly windows: ReadonlyMap<string, WindowSpec>;
  /** Why aggregates or windows are not allowed here; `undefined` if they are. */
  readonly noAggregate?: string;
  readonly noWindow?: string;
  /** Set within an aggregate; records the levels whose columns it names. */
  readonly columnUse?: ColumnUse;
  /** Set within a GROUP BY expression. */
  readonly isGroupKey?: boolean;
  /** Aliases of the select list. With `first`, they take precedence over input columns. */
  readonly aliases?: { readonly items: ReadonlyMap<string, Bound>; readonly first: boolean };
}

export interface CommonTable {
  readonly duckDbName: string;
  readonly columns: readonly QueryColumn[];
}

export interface QueryColumn {
  readonly name: string;
  readonly qualifier: string | undefined;
  readonly type: SqlType;
  /** See `OutputColumn`. */
  readonly tableColumnKind: ColumnKind | undefined;
  readonly duckDbName: string;
  readonly origin?: NonNullable<ScopeColumn['origin']>;
  /**
   * True if the size of the values need not be checked in the result: each row has its own value, which
   * is stored or which `StringBudget` has counted when it was created.
   */
  readonly isSizeChecked?: boolean;
}

/** A column query (see `ColumnQuery`) before the literals of its conditions are known. */
export interface ColumnQueryTemplate {
  readonly scan: ScanDraft;
  readonly computation: ColumnQuery['computation'];
  readonly selection: Expr | undefined;
  /** All conditions of the WHERE clause, recomputable for any literals. */
  readonly conditions: readonly NonNullable<RowCondition['recompute']>[];
}

/** A bound query. `text` has no parentheses around it. */
export interface BoundQuery {
  readonly text: string;
  /** The query as data. Columns have the names `duckDbName`. */
  readonly tree: Lazy<QueryTree>;
  readonly columns: readonly QueryColumn[];
  /** Table name if FROM is exactly one base table. */
  readonly tableName: string | undefined;
  /** True if the rows are groups or a small LIMIT applies: see `PlannedQuery`. */
  readonly mayMaterialize?: boolean;
  /** Row limit, if a LIMIT sets one. */
  readonly maxRows?: number | undefined;
  readonly isUnordered?: boolean;
  readonly timeOrder?: TimeOrder | undefined;
  readonly lateMaterializedTags?: readonly LateMaterializedTag[];
  readonly liveChange?: LiveChange | undefined;
  /** Set if an equivalent column query exists. */
  readonly columnQuery?: ColumnQueryTemplate | undefined;
}

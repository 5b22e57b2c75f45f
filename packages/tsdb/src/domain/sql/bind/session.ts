import type { ColumnKind } from '../../../model/columns/column.js';
import type { InMemoryRequest } from '../../../model/in-memory-request.js';
import type { SqlType } from '../../../model/sql-type.js';
import type { TextMakers } from '../emit/text-room.js';
import type { FunctionRegistry } from '../functions/registry.js';
import type { ParameterTypes } from '../parameter-types.js';
import type { Expr, FunctionNode, Query, WindowSpec } from '../parse/ast.js';
import type { PassedTag, PlanContext, TimeOrder, VirtualTable } from '../planned-query.js';
import type { Aggregation } from './aggregate/aggregation.js';
import type { Fact, ScanDraft } from './scan-draft.js';
import type { Scope, ScopeColumn } from './scope.js';
import type { Bound } from './types/bound.js';

/** One query being planned. Its two functions tie expressions and queries, which contain each other, together. */
export interface Session {
  readonly context: PlanContext;
  readonly scans: ScanDraft[];
  readonly functions: FunctionRegistry;
  readonly parameterTypes: ParameterTypes;
  readonly textMakers: TextMakers;
  /** A name for the engine that nothing else in the query has. */
  newName(prefix: string): string;
  /** Tables without storage as queries, by their names: they are made once. */
  readonly virtualQueries: Map<string, VirtualQuery>;
  /** Counts so many expressions or columns as bound. Throws `EffortExceeded` when there have been too many. */
  spend(count: number): void;
  bindExpr(expr: Expr, env: Env): Bound;
  bindQuery(query: Query, around: QueryEnv): BoundQuery;
  /** The value of `locf`, `interpolate` and the binning functions of gap filling; `undefined` for all others. */
  bindGapFillCall(node: FunctionNode, env: Env): Bound | undefined;
  /** The column of this level that `expr` names, if it is a bare name. */
  columnOf(expr: Expr, scope: Scope): ScopeColumn | undefined;
}

export interface VirtualQuery {
  readonly table: VirtualTable;
  readonly query: BoundQuery;
}

/** What surrounds a query: names of outer levels and of common table expressions. */
export interface QueryEnv {
  readonly session: Session;
  readonly outer: Scope | undefined;
  readonly ctes: ReadonlyMap<string, CommonTable>;
  /** Levels of queries around this one. */
  readonly depth: number;
}

export interface ColumnUse {
  isLocal: boolean;
  isOuter: boolean;
}

/** Where an expression stands. */
export interface Env extends QueryEnv {
  readonly scope: Scope;
  /** Set after grouping: the expression sees groups, not rows. */
  readonly aggregation?: Aggregation;
  readonly windows: ReadonlyMap<string, WindowSpec>;
  /** Why aggregates (windows) may not stand here; `undefined` where they may. */
  readonly noAggregate?: string;
  readonly noWindow?: string;
  /** Set within an aggregate: of which levels it names columns. */
  readonly columnUse?: ColumnUse;
  /** Set within an expression of GROUP BY. */
  readonly isGroupKey?: boolean;
  /** Names of the select list; `first` looks them up before the input's columns. */
  readonly aliases?: { readonly items: ReadonlyMap<string, Bound>; readonly first: boolean };
}

export interface CommonTable {
  readonly engineName: string;
  readonly columns: readonly QueryColumn[];
}

export interface QueryColumn {
  readonly name: string;
  readonly qualifier: string | undefined;
  readonly type: SqlType;
  readonly source: ColumnKind | undefined;
  readonly engineName: string;
  readonly origin?: NonNullable<ScopeColumn['origin']>;
  /** A value of its own in each row: as it is stored, or made of others that were counted for that. */
  readonly isOnce?: boolean;
}

/** A statement that columns in memory can answer. */
export interface InMemoryQuery {
  readonly scan: ScanDraft;
  readonly answer: InMemoryRequest['answer'];
  readonly selection: Expr | undefined;
  /** All that the WHERE says, with any literals. */
  readonly conditions: readonly NonNullable<Fact['again']>[];
}

/** A bound query. `text` has no brackets around it. */
export interface BoundQuery {
  readonly text: string;
  readonly columns: readonly QueryColumn[];
  /** Name of the table when FROM is exactly one base table. */
  readonly tableName: string | undefined;
  /** True where groups or a LIMIT keep the answer far smaller than what is read. */
  readonly isSmall?: boolean;
  /** Set where a LIMIT says it. */
  readonly maxRows?: number | undefined;
  readonly isUnordered?: boolean;
  readonly timeOrder?: TimeOrder | undefined;
  readonly passedTags?: readonly PassedTag[];
  /** Set where columns in memory can answer it. */
  readonly inMemory?: InMemoryQuery | undefined;
}

import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import type { ConstantValue } from './constant-value.js';

/**
 * A checked expression as data, for printers of other engines. Names are resolved, and operands
 * have the types in which DataFusion computes.
 */
export type ExprTree = { readonly type: SqlType } & (
  | { readonly kind: 'constant'; readonly value: ConstantValue }
  /** A column of a FROM item, or of the grouped rows. */
  | { readonly kind: 'column'; readonly relation: string; readonly name: string }
  | {
      readonly kind: 'operator';
      readonly operator: TreeOperator;
      readonly operands: readonly ExprTree[];
    }
  | {
      readonly kind: 'call';
      /** Name as written, in lower case. */
      readonly name: string;
      readonly args: readonly ExprTree[];
      readonly isDistinct: boolean;
      readonly filter: ExprTree | undefined;
      readonly window: WindowTree | undefined;
    }
  | { readonly kind: 'cast'; readonly operand: ExprTree; readonly isTry: boolean }
  | {
      readonly kind: 'case';
      readonly branches: readonly { readonly test: ExprTree; readonly result: ExprTree }[];
      readonly otherwise: ExprTree | undefined;
    }
  | {
      readonly kind: 'like';
      readonly value: ExprTree;
      readonly pattern: ExprTree;
      readonly escapeText: string;
    }
  | {
      readonly kind: 'in';
      readonly value: ExprTree;
      /** In the same type as `value`. */
      readonly items: readonly ExprTree[];
    }
  | {
      readonly kind: 'in_query';
      readonly value: ExprTree;
      readonly query: QueryTree;
      /** The column of `query`, read from the relation `relation`. */
      readonly member: ExprTree;
      readonly relation: string;
    }
  | { readonly kind: 'exists'; readonly query: QueryTree }
  | { readonly kind: 'subquery'; readonly query: QueryTree }
  /** No printer but DuckDB's knows it. */
  | { readonly kind: 'unverified'; readonly what: string }
);

export type TreeOperator =
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '='
  | '<>'
  | '<'
  | '<='
  | '>'
  | '>='
  | '||'
  | 'AND'
  | 'OR'
  | 'NOT'
  | 'NEGATE'
  | 'IS NULL'
  | 'IS DISTINCT FROM'
  | 'IS NOT DISTINCT FROM';

export interface OrderTree {
  /** An expression, or a 1-based position in the select list. */
  readonly by: ExprTree | number;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

export interface WindowTree {
  readonly partition: readonly ExprTree[];
  readonly order: readonly OrderTree[];
  /** False if the window names a frame or the call ignores NULL. */
  readonly isPlain: boolean;
}

/** A checked query. Its columns have the names `c0`, `c1` and so on. */
export type QueryTree =
  | SelectTree
  | {
      readonly kind: 'set';
      readonly operator: string;
      readonly sides: readonly [QueryTree, QueryTree];
    }
  | {
      readonly kind: 'with';
      readonly tables: readonly {
        readonly name: string;
        readonly columns: readonly string[];
        readonly query: QueryTree;
      }[];
      readonly query: QueryTree;
    }
  | { readonly kind: 'unverified'; readonly what: string };

export interface SelectTree {
  readonly kind: 'select';
  readonly isDistinct: boolean;
  readonly items: readonly ExprTree[];
  readonly from: FromTree | undefined;
  readonly where: ExprTree | undefined;
  readonly groups: GroupsTree | undefined;
  readonly having: ExprTree | undefined;
  readonly order: readonly OrderTree[];
  readonly limit: LimitTree;
}

/** Returns a query that selects items without further clauses. */
export const plainSelect = (items: readonly ExprTree[], from: FromTree): SelectTree => ({
  ...{ kind: 'select', isDistinct: false, items, from, order: [], limit: NO_LIMIT_TREE },
  ...{ where: undefined, groups: undefined, having: undefined },
});

/** Grouped rows: a relation with the columns `k0`, ... (keys) and `v0`, ... (aggregates). */
export interface GroupsTree {
  readonly relation: string;
  readonly keys: readonly ExprTree[];
  readonly values: readonly ExprTree[];
}

export interface LimitTree {
  readonly count: bigint | undefined;
  readonly offset: bigint | undefined;
}

export const NO_LIMIT_TREE: LimitTree = { count: undefined, offset: undefined };

export type FromTree =
  /** Columns have the names of the table's columns. */
  | { readonly kind: 'scan'; readonly table: TableSchema; readonly relation: string }
  | { readonly kind: 'query'; readonly query: QueryTree; readonly relation: string }
  | { readonly kind: 'common'; readonly name: string; readonly relation: string }
  | {
      readonly kind: 'join';
      readonly join: string;
      readonly left: FromTree;
      readonly right: FromTree;
      readonly on: ExprTree | undefined;
    }
  | { readonly kind: 'unverified'; readonly what: string };

/** Trees are built only for printers that need them, so local queries do not pay for them. */
export type Lazy<Tree> = () => Tree;

interface TreeSource {
  readonly tree?: Lazy<ExprTree> | undefined;
  readonly constant?: { readonly value: ConstantValue };
  readonly type: SqlType;
  readonly displayName: string;
}

/** Returns the tree of a bound expression. A value known at plan time is a constant. */
export function treeOf({ tree, constant, type, displayName }: TreeSource): ExprTree {
  if (constant !== undefined) return { kind: 'constant', value: constant.value, type };
  return tree?.() ?? { kind: 'unverified', what: displayName, type };
}

export const operatorTree =
  (operator: TreeOperator, operands: readonly TreeSource[], type: SqlType): Lazy<ExprTree> =>
  () => ({ kind: 'operator', operator, operands: operands.map(treeOf), type });

/** Negates a condition. */
export const negatedIf = (isNegated: boolean, tree: Lazy<ExprTree>): Lazy<ExprTree> =>
  isNegated
    ? () => ({ kind: 'operator', operator: 'NOT', operands: [tree()], type: { kind: 'boolean' } })
    : tree;

export const columnTree =
  (relation: string, name: string, type: SqlType): Lazy<ExprTree> =>
  () => ({ kind: 'column', relation, name, type });

/** The tree of a query or FROM item that only DuckDB can compute. */
export const unverified =
  (what: string): Lazy<{ readonly kind: 'unverified'; readonly what: string }> =>
  () => ({ kind: 'unverified', what });

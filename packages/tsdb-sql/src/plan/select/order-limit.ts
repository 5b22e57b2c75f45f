import { arrowTypeName } from '@plinth/tsdb-model/arrow-type-name.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { direction } from '../../bind/aggregate/windows.js';
import { convert } from '../../bind/expr/convert.js';
import { Scope } from '../../bind/scope.js';
import type { Env, QueryEnv } from '../../bind/session.js';
import { type Bound, INT64 } from '../../bind/types/bound.js';
import { type Expr, hasSubquery, type OrderByExpr, type Query } from '../../parse/ast.js';
import type { ExprTree, Lazy, LimitTree, OrderTree } from '../../plan-tree.js';

export interface OrderTarget {
  /** A tree, or the position. */
  readonly tree: Lazy<ExprTree> | number;
  /** 1-based position in the select list, or text over the input. */
  readonly text: string;
  readonly isListed: boolean;
}

export interface BoundOrder {
  /** `ORDER BY …` with a leading space, or an empty string. */
  readonly text: string;
  readonly tree: Lazy<readonly OrderTree[]>;
}

export const NO_ORDER: BoundOrder = { text: '', tree: () => [] };

/** Binds ORDER BY. `resolve` returns the target of one expression. */
export function bindOrder(
  items: readonly OrderByExpr[],
  resolve: (expr: Expr) => OrderTarget,
): BoundOrder {
  if (items.length === 0) return NO_ORDER;
  const bound = items.map(({ expr, options }) => {
    const descending = options.asc === false;
    const nullsFirst = options.nulls_first ?? descending;
    const { text, tree: by } = resolve(expr);
    return { text: `${text} ${direction({ descending, nullsFirst })}`, by, descending, nullsFirst };
  });
  return {
    text: ` ORDER BY ${bound.map(({ text }) => text).join(', ')}`,
    tree: () =>
      bound.map(({ by, descending, nullsFirst }) => ({
        ...{ by: typeof by === 'number' ? by : by(), descending, nullsFirst },
      })),
  };
}

/**
 * Expands `ORDER BY ALL` to the positions of all columns; other lists are unchanged. A column named
 * ALL must be quoted.
 */
export function expandOrderByAll(
  items: readonly OrderByExpr[],
  columnCount: number,
): readonly OrderByExpr[] {
  const [only] = items;
  if (items.length !== 1 || only === undefined || !isAll(only.expr)) return items;
  const { options } = only;
  return Array.from({ length: columnCount }, (_, index) => ({
    expr: positionNode(index + 1),
    options,
  }));
}

const isAll = (expr: Expr): boolean =>
  'Identifier' in expr &&
  expr.Identifier.quote_style === undefined &&
  expr.Identifier.value.toLowerCase() === 'all';

const positionNode = (position: number): Expr => ({
  Value: { value: { Number: [String(position), false] } },
});

/** Returns the position that an integer literal names, or `undefined` for anything else. */
export function positionOf(expr: Expr, columnCount: number, clause: string): number | undefined {
  if (!('Value' in expr)) return undefined;
  const literal = expr.Value.value;
  const number = typeof literal === 'object' ? literal['Number'] : undefined;
  if (!Array.isArray(number) || !/^\d+$/.test(String(number[0]))) return undefined;
  const position = Number(number[0]);
  if (position >= 1 && position <= columnCount) return position;
  throw tsdbError(
    'plan_error',
    clause === 'ORDER BY'
      ? `Error during planning: Order by column out of bounds, specified: ${position}, max: ${columnCount}`
      : `Error during planning: Cannot find column with position ${position} in SELECT clause. Valid columns: 1 to ${columnCount}`,
  );
}

export function orderItems(query: Query): readonly OrderByExpr[] {
  const kind = query.order_by?.kind;
  if (kind === undefined) return [];
  if (kind.Expressions === undefined)
    throw tsdbError('not_implemented', 'ORDER BY ALL is not supported');
  return kind.Expressions;
}

/** A row count: a number, or text that DuckDB computes from constants. */
type RowCount = bigint | string;

/** LIMIT and OFFSET of a query. */
export interface RowLimit {
  readonly count: RowCount | undefined;
  readonly offset: RowCount | undefined;
}

export const NO_LIMIT: RowLimit = { count: undefined, offset: undefined };

export const isLimited = ({ count, offset }: RowLimit): boolean =>
  count !== undefined || offset !== undefined;

/** Returns `LIMIT … OFFSET …` with a leading space, or an empty string. */
export function limitText({ count, offset }: RowLimit): string {
  return (
    (count === undefined ? '' : ` LIMIT ${count}`) +
    (offset === undefined ? '' : ` OFFSET ${offset}`)
  );
}

/** Returns `undefined` if DuckDB computes a row count. */
export function limitTree({ count, offset }: RowLimit): LimitTree | undefined {
  return typeof count === 'string' || typeof offset === 'string' ? undefined : { count, offset };
}

export function bindLimit(query: Query, around: QueryEnv): RowLimit {
  const clause = query.limit_clause?.LimitOffset;
  if (query.limit_clause !== undefined && clause === undefined) {
    throw tsdbError('not_implemented', 'LIMIT with a comma; use LIMIT and OFFSET');
  }
  if (clause !== undefined && clause.limit_by.length > 0)
    throw tsdbError('not_implemented', 'LIMIT BY clause');
  const { fetch } = query;
  if (fetch?.percent || fetch?.with_ties)
    throw tsdbError('not_implemented', 'FETCH with PERCENT or WITH TIES');
  const limitExpr = clause?.limit ?? (fetch === undefined ? undefined : fetch.quantity);
  const limit = limitExpr && rowCount(limitExpr, 'LIMIT', around);
  const offset = clause?.offset && rowCount(clause.offset.value, 'OFFSET', around);
  return { count: limit ?? (fetch ? 1n : undefined), offset };
}

/** Returns `undefined` for NULL. */
function rowCount(expr: Expr, clause: 'LIMIT' | 'OFFSET', around: QueryEnv): RowCount | undefined {
  const env: Env = {
    ...around,
    scope: new Scope({ relations: [], visible: [], parent: undefined }),
    windows: new Map(),
    noAggregate: `Aggregate functions are not allowed in ${clause}`,
    noWindow: `Window functions are not allowed in ${clause}`,
  };
  const bound: Bound = around.session.bindExpr(expr, env);
  const value = bound.constant?.value;
  if (value === null) {
    bound.onType?.(INT64);
    return undefined;
  }
  // No column is in scope here.
  const isComputed = value === undefined && bound.type.kind === 'int' && !hasSubquery(expr);
  if (isComputed) return `(${convert(bound, INT64).text})`;
  if (typeof value !== 'bigint') {
    throw tsdbError(
      'plan_error',
      `Error during planning: Expected ${clause} to be an integer or null, but got ${arrowTypeName(bound.type)}`,
    );
  }
  if (value < 0n) {
    throw tsdbError(
      'plan_error',
      `Error during planning: ${clause} must be >=${clause === 'LIMIT' ? ' ' : ''}0, '${value}' was provided`,
    );
  }
  return value;
}

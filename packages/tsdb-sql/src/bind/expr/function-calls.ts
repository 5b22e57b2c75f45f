import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { isNested, type SqlType } from '@plinth/tsdb-model/sql-type.js';
import type { BoundExpr } from '../../bound-expr.js';
import { repeated } from '../../emit/string-budget.js';
import { sizeText } from '../../emit/value-size.js';
import type {
  FunctionCall,
  FunctionDefinition,
  OrderItem,
} from '../../functions/function-definition.js';
import {
  type Expr,
  type FunctionArgs,
  type FunctionNode,
  namesOf,
  type OrderByExpr,
} from '../../parse/ast.js';
import { type ExprTree, type Lazy, treeOf } from '../../plan-tree.js';
import { aggregateText, type CallPieces } from '../aggregate/aggregate-text.js';
import type { Aggregation } from '../aggregate/aggregation.js';
import { bindOrderItems, bindWindow } from '../aggregate/windows.js';
import type { ColumnUse, Env } from '../session.js';
import { type Bound, derive } from '../types/bound.js';
import { convert } from './convert.js';
import { castCondition } from './operators/condition.js';

const NO_ARGS: FunctionArgs = { args: [], clauses: [] };

export interface BoundArgs {
  readonly args: readonly Bound[];
  readonly isStar: boolean;
}

/** @param bound arguments that are already bound. */
export function bindFunction(node: FunctionNode, env: Env, bound?: BoundArgs): Bound {
  const name = namesOf(node.name).join('.');
  const special = env.session.bindGapFillCall(node, env);
  if (special !== undefined) return special;
  const definition = findFunction(name, env);
  const isWindow = node.over !== undefined;
  if (definition.kind === 'scalar' && isWindow) {
    throw tsdbError('plan_error', `Error during planning: ${name} is not a window function`);
  }
  if (definition.kind === 'window' && !isWindow) {
    throw tsdbError(
      'plan_error',
      `Error during planning: Window function ${name} needs an OVER clause`,
    );
  }
  if (isWindow && definition.names.includes('grouping'))
    throw tsdbError('not_implemented', 'grouping() with an OVER clause');
  if (isWindow && env.noWindow !== undefined)
    throw tsdbError('plan_error', `Error during planning: ${env.noWindow}`);
  if (definition.kind !== 'aggregate' || isWindow)
    return callFunction(node, definition, env, bound ?? bindArgs(argsOf(node), env));
  return bindAggregate(node, definition, env);
}

function findFunction(name: string, env: Env): FunctionDefinition {
  const definition = env.session.functions.find(name);
  if (definition !== undefined) return definition;
  const nearest = env.session.functions.nearest(name);
  throw tsdbError(
    'plan_error',
    `Error during planning: Invalid function '${name}'.\nDid you mean '${nearest}'?`,
  );
}

/** Binds an aggregate, which is computed per group and is then a column. */
function bindAggregate(node: FunctionNode, definition: FunctionDefinition, env: Env): Bound {
  const { aggregation } = env;
  if (aggregation === undefined || env.noAggregate !== undefined) {
    throw tsdbError(
      'plan_error',
      `Error during planning: ${env.noAggregate ?? 'Aggregate functions are not allowed here'}`,
    );
  }
  const { aggregation: _grouped, aliases: _aliases, ...rest } = env;
  const columnUse: ColumnUse = { isLocal: false, isOuter: false };
  const inputEnv: Env = {
    ...rest,
    columnUse,
    scope: aggregation.input,
    noAggregate: 'Aggregate function calls cannot be nested',
    noWindow: 'Window functions are not allowed in aggregate functions',
  };
  const bound = bindArgs(argsOf(node), inputEnv);
  const value = callFunction(node, definition, inputEnv, bound);
  checkLevels(columnUse);
  if (definition.names.includes('grouping')) checkGrouping(bound.args, aggregation);
  const output = aggregation.addValue(value);
  return value.call === undefined ? output : { ...output, call: value.call };
}

/**
 * DuckDB evaluates an aggregate that names only outer columns in the outer query. DataFusion
 * rejects it.
 */
function checkLevels({ isLocal, isOuter }: ColumnUse): void {
  if (isOuter && !isLocal)
    throw tsdbError('not_implemented', 'aggregates that use only columns of an outer query');
}

/** Binds ORDER BY keys; the same check applies to each key. */
function bindOrder(items: readonly OrderByExpr[], env: Env): readonly OrderItem[] {
  const { columnUse } = env;
  if (columnUse === undefined) return bindOrderItems(items, env);
  return items.flatMap((item) => {
    const ofItem = { isLocal: false, isOuter: false };
    const bound = bindOrderItems([item], { ...env, columnUse: ofItem });
    checkLevels(ofItem);
    columnUse.isLocal ||= ofItem.isLocal;
    return bound;
  });
}

/** DuckDB supports only the GROUP BY keys as arguments of GROUPING. */
function checkGrouping([of]: readonly Bound[], { keys }: Aggregation): void {
  if (of === undefined || keys.some(({ input }) => input.text === of.text)) return;
  const shown = keys.map(({ input }) => input.displayName).join(', ');
  throw tsdbError(
    'plan_error',
    `Error during planning: Argument ${of.displayName} to grouping function is not in grouping columns ${shown}`,
  );
}

function callFunction(
  node: FunctionNode,
  definition: FunctionDefinition,
  env: Env,
  { args, isStar }: BoundArgs,
): Bound {
  const list = argsOf(node);
  const orderBy = bindOrder(
    [...list.clauses.flatMap((clause) => clause.OrderBy ?? []), ...node.within_group],
    env,
  );
  const filter = node.filter && castCondition(env.session.bindExpr(node.filter, env));
  const window = node.over && bindWindow(node.over, env);
  const treatment =
    node.null_treatment ??
    list.clauses.find((clause) => clause.IgnoreOrRespectNulls !== undefined)?.IgnoreOrRespectNulls;
  const pieces: CallPieces = {
    distinct: list.duplicate_treatment === 'Distinct',
    ignoreNulls: treatment === 'IgnoreNulls',
    filter: filter?.text,
    window,
    orderBy,
  };
  const call: FunctionCall = {
    name: namesOf(node.name).join('.'),
    args,
    isStar,
    distinct: pieces.distinct,
    orderBy,
    ignoreNulls: pieces.ignoreNulls,
    isWindow: window !== undefined,
    nowNs: env.session.context.nowNs,
    aggregate: (duckDbFunction, argTexts, options) =>
      aggregateText(duckDbFunction, argTexts, pieces, options ?? {}),
    coerce: (arg, type) => convert(arg, type),
  };
  const bound = definition.bind(call);
  const isLong = bound.constant === undefined && sizeText(bound.text, bound.type) !== undefined;
  const makesText = isMaker(definition, isLong, args);
  const counted = makesText ? env.session.stringBudget.add(args) : args;
  const isPut = window !== undefined && isLong && !COLLECTING.has(call.name);
  const result =
    makesText || isPut
      ? definition.bind({ ...call, args: isPut ? repeated(counted) : counted })
      : bound;
  const operands = [...args, ...orderBy.map((item) => item.expr), ...(filter ? [filter] : [])];
  const isPlain =
    list.clauses.length === 0 &&
    list.duplicate_treatment === undefined &&
    treatment === undefined &&
    operands.length === args.length &&
    window === undefined;
  const shownArgs = isStar ? '*' : args.map((arg) => arg.displayName).join(',');
  const orderWords = node.within_group.length === 0 ? 'ORDER BY' : 'WITHIN GROUP';
  const shownOrder = orderBy.length === 0 ? '' : ` ${orderWords} [${shownOrderOf(orderBy)}]`;
  const shownFilter = filter === undefined ? '' : ` FILTER (WHERE ${filter.displayName})`;
  const shownNulls = pieces.ignoreNulls ? ' IGNORE NULLS' : '';
  const shownWindow = window === undefined ? '' : ` ${window.shown}`;
  const { finish } = result;
  // Aggregates and window functions are computed from rows, so DuckDB keeps their types.
  const isScalar = definition.kind === 'scalar';
  const value = derive(isScalar ? operands : operands.map(withoutFolding), {
    text: window === undefined ? result.text : (finish?.(result.text) ?? result.text),
    type: result.type,
    ...(orderBy.length === 0 && { tree: callTree(call, pieces, filter, result.type) }),
    displayName:
      `${call.name}(${pieces.distinct ? 'DISTINCT ' : ''}${shownArgs})` +
      `${shownNulls}${shownFilter}${shownOrder}${shownWindow}`,
  });
  return {
    ...value,
    hasWindow: value.hasWindow || window !== undefined,
    ...(makesText && definition.kind === 'scalar' && { isCountedString: true }),
    ...(window === undefined && finish && { finish }),
    ...(result.constant && { constant: result.constant }),
    ...(isPlain && { call: { name: call.name, args } }),
  };
}

function callTree(
  { name, args, isStar, distinct: isDistinct }: FunctionCall,
  { window, ignoreNulls }: CallPieces,
  filter: Bound | undefined,
  type: SqlType,
): Lazy<ExprTree> | undefined {
  if (ignoreNulls && window === undefined) return undefined;
  return () => ({
    ...{ kind: 'call', name: isStar ? `${name}(*)` : name, args: args.map(treeOf), isDistinct },
    ...{ filter: filter && treeOf(filter), type },
    window: window && (ignoreNulls ? { ...window.tree(), isPlain: false } : window.tree()),
  });
}

function withoutFolding({ constant: _constant, folds: _folds, ...rest }: Bound): Bound {
  return rest;
}

/** Aggregates whose states count against DuckDB's memory limit, so their results are bounded. */
const COLLECTING: ReadonlySet<string> = new Set(['array_agg', 'string_agg']);

/** Functions that split strings internally but do not return the pieces. */
const SPLITTING: ReadonlySet<string> = new Set(['find_in_set']);

/** Functions that read a list without copying it. */
const READING: ReadonlySet<string> = new Set([
  ...[
    'count',
    'unnest',
    'array_length',
    'array_empty',
    'array_has',
    'array_element',
    'array_ndims',
  ],
]);

/**
 * Whether a function creates or stores long values or accesses lists. DuckDB copies those outside
 * its memory limit.
 */
function isMaker(
  definition: FunctionDefinition,
  isLong: boolean,
  args: readonly BoundExpr[],
): boolean {
  const [name = ''] = definition.names;
  if (READING.has(name)) return false;
  return (
    (isLong && !COLLECTING.has(name)) ||
    SPLITTING.has(name) ||
    args.some((arg) => isNested(arg.type) && sizeText(arg.text, arg.type))
  );
}

export function argsOf(node: FunctionNode): FunctionArgs {
  if (node.args === 'None') return NO_ARGS;
  if ('List' in node.args) return node.args.List;
  throw tsdbError('not_implemented', 'subqueries as function arguments');
}

/** Returns the plain arguments of a call. */
export function exprArgs(list: FunctionArgs): readonly Expr[] {
  return list.args.flatMap((arg) => {
    const value = 'Unnamed' in arg ? arg.Unnamed : arg.Named.arg;
    return typeof value === 'object' && 'Expr' in value ? [value.Expr] : [];
  });
}

export function bindArgs(list: FunctionArgs, env: Env): BoundArgs {
  const first = list.args[0];
  const isStar = first !== undefined && 'Unnamed' in first && first.Unnamed === 'Wildcard';
  if (isStar && list.args.length === 1) return { args: [], isStar };
  const args = list.args.map((arg) => {
    const value = 'Unnamed' in arg ? arg.Unnamed : arg.Named.arg;
    if (typeof value === 'object' && 'Expr' in value) return env.session.bindExpr(value.Expr, env);
    throw tsdbError('not_implemented', 'wildcards as function arguments, except a single *');
  });
  return { args, isStar: false };
}

function shownOrderOf(items: readonly OrderItem[]): string {
  return items
    .map(
      (item) =>
        `${item.expr.displayName} ${item.descending ? 'DESC' : 'ASC'} NULLS ${item.nullsFirst ? 'FIRST' : 'LAST'}`,
    )
    .join(', ');
}

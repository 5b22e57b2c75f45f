import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { Aggregation } from '../../bind/aggregate/aggregation.js';
import { columnOf } from '../../bind/expr/columns.js';
import type { Env } from '../../bind/session.js';
import { quoteName } from '../../emit/quote.js';
import type { FunctionRegistry } from '../../functions/registry.js';
import { filledText } from '../../gap-fill/filled-text.js';
import { bindGapBins, gapBinCall } from '../../gap-fill/gap-bins.js';
import {
  type Expr,
  type GroupExpr,
  nameOf,
  namesOf,
  type Select,
  type SelectItem,
} from '../../parse/ast.js';
import { type GroupsTree, treeOf } from '../../plan-tree.js';
import { positionOf } from './order-limit.js';

export interface BoundGroups {
  readonly aggregation: Aggregation;
  /** True for ROLLUP and similar, which create rows with NULL keys. */
  readonly hasSets: boolean;
  /** Returns `GROUP BY …` with a leading space, or an empty string. */
  groupByText(): string;
}

/** Binds GROUP BY over the input's rows. Returns `undefined` if the SELECT does not group. */
export function bindGroups(
  select: Select,
  env: Env,
  orderExprs: readonly Expr[],
): BoundGroups | undefined {
  const exprs = groupExprs(select, env);
  const isGrouped =
    exprs.length > 0 ||
    select.having !== undefined ||
    containsAggregate([select.projection, select.qualify, orderExprs], env.session.functions);
  if (!isGrouped) return undefined;
  const aggregation = new Aggregation(env.session, env.scope);
  const keyEnv: Env = {
    ...env,
    isGroupKey: true,
    noAggregate: 'Aggregate functions are not allowed in the GROUP BY clause',
    noWindow: 'Window functions are not allowed in the GROUP BY clause',
  };
  const keyText = (expr: Expr): string => {
    const meant = groupTarget(expr, select.projection, env);
    const gapCall = gapBinCall(meant);
    if (gapCall === undefined) {
      return aggregation.addKey(meant, env.session.bindExpr(meant, keyEnv)).input.text;
    }
    if (aggregation.gaps !== undefined)
      throw tsdbError('not_implemented', 'more than one gap-filling function in a query');
    const { input, ...bins } = bindGapBins(gapCall, select.selection, keyEnv);
    const key = aggregation.addKey(meant, input);
    aggregation.gaps = { key, ...bins };
    return key.input.text;
  };
  const hasSets = exprs.some(
    (expr) => 'Rollup' in expr || 'Cube' in expr || 'GroupingSets' in expr,
  );
  checkSetCount(exprs);
  const texts = exprs.map((expr) => groupText(expr, keyText));
  if (hasSets && aggregation.gaps !== undefined) {
    throw tsdbError('not_implemented', 'gap filling with ROLLUP, CUBE or GROUPING SETS');
  }
  return {
    aggregation,
    hasSets,
    groupByText: () => {
      if (texts.length === 0) return '';
      // Positions are unambiguous, even if the text of a key resembles another expression.
      return hasSets
        ? ` GROUP BY ${texts.join(', ')}`
        : ` GROUP BY ${aggregation.keys.map((_, index) => index + 1).join(', ')}`;
    },
  };
}

/**
 * GROUP BY ALL means every item of the select list that is not an aggregate; constants can be
 * omitted.
 */
function groupExprs(select: Select, env: Env): readonly GroupExpr[] {
  const groupBy = select.group_by;
  if ('Expressions' in groupBy) return groupBy.Expressions[0];
  return select.projection.flatMap((item) => {
    const expr = exprOf(item);
    if (expr === undefined) throw tsdbError('not_implemented', 'GROUP BY ALL with a wildcard');
    return 'Value' in expr || containsAggregate(expr, env.session.functions) ? [] : [expr];
  });
}

/**
 * Returns the grouped rows as a query: keys, then values.
 * @param earlier the rows before the time range whose values `locf` continues.
 */
export function groupedText(
  groups: BoundGroups,
  fromWhere: string,
  earlier: string | undefined,
): string {
  return filledText(groups.aggregation, {
    grouped: unfilledText(groups, fromWhere),
    earlier: earlier === undefined ? undefined : unfilledText(groups, earlier),
  });
}

export const groupsTree = ({ aggregation }: BoundGroups): GroupsTree => ({
  relation: aggregation.relation,
  keys: aggregation.keys.map(({ input }) => treeOf(input)),
  values: aggregation.values.map(({ tree }) => tree()),
});

function unfilledText(groups: BoundGroups, fromWhere: string): string {
  const { keys, values } = groups.aggregation;
  const items = [
    ...keys.map((key) => `${key.input.text} AS ${quoteName(key.duckDbName)}`),
    ...values.map((value) => `${value.text} AS ${quoteName(value.duckDbName)}`),
  ];
  const list = items.length === 0 ? 'count(*) AS "rows"' : items.join(', ');
  const grouped = `SELECT ${list}${fromWhere}${groups.groupByText()}`;
  const finished = values.flatMap(({ duckDbName, finish }) => {
    const name = quoteName(duckDbName);
    return finish === undefined ? [] : [`${finish(name)} AS ${name}`];
  });
  return finished.length === 0
    ? grouped
    : `SELECT * REPLACE (${finished.join(', ')}) FROM (${grouped})`;
}

/** DuckDB fails above this number of grouping sets; DataFusion has the same limit. */
const MAX_SET_COUNT = 65_535;

/** Throws if the items of a GROUP BY multiply to too many grouping sets. */
function checkSetCount(exprs: readonly GroupExpr[]): void {
  const count = exprs.reduce((product, expr) => product * setCountOf(expr), 1);
  if (count <= MAX_SET_COUNT) return;
  throw tsdbError(
    'plan_error',
    `Error during planning: The number of grouping_set in grouping_sets exceeds the maximum limit ${MAX_SET_COUNT}, found ${count}`,
  );
}

function setCountOf(expr: GroupExpr): number {
  if ('Rollup' in expr) return expr.Rollup.length + 1;
  if ('Cube' in expr) return 2 ** expr.Cube.length;
  return 'GroupingSets' in expr ? expr.GroupingSets.length : 1;
}

function groupText(expr: GroupExpr, keyText: (expr: Expr) => string): string {
  if ('Rollup' in expr)
    return `ROLLUP (${expr.Rollup.map((set) => setText(set, keyText)).join(', ')})`;
  if ('Cube' in expr) return `CUBE (${expr.Cube.map((set) => setText(set, keyText)).join(', ')})`;
  if ('GroupingSets' in expr) {
    return `GROUPING SETS (${expr.GroupingSets.map((set) => `(${set.map(keyText).join(', ')})`).join(', ')})`;
  }
  return keyText(expr);
}

function setText(set: readonly Expr[], keyText: (expr: Expr) => string): string {
  const texts = set.map(keyText);
  return texts.length === 1 ? (texts[0] ?? '') : `(${texts.join(', ')})`;
}

/** Resolves a GROUP BY item: a position or alias refers to its expression in the select list. */
function groupTarget(expr: Expr, projection: readonly SelectItem[], env: Env): Expr {
  const position = positionOf(expr, projection.length, 'GROUP BY');
  if (position !== undefined) {
    const target = exprOf(projection[position - 1]);
    if (target !== undefined) return target;
    throw tsdbError('plan_error', 'Error during planning: GROUP BY position refers to a wildcard');
  }
  if (!('Identifier' in expr) || columnOf(expr, env.scope) !== undefined) return expr;
  const name = nameOf(expr.Identifier);
  for (const item of projection) {
    if ('ExprWithAlias' in item && nameOf(item.ExprWithAlias.alias) === name)
      return item.ExprWithAlias.expr;
  }
  return expr;
}

function exprOf(item: SelectItem | undefined): Expr | undefined {
  if (item === undefined) return undefined;
  if ('UnnamedExpr' in item) return item.UnnamedExpr;
  return 'ExprWithAlias' in item ? item.ExprWithAlias.expr : undefined;
}

/** Returns whether the tree contains an aggregate call, other than in subqueries and windows. */
function containsAggregate(node: unknown, functions: FunctionRegistry): boolean {
  if (typeof node !== 'object' || node === null) return false;
  if (Array.isArray(node)) return node.some((item) => containsAggregate(item, functions));
  for (const [key, value] of Object.entries(node)) {
    if (key === 'subquery' || key === 'Subquery' || key === 'span') continue;
    if (key === 'Function') {
      const call = value as {
        readonly name: Parameters<typeof namesOf>[0];
        readonly over?: unknown;
      };
      const name = namesOf(call.name).join('.');
      if (call.over === undefined && functions.find(name)?.kind === 'aggregate') return true;
    }
    if (containsAggregate(value, functions)) return true;
  }
  return false;
}

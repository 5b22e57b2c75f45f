import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { LateMaterializedTag, TimeOrder } from '@plinth/tsdb-model/query/planned-query.js';
import { valueType } from '@plinth/tsdb-model/sql-type.js';
import { condition } from '../../bind/expr/operators/condition.js';
import type { BoundQuery, Env, QueryColumn, QueryEnv } from '../../bind/session.js';
import type { Bound } from '../../bind/types/bound.js';
import { earlierCondition } from '../../gap-fill/look-back.js';
import {
  type Expr,
  nameOf,
  type OrderByExpr,
  type Select,
  type WindowSpec,
} from '../../parse/ast.js';
import { treeOf } from '../../plan-tree.js';
import { bindFrom, scopeOf } from '../from/from.js';
import type { FromItem } from '../from/table-factor.js';
import { columnQueryTemplate } from './column-query-template.js';
import { type BoundGroups, bindGroups, groupedText } from './group-by.js';
import { narrowToLastRows } from './last-point.js';
import { liveChange } from './live-change.js';
import {
  type BoundOrder,
  bindOrder,
  expandOrderByAll,
  isLimited,
  limitText,
  NO_ORDER,
  type OrderTarget,
  positionOf,
  type RowLimit,
} from './order-limit.js';
import { bindProjection, type OutputItem } from './projection.js';
import { selectTree } from './select-tree.js';

export interface SelectClauses {
  readonly orderBy: readonly OrderByExpr[];
  readonly limit: RowLimit;
}

export function bindSelect(
  select: Select,
  selectClauses: SelectClauses,
  around: QueryEnv,
): BoundQuery {
  refuseUnsupported(select);
  const from = bindFrom(select.from, around);
  const env: Env = {
    ...around,
    scope: scopeOf(from, around),
    windows: namedWindows(select),
    noAggregate: 'Aggregate functions are not allowed here',
  };
  const where = bindWhere(select.selection, env);
  const groups = bindGroups(
    select,
    env,
    expandOrderByAll(selectClauses.orderBy, 1).map(({ expr }) => expr),
  );
  const { noAggregate: _rows, ...groupEnv } = env;
  const itemEnv: Env =
    groups === undefined ? env : { ...groupEnv, aggregation: groups.aggregation };
  const items = bindProjection(select.projection, itemEnv);
  const clauses = {
    ...selectClauses,
    orderBy: expandOrderByAll(selectClauses.orderBy, items.length),
  };
  const aliases = new Map(items.map((item) => [item.name, item.expr]));
  const having =
    select.having &&
    condition(
      around.session.bindExpr(select.having, {
        ...itemEnv,
        aliases: { items: aliases, first: false },
        noWindow: 'Window functions are not allowed in the HAVING clause',
      }),
    );
  const qualify = bindQualify(select.qualify, {
    ...itemEnv,
    aliases: { items: aliases, first: false },
  });
  const distinct = distinctText(select, itemEnv);
  checkDistinctOn(select, clauses, { items, env: itemEnv });
  if (groups === undefined) narrowToLastRows(select, clauses.orderBy, { from, where, env });
  const orderEnv = { ...itemEnv, aliases: { items: aliases, first: true } };
  const isDistinct = select.distinct === 'Distinct';
  const explicitOrder = orderOf(clauses, { items, env: orderEnv, isDistinct });
  const order = explicitOrder.text;
  const fromText = from === undefined ? '' : ` FROM ${from.text}`;
  const whereText = where === undefined ? '' : ` WHERE ${where.text}`;
  const source =
    groups === undefined
      ? `${fromText}${whereText}`
      : groupedSource(groups, {
          fromWhere: `${fromText}${whereText}`,
          earlier: earlierText(fromText, select.selection, groups, env),
          having,
        });
  const list = items.map((item, index) => `${item.expr.text} AS c${index}`).join(', ');
  const isPlain =
    groups === undefined && distinct === '' && !items.some((item) => item.expr.hasWindow);
  const isUnordered = order === '' && distinct === '';
  const plainOrder =
    isUnordered && isPlain && around.depth === 0
      ? timeOrderOfScan(from)
      : isUnordered && groups?.aggregation.gaps !== undefined
        ? { text: seriesOrderText(groups), tree: () => [] }
        : NO_ORDER;
  const timeOrder =
    isPlain && !isLimited(clauses.limit) && qualify === undefined
      ? timeOrderOf(clauses.orderBy, { items, env: orderEnv, isImplied: plainOrder.text !== '' })
      : undefined;
  const { count } = clauses.limit;
  const maxRows = typeof count === 'bigint' ? Number(count) : undefined;
  return {
    text:
      `SELECT ${distinct}${list}${source}${qualify === undefined ? '' : ` QUALIFY ${qualify.text}`}` +
      `${order}${plainOrder.text}${limitText(clauses.limit)}`,
    tree: () =>
      selectTree({ select, from, where, groups, having, items, limit: clauses.limit }, [
        ...explicitOrder.tree(),
        ...plainOrder.tree(),
      ]),
    columns: outputColumns(items, {
      allowsPredicatePushdown: allowsPredicatePushdown(select, clauses, items) && !groups?.hasSets,
      isTable: from?.tableName !== undefined && groups === undefined,
    }),
    tableName: from?.tableName,
    mayMaterialize: groups !== undefined || (maxRows !== undefined && maxRows <= MAX_ROWS_AT_ONCE),
    maxRows,
    isUnordered: isUnordered && plainOrder.text === '',
    timeOrder,
    // Further ORDER BY keys may refer to tags by position.
    lateMaterializedTags:
      timeOrder === undefined || clauses.orderBy.length > 1 ? [] : lateMaterializedTags(items),
    liveChange: liveChange({ ...clauses, select, from, groups, items, around }),
    columnQuery: columnQueryTemplate({
      ...clauses,
      select,
      from,
      where,
      groups,
      items,
      env,
      orderEnv,
    }),
  };
}

/** @param list.isImplied whether rows are ordered by time without an ORDER BY. */
function timeOrderOf(
  [first]: readonly OrderByExpr[],
  list: { readonly items: readonly OutputItem[]; readonly env: Env; readonly isImplied: boolean },
): TimeOrder | undefined {
  if (first === undefined) return list.isImplied ? 'ascending' : undefined;
  const position = positionOf(first.expr, list.items.length, 'ORDER BY');
  const bound =
    position === undefined
      ? list.env.session.bindExpr(first.expr, list.env)
      : list.items[position - 1]?.expr;
  if (bound?.column?.tableColumnKind !== 'time' || bound.column.origin === undefined)
    return undefined;
  if (bound.column.origin.scan.isOfCommonTable) return undefined;
  return first.options.asc === false ? 'descending' : 'ascending';
}

/** Returns the tags that the select list reads once and no other clause reads. */
function lateMaterializedTags(items: readonly OutputItem[]): readonly LateMaterializedTag[] {
  return items.flatMap(({ expr: { column } }, columnIndex) => {
    const { origin } = column ?? {};
    const isPassed =
      column?.tableColumnKind === 'tag' && origin?.scan.useCount(origin.column) === 1;
    return isPassed ? [{ columnIndex, tag: origin.column }] : [];
  });
}

/** Maximum number of rows that are materialized instead of streamed. */
const MAX_ROWS_AT_ONCE = 10_000;

function refuseUnsupported(select: Select): void {
  if (select.into !== undefined) throw tsdbError('not_implemented', 'SELECT INTO');
  if (select.top !== undefined) throw tsdbError('not_implemented', 'TOP');
  if (select.lateral_views.length > 0) throw tsdbError('not_implemented', 'LATERAL VIEWS');
  if (select.projection.length === 0) {
    throw tsdbError('plan_error', 'Error during planning: SELECT needs at least one expression');
  }
}

function namedWindows(select: Select): ReadonlyMap<string, WindowSpec> {
  return new Map(
    select.named_window.map(([name, window]) => [
      nameOf(name),
      'WindowSpec' in window
        ? window.WindowSpec
        : { window_name: window.NamedWindow, partition_by: [], order_by: [] },
    ]),
  );
}

/** Binds WHERE and narrows the scans of this level with its row conditions. */
function bindWhere(selection: Expr | undefined, env: Env): Bound | undefined {
  if (selection === undefined) return undefined;
  const where = condition(
    env.session.bindExpr(selection, {
      ...env,
      noAggregate: 'Aggregate functions are not allowed in the WHERE clause',
      noWindow: 'Window functions are not allowed in the WHERE clause',
    }),
  );
  for (const rowCondition of where.rowConditions ?? []) rowCondition.scan.narrow(rowCondition);
  return where;
}

function bindQualify(qualify: Expr | undefined, env: Env): Bound | undefined {
  if (qualify === undefined) return undefined;
  const bound = condition(env.session.bindExpr(qualify, env));
  if (bound.hasWindow) return bound;
  throw tsdbError(
    'plan_error',
    'Error during planning: QUALIFY clause requires window functions in the SELECT list or QUALIFY clause',
  );
}

/** Returns the rows before the time range that a look-back reads. */
function earlierText(
  fromText: string,
  selection: Expr | undefined,
  { aggregation }: BoundGroups,
  env: Env,
): string | undefined {
  const earlier = earlierCondition(selection, aggregation, env);
  return earlier === undefined ? undefined : `${fromText} WHERE ${earlier}`;
}

function groupedSource(
  groups: BoundGroups,
  rows: {
    readonly fromWhere: string;
    readonly earlier: string | undefined;
    readonly having: Bound | undefined;
  },
): string {
  const { fromWhere, earlier, having } = rows;
  const grouped = groupedText(groups, fromWhere, earlier);
  const condition = having === undefined ? '' : ` WHERE ${having.text}`;
  return ` FROM (${grouped}) AS ${groups.aggregation.relation}${condition}`;
}

function distinctText(select: Select, env: Env): string {
  const { distinct } = select;
  if (distinct === undefined || distinct === 'All') return '';
  if (distinct === 'Distinct') return 'DISTINCT ';
  if (distinct.On.length === 0) {
    throw tsdbError('plan_error', 'Error during planning: No `ON` expressions provided');
  }
  const on = distinct.On.map((expr) => env.session.bindExpr(expr, env).text);
  return `DISTINCT ON (${on.join(', ')}) `;
}

/**
 * Throws unless ORDER BY starts with the expressions of DISTINCT ON, which decides the row that
 * remains.
 */
function checkDistinctOn(
  { distinct }: Select,
  { orderBy }: SelectClauses,
  list: { readonly items: readonly OutputItem[]; readonly env: Env },
): void {
  if (typeof distinct !== 'object' || orderBy.length === 0) return;
  const textOf = (expr: Expr): string => {
    const position = positionOf(expr, list.items.length, 'ORDER BY');
    if (position !== undefined) return list.items[position - 1]?.expr.text ?? '';
    const name = 'Identifier' in expr ? nameOf(expr.Identifier) : undefined;
    const item = list.items.find((candidate) => candidate.name === name);
    return (item?.expr ?? list.env.session.bindExpr(expr, list.env)).text;
  };
  const isMatched = distinct.On.every((expr, index) => {
    const order = orderBy[index];
    return order !== undefined && textOf(order.expr) === textOf(expr);
  });
  if (!isMatched) {
    throw tsdbError(
      'plan_error',
      'Error during planning: SELECT DISTINCT ON expressions must match initial ORDER BY expressions',
    );
  }
}

function orderOf(
  clauses: SelectClauses,
  list: { readonly items: readonly OutputItem[]; readonly env: Env; readonly isDistinct: boolean },
): BoundOrder {
  const listed = (position: number): OrderTarget => ({
    ...{ text: String(position), tree: position, isListed: true },
  });
  return bindOrder(clauses.orderBy, (expr): OrderTarget => {
    const position = positionOf(expr, list.items.length, 'ORDER BY');
    if (position !== undefined) return listed(position);
    const bound = list.env.session.bindExpr(expr, list.env);
    const index = list.items.findIndex((item) => item.expr.text === bound.text);
    if (index >= 0) return listed(index + 1);
    if (list.isDistinct) {
      throw tsdbError(
        'plan_error',
        `Error during planning: For SELECT DISTINCT, ORDER BY expressions ${bound.displayName} must appear in select list`,
      );
    }
    const text = bound.constant === undefined ? bound.text : `(${bound.text})`;
    return { text, tree: () => treeOf(bound), isListed: false };
  });
}

/** Without ORDER BY, orders rows of a plain scan by time, ascending. */
function timeOrderOfScan(from: FromItem | undefined): BoundOrder {
  if (from?.tableName === undefined) return NO_ORDER;
  const time = from.visible.find((column) => column.tableColumnKind === 'time');
  if (time === undefined) return NO_ORDER;
  time.use();
  const by = () => treeOf({ ...time, displayName: time.name });
  return {
    text: ` ORDER BY ${time.text}`,
    tree: () => [{ by: by(), descending: false, nullsFirst: false }],
  };
}

/** Orders filled rows by series, then by time. */
function seriesOrderText({ aggregation }: BoundGroups): string {
  const { gaps, keys } = aggregation;
  const others = keys.filter((key) => key !== gaps?.key);
  const texts = [...others, ...(gaps === undefined ? [] : [gaps.key])].map(
    (key) => `${key.output.text} ASC NULLS LAST`,
  );
  return ` ORDER BY ${texts.join(', ')}`;
}

/** Returns whether a condition on an output column can be applied to the input rows instead. */
function allowsPredicatePushdown(
  select: Select,
  clauses: SelectClauses,
  items: readonly OutputItem[],
): boolean {
  return (
    !isLimited(clauses.limit) &&
    select.qualify === undefined &&
    typeof select.distinct !== 'object' &&
    !items.some((item) => item.expr.hasWindow)
  );
}

/**
 * Returns whether the size of a string was counted. Lists do not qualify, because they may repeat
 * their input.
 */
function isCountedText(expr: Bound): boolean {
  return expr.isCountedString === true && expr.type.kind === 'utf8';
}

function outputColumns(
  items: readonly OutputItem[],
  {
    allowsPredicatePushdown,
    isTable,
  }: { readonly allowsPredicatePushdown: boolean; readonly isTable: boolean },
): readonly QueryColumn[] {
  return items.map(({ name, qualifier, expr }, index) => ({
    name,
    qualifier,
    type: expr.column === undefined ? valueType(expr.type) : expr.type,
    tableColumnKind: expr.column?.tableColumnKind,
    duckDbName: `c${index}`,
    ...(allowsPredicatePushdown && expr.column?.origin && { origin: expr.column.origin }),
    isSizeChecked: (isTable && expr.column?.origin !== undefined) || isCountedText(expr),
  }));
}

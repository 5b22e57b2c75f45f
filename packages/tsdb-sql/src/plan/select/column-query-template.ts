import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type {
  ColumnQuery,
  GroupKeyOrder,
  GroupOutput,
} from '@plinth/tsdb-model/query/column-query.js';
import { NS_PER_DAY } from '@plinth/tsdb-model/time/calendar.js';
import type { ColumnQueryTemplate, Env } from '../../bind/session.js';
import type { Bound } from '../../bind/types/bound.js';
import type { Expr, OrderByExpr, Select } from '../../parse/ast.js';
import type { FromItem } from '../from/table-factor.js';
import type { BoundGroups } from './group-by.js';
import { isLimited, positionOf, type RowLimit } from './order-limit.js';
import type { OutputItem } from './projection.js';

type Computation = ColumnQuery['computation'];

/** The bound parts of a SELECT. */
interface SelectParts {
  readonly select: Select;
  readonly from: FromItem | undefined;
  readonly where: Bound | undefined;
  readonly groups: BoundGroups | undefined;
  readonly items: readonly OutputItem[];
  readonly orderBy: readonly OrderByExpr[];
  readonly limit: RowLimit;
  readonly env: Env;
  readonly orderEnv: Env;
}

/** Row counts of this value or more are left to DuckDB. */
const MAX_ROW_COUNT = 1_000_000_000n;

/** Returns the exactly equivalent column query for any literals; `undefined` if there is none. */
export function columnQueryTemplate(boundSelect: SelectParts): ColumnQueryTemplate | undefined {
  const { select, from, where, groups, limit, env } = boundSelect;
  const scan = from?.visible[0]?.origin?.scan;
  const range = rangeOf(limit);
  if (from?.tableName === undefined || scan === undefined || range === undefined) return undefined;
  if (env.depth > 0 || env.session.scans.length > 1) return undefined;
  const rowConditions = where === undefined ? [] : where.isExact && where.rowConditions;
  // Requires that every condition can be recomputed for other literals.
  const conditions = rowConditions && rowConditions.flatMap(({ recompute }) => recompute ?? []);
  if (!conditions || conditions.length < rowConditions.length) return undefined;
  if (select.having !== undefined || select.qualify !== undefined) return undefined;
  const computation =
    select.distinct === undefined
      ? groups === undefined
        ? rowsOf(boundSelect, range)
        : groupsOf(boundSelect, groups, range)
      : isLimited(limit)
        ? undefined
        : lastRowsOf(boundSelect);
  return computation && { scan, computation, selection: select.selection, conditions };
}

/** Returns the table column that an expression consists of. */
function columnOf(bound: Bound | undefined): Column | undefined {
  const { origin } = bound?.column ?? {};
  return origin?.scan.table.columns.get(origin.column);
}

function columnsOf({ items }: SelectParts): readonly Column[] | undefined {
  const columns = items.map(({ expr }) => columnOf(expr));
  return columns.includes(undefined) ? undefined : (columns as readonly Column[]);
}

function orderTarget({ items, orderEnv }: SelectParts, expr: Expr): Bound | undefined {
  const position = positionOf(expr, items.length, 'ORDER BY');
  return position === undefined
    ? orderEnv.session.bindExpr(expr, orderEnv)
    : items[position - 1]?.expr;
}

interface Range {
  readonly limit: number | undefined;
  readonly offset: number;
}

/** Returns `undefined` unless both row counts are known and small enough. */
function rangeOf({ count, offset = 0n }: RowLimit): Range | undefined {
  for (const rowCount of [count ?? 0n, offset])
    if (typeof rowCount !== 'bigint' || rowCount >= MAX_ROW_COUNT) return undefined;
  return { limit: count === undefined ? undefined : Number(count), offset: Number(offset) };
}

function rowsOf(boundSelect: SelectParts, range: Range): Computation | undefined {
  const columns = columnsOf(boundSelect);
  const [by] = boundSelect.orderBy;
  if (columns === undefined || boundSelect.orderBy.length > 1) return undefined;
  // Without ORDER BY, rows are ascending by time.
  if (by !== undefined && columnOf(orderTarget(boundSelect, by.expr))?.kind !== 'time')
    return undefined;
  const descending = by?.options.asc === false;
  return { kind: 'rows', columns, tieBreakers: [], descending, ...range };
}

function lastRowsOf(boundSelect: SelectParts): Computation | undefined {
  const { select, orderBy, groups, where, env } = boundSelect;
  const columns = columnsOf(boundSelect);
  if (columns === undefined || groups !== undefined || typeof select.distinct !== 'object')
    return undefined;
  if (where?.rowConditions?.some(({ kind }) => kind === 'field')) return undefined;
  const tags = select.distinct.On.map((expr) => columnOf(env.session.bindExpr(expr, env)));
  const last = orderBy.at(-1);
  if (last === undefined || orderBy.length !== tags.length + 1) return undefined;
  if (columnOf(orderTarget(boundSelect, last.expr))?.kind !== 'time' || last.options.asc !== false)
    return undefined;
  const by: GroupKeyOrder[] = [];
  for (const [i, { expr, options }] of orderBy.slice(0, -1).entries()) {
    const tag = columnOf(orderTarget(boundSelect, expr));
    if (tag?.kind !== 'tag' || tag !== tags[i]) return undefined;
    by.push(orderOf({ kind: 'tag', tag: tag.name }, options));
  }
  return new Set(tags).size < tags.length ? undefined : { kind: 'last', columns, by };
}

function orderOf(key: GroupKeyOrder['key'], options: OrderByExpr['options']): GroupKeyOrder {
  const descending = options.asc === false;
  return { key, descending, nullsFirst: options.nulls_first ?? descending };
}

type Key =
  | { readonly kind: 'bucket'; readonly widthNs: bigint }
  | { readonly kind: 'tag'; readonly tag: string };

/** Returns the key if the expression is a tag or a time bucket. */
export function keyOf(bound: Bound | undefined): Key | undefined {
  const column = columnOf(bound);
  if (column !== undefined)
    return column.kind === 'tag' ? { kind: 'tag', tag: column.name } : undefined;
  const { name, args = [] } = bound?.call ?? {};
  const stride = args[0]?.constant?.value;
  if (name !== 'date_bin' || args.length !== 2 || columnOf(args[1])?.kind !== 'time')
    return undefined;
  if (typeof stride !== 'object' || stride === null || stride.months !== 0) return undefined;
  return { kind: 'bucket', widthNs: BigInt(stride.days) * NS_PER_DAY + stride.nanos };
}

function groupsOf(
  boundSelect: SelectParts,
  groups: BoundGroups,
  range: Range,
): Computation | undefined {
  const { gaps, keys: bound } = groups.aggregation;
  const keys = bound.map(({ input }) => keyOf(input));
  const [bucket, ...others] = keys.filter((key) => key?.kind === 'bucket');
  if (gaps !== undefined || groups.hasSets || keys.includes(undefined) || others.length > 0)
    return undefined;
  const outputs = boundSelect.items.map(({ expr }) => outputOf(expr));
  const orders = boundSelect.orderBy.map(({ expr, options }) => {
    const key = keyOf(orderTarget(boundSelect, expr));
    return key && orderOf(key, options);
  });
  if (outputs.includes(undefined) || orders.includes(undefined)) return undefined;
  return {
    kind: 'groups',
    bucket: bucket && { widthNs: bucket.widthNs, originNs: 0n },
    tags: keys.flatMap((key) => (key?.kind === 'tag' ? [key.tag] : [])),
    outputs: outputs as readonly GroupOutput[],
    order: orders as readonly GroupKeyOrder[],
    ...range,
  };
}

/** After grouping, an output is a key or a call over the rows of the group. */
function outputOf(bound: Bound): GroupOutput | undefined {
  const key = keyOf(bound);
  if (key !== undefined) return key.kind === 'bucket' ? { kind: 'bucket' } : key;
  const { name, args = [] } = bound.call ?? {};
  if (name === 'count' && args.length === 0) return { kind: 'count', column: undefined };
  const column = columnOf(args[0]);
  if (column === undefined || args.length !== 1) return undefined;
  if (name === 'count') {
    if (column.kind === 'time') return { kind: 'count', column: undefined };
    return column.kind === 'tag' ? undefined : { kind: 'count', column };
  }
  if (column.kind !== 'int64' && column.kind !== 'uint64' && column.kind !== 'float64')
    return undefined;
  switch (name) {
    case 'min':
    case 'max':
    case 'sum':
      return { kind: name, column };
    case 'avg':
    case 'mean':
      return { kind: 'mean', column };
    default:
      return undefined;
  }
}

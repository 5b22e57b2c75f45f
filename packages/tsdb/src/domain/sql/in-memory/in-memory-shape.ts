import type { Column } from '../../../model/columns/column.js';
import type {
  GroupOutput,
  InMemoryOrder,
  InMemoryRequest,
} from '../../../model/in-memory-request.js';
import type { DatabaseSchema, TableSchema } from '../../../model/schema.js';
import {
  type Expr,
  nameOf,
  namesOf,
  type OrderByExpr,
  type Query,
  type Select,
  type SelectItem,
  type Statement,
  type TableNode,
} from '../parse/ast.js';
import { resolveTable } from '../plan/from/table-name.js';
import { InMemoryConditions, type LiteralValues, widthOf } from './in-memory-conditions.js';

/** A statement that rows in memory can answer, apart from its literals. */
export interface InMemoryShape {
  readonly table: TableSchema;
  /** `undefined`: not with these literals. */
  bind(values: LiteralValues): InMemoryRequest | undefined;
}

/**
 * Recognises the shapes of `InMemoryRequest` in a statement that was bound without an error. Anything that is not known to
 * mean exactly the same makes it `undefined`.
 * @param literalCount string literals of the text outside of intervals.
 */
export function inMemoryShape(
  statement: Statement,
  database: DatabaseSchema,
  literalCount: number,
): InMemoryShape | undefined {
  const query = statement['Query'] as Query | undefined;
  if (query === undefined || !('Select' in query.body)) return undefined;
  if (!hasOnly(query, ['body', 'order_by', 'limit_clause'])) return undefined;
  const select = query.body.Select;
  if (!hasOnly(select, SELECT_PARTS)) return undefined;
  const table = tableOf(select, database);
  if (table === undefined) return undefined;
  const conditions = InMemoryConditions.of(select.selection, table, literalCount);
  const range = rangeOf(query);
  const order = query.order_by?.kind.Expressions ?? [];
  if (conditions === undefined || range === undefined) return undefined;
  if (query.order_by !== undefined && !hasOnly(query.order_by, ['kind'])) return undefined;
  const answer = answerOf({ select, order, table, range });
  if (answer === undefined) return undefined;
  return {
    table,
    bind(values) {
      const bound = conditions.bind(values);
      if (bound === undefined) return undefined;
      if (answer.kind === 'last' && bound.fieldConditions.length > 0) return undefined;
      return { table, ...bound, answer };
    },
  };
}

/** The token and the flavour are what the parser keeps of the text's form. */
const SELECT_PARTS = [
  ...['projection', 'from', 'selection', 'group_by', 'distinct'],
  ...['select_token', 'flavor'],
];

interface Asked {
  readonly select: Select;
  readonly order: readonly OrderByExpr[];
  readonly table: TableSchema;
  readonly range: { readonly limit: number | undefined; readonly offset: number };
}

/** True when all other parts of a node say nothing. */
function hasOnly(node: object, parts: readonly string[]): boolean {
  return Object.entries(node).every(([name, part]) => parts.includes(name) || isNothing(part));
}

function isNothing(part: unknown): boolean {
  return (
    part === undefined ||
    part === false ||
    part === 'None' ||
    (Array.isArray(part) && part.length === 0)
  );
}

function tableOf(select: Select, database: DatabaseSchema): TableSchema | undefined {
  const [from] = select.from;
  if (from === undefined || select.from.length !== 1 || from.joins.length > 0) return undefined;
  const { relation } = from;
  if (!('Table' in relation)) return undefined;
  const node = relation.Table as TableNode; // what the key says
  if (!hasOnly(node, ['name'])) return undefined;
  const [catalog, schema, name] = resolveTable(namesOf(node.name));
  return catalog === 'public' && schema === 'iox' ? database.tables.get(name) : undefined;
}

function rangeOf(query: Query): Asked['range'] | undefined {
  if (query.limit_clause === undefined) return { limit: undefined, offset: 0 };
  const clause = query.limit_clause.LimitOffset;
  if (clause === undefined || clause.limit_by.length > 0) return undefined;
  const limit = clause.limit === undefined ? undefined : wholeNumber(clause.limit);
  const offset = clause.offset === undefined ? 0 : wholeNumber(clause.offset.value);
  if (offset === undefined || (clause.limit !== undefined && limit === undefined)) return undefined;
  return { limit, offset };
}

function wholeNumber(expr: Expr): number | undefined {
  if (!('Value' in expr) || typeof expr.Value.value !== 'object') return undefined;
  const literal = expr.Value.value['Number'];
  const digits = Array.isArray(literal) ? String(literal[0]) : '';
  return /^\d{1,9}$/.test(digits) ? Number(digits) : undefined;
}

function answerOf(asked: Asked): InMemoryRequest['answer'] | undefined {
  const { select } = asked;
  if (typeof select.distinct === 'object') return lastRowsOf(asked, select.distinct.On);
  if (select.distinct !== undefined) return undefined;
  if (!('Expressions' in select.group_by)) return undefined;
  const [keys, others] = select.group_by.Expressions;
  if (Array.isArray(others) && others.length > 0) return undefined;
  if (keys.length > 0) return groupsOf(asked, keys as readonly Expr[]);
  const columns = columnsOf(asked);
  return columns === undefined ? groupsOf(asked, []) : rowsOf(asked, columns);
}

interface Item {
  readonly name: string | undefined;
  readonly expr: Expr;
}

/** `undefined` for wildcards. */
function itemOf(item: SelectItem): Item | undefined {
  if ('UnnamedExpr' in item) {
    const expr = item.UnnamedExpr;
    return { expr, name: 'Identifier' in expr ? nameOf(expr.Identifier) : undefined };
  }
  if (!('ExprWithAlias' in item)) return undefined;
  return { expr: item.ExprWithAlias.expr, name: nameOf(item.ExprWithAlias.alias) };
}

/** A select list of columns and nothing else. */
function columnsOf({ select, table }: Asked): readonly Column[] | undefined {
  const columns: Column[] = [];
  for (const item of select.projection) {
    if ('Wildcard' in item) {
      if (!hasOnly(item.Wildcard, ['wildcard_token'])) return undefined;
      columns.push(...table.columns.values());
      continue;
    }
    const column = columnOf(itemOf(item)?.expr, table);
    if (column === undefined) return undefined;
    columns.push(column);
  }
  return columns;
}

function columnOf(expr: Expr | undefined, table: TableSchema): Column | undefined {
  if (expr === undefined || !('Identifier' in expr)) return undefined;
  return table.columns.get(nameOf(expr.Identifier));
}

/** The column that an ORDER BY of rows means: names of the select list come first. */
function orderColumn({ select, table }: Asked, expr: Expr): Column | undefined {
  if (!('Identifier' in expr)) return undefined;
  const name = nameOf(expr.Identifier);
  for (const item of select.projection) {
    const shown = itemOf(item);
    if (shown?.name === name) return columnOf(shown.expr, table);
  }
  return table.columns.get(name);
}

function rowsOf(asked: Asked, columns: readonly Column[]): InMemoryRequest['answer'] | undefined {
  const [by] = asked.order;
  if (asked.order.length > 1) return undefined;
  // Rows that nobody asked an order of come ascending by time.
  if (by !== undefined && orderColumn(asked, by.expr)?.kind !== 'time') return undefined;
  const descending = by?.options.asc === false;
  return { kind: 'rows', columns, tieBreakers: [], descending, ...asked.range };
}

function lastRowsOf(asked: Asked, on: readonly Expr[]): InMemoryRequest['answer'] | undefined {
  const { select, order, table, range } = asked;
  const columns = columnsOf(asked);
  if (!('Expressions' in select.group_by) || select.group_by.Expressions[0].length > 0)
    return undefined;
  if (columns === undefined || range.limit !== undefined || range.offset > 0) return undefined;
  const tags = on.map((expr) => columnOf(expr, table));
  const last = order.at(-1);
  if (last === undefined || order.length !== tags.length + 1) return undefined;
  if (orderColumn(asked, last.expr)?.kind !== 'time' || last.options.asc !== false)
    return undefined;
  const by: InMemoryOrder[] = [];
  for (const [i, { expr, options }] of order.slice(0, -1).entries()) {
    const tag = orderColumn(asked, expr);
    if (tag?.kind !== 'tag' || tag !== tags[i]) return undefined;
    by.push(orderBy({ kind: 'tag', tag: tag.name }, options));
  }
  if (new Set(tags).size < tags.length) return undefined;
  return { kind: 'last', columns, by };
}

function orderBy(key: InMemoryOrder['key'], options: OrderByExpr['options']): InMemoryOrder {
  const descending = options.asc === false;
  return { key, descending, nullsFirst: options.nulls_first ?? descending };
}

type Key =
  | { readonly kind: 'bucket'; readonly widthNs: bigint }
  | { readonly kind: 'tag'; readonly tag: string };

/** A bucket of time or a tag. */
function keyOf(expr: Expr | undefined, table: TableSchema): Key | undefined {
  const column = columnOf(expr, table);
  if (column !== undefined)
    return column.kind === 'tag' ? { kind: 'tag', tag: column.name } : undefined;
  const call = callOf(expr);
  if (call?.name !== 'date_bin' || call.args.length !== 2) return undefined;
  const [stride, time] = call.args;
  const widthNs = stride === undefined ? undefined : widthOf(stride);
  if (widthNs === undefined || widthNs <= 0n || columnOf(time, table)?.kind !== 'time')
    return undefined;
  return { kind: 'bucket', widthNs };
}

function isSameKey(a: Key, b: Key): boolean {
  return a.kind === 'bucket'
    ? b.kind === 'bucket' && a.widthNs === b.widthNs
    : b.kind === 'tag' && a.tag === b.tag;
}

interface Call {
  readonly name: string;
  /** Empty for `f(*)`, too. */
  readonly args: readonly Expr[];
  readonly isStar: boolean;
}

/** A plain call: no FILTER, OVER, DISTINCT or names of arguments. */
function callOf(expr: Expr | undefined): Call | undefined {
  if (expr === undefined || !('Function' in expr)) return undefined;
  const node = expr.Function;
  if (!hasOnly(node, ['name', 'args']) || typeof node.args === 'string') return undefined;
  if (!('List' in node.args) || !hasOnly(node.args.List, ['args'])) return undefined;
  const args: Expr[] = [];
  let isStar = false;
  for (const arg of node.args.List.args) {
    if (!('Unnamed' in arg)) return undefined;
    if (arg.Unnamed === 'Wildcard') isStar = true;
    else if ('Expr' in arg.Unnamed) args.push(arg.Unnamed.Expr);
    else return undefined;
  }
  return { name: namesOf(node.name).join('.'), args, isStar };
}

function groupsOf(asked: Asked, groupBy: readonly Expr[]): InMemoryRequest['answer'] | undefined {
  const { select, order, table, range } = asked;
  const items = select.projection.map(itemOf);
  if (items.includes(undefined)) return undefined;
  const shown = items as readonly Item[];
  const keys: Key[] = [];
  for (const expr of groupBy) {
    const key = keyOf(groupTarget(expr, shown, table), table);
    if (key === undefined || keys.some((known) => isSameKey(known, key))) return undefined;
    keys.push(key);
  }
  const buckets = keys.filter((key) => key.kind === 'bucket');
  if (buckets.length > 1) return undefined;
  const outputs: GroupOutput[] = [];
  for (const { expr } of shown) {
    const output = outputOf(expr, table, keys);
    if (output === undefined) return undefined;
    outputs.push(output);
  }
  const orders: InMemoryOrder[] = [];
  for (const { expr, options } of order) {
    const key = keyOf(orderTarget(expr, shown), table);
    if (key === undefined || !keys.some((known) => isSameKey(known, key))) return undefined;
    orders.push(orderBy(key, options));
  }
  const [bucket] = buckets;
  return {
    kind: 'groups',
    bucket: bucket?.kind === 'bucket' ? { widthNs: bucket.widthNs, originNs: 0n } : undefined,
    tags: keys.flatMap((key) => (key.kind === 'tag' ? [key.tag] : [])),
    outputs,
    order: orders,
    ...range,
  };
}

/** Columns come before names of the select list. */
function groupTarget(expr: Expr, items: readonly Item[], table: TableSchema): Expr | undefined {
  const position = wholeNumber(expr);
  if (position !== undefined) return items[position - 1]?.expr;
  if (!('Identifier' in expr) || columnOf(expr, table) !== undefined) return expr;
  const name = nameOf(expr.Identifier);
  return items.find((item) => item.name === name)?.expr;
}

/** Names of the select list come before columns. */
function orderTarget(expr: Expr, items: readonly Item[]): Expr | undefined {
  const position = wholeNumber(expr);
  if (position !== undefined) return items[position - 1]?.expr;
  if (!('Identifier' in expr)) return expr;
  const name = nameOf(expr.Identifier);
  return items.find((item) => item.name === name)?.expr ?? expr;
}

function outputOf(expr: Expr, table: TableSchema, keys: readonly Key[]): GroupOutput | undefined {
  const key = keyOf(expr, table);
  if (key !== undefined) {
    if (!keys.some((known) => isSameKey(known, key))) return undefined;
    return key.kind === 'bucket' ? { kind: 'bucket' } : key;
  }
  const call = callOf(expr);
  if (call === undefined) return undefined;
  if (call.name === 'count' && call.args.length === 0) return { kind: 'count', column: undefined };
  const column = columnOf(call.args[0], table);
  if (column === undefined || call.args.length !== 1 || call.isStar) return undefined;
  if (call.name === 'count') {
    if (column.kind === 'time') return { kind: 'count', column: undefined };
    return column.kind === 'tag' ? undefined : { kind: 'count', column };
  }
  if (column.kind !== 'int64' && column.kind !== 'uint64' && column.kind !== 'float64')
    return undefined;
  switch (call.name) {
    case 'min':
    case 'max':
    case 'sum':
      return { kind: call.name, column };
    case 'avg':
    case 'mean':
      return { kind: 'mean', column };
    default:
      return undefined;
  }
}

import { arrowTypeName } from '@plinth/tsdb-model/arrow-type-name.js';
import { isSameType, type SqlType } from '@plinth/tsdb-model/sql-type.js';
import { quoteName, quoteString } from '../emit/quote.js';
import type { ExprTree, OrderTree, QueryTree, TreeOperator, WindowTree } from '../plan-tree.js';
import { FINITE, floatRange, type RangeSource, requireComparable } from './float-range.js';
import { notVerified } from './not-verified.js';
import { TRINO_FUNCTIONS, type TrinoCall } from './trino-functions.js';
import { literalText, trinoType } from './trino-values.js';

type Tree<Kind extends ExprTree['kind']> = Extract<ExprTree, { readonly kind: Kind }>;

/** The printer of the query that contains an expression. */
export interface SurroundingQuery extends RangeSource {
  /** Prints a query in an expression. */
  subquery(query: QueryTree): string;
  /** Prints an expression over the rows of a query, which have a name. */
  overQuery(query: QueryTree, relation: string, member: ExprTree): string;
  /** Returns the name of a column in Trino. */
  columnName(column: { readonly relation: string; readonly name: string }): string;
}

/** Maximum characters of an expression; some functions repeat their argument. */
const MAX_LENGTH = 1_000_000;

/** Prints an expression with parentheses where it could be an operand. */
export function printExpression(tree: ExprTree, queries: SurroundingQuery): string {
  if (tree.kind === 'unverified') throw notVerified(`expression ${tree.what}`);
  trinoType(tree.type); // throws for types without a counterpart
  const text = textOf(tree, queries);
  if (text.length > MAX_LENGTH)
    throw notVerified(`an expression of more than ${MAX_LENGTH} characters`);
  return text;
}

function textOf(tree: Exclude<ExprTree, Tree<'unverified'>>, queries: SurroundingQuery): string {
  const print = (operand: ExprTree): string => printExpression(operand, queries);
  switch (tree.kind) {
    case 'constant':
      return literalText(tree.value, tree.type);
    case 'column':
      return `${tree.relation}.${quoteName(queries.columnName(tree))}`;
    case 'operator':
      return operatorText(tree, print, queries);
    case 'call':
      return callText(tree, print, queries);
    case 'cast':
      return castText(tree, tree.isTry, print);
    case 'case': {
      const branches = tree.branches.map(
        ({ test, result }) => `WHEN ${print(test)} THEN ${print(result)}`,
      );
      const last = tree.otherwise === undefined ? '' : ` ELSE ${print(tree.otherwise)}`;
      return `(CASE ${branches.join(' ')}${last} END)`;
    }
    case 'like':
      return likeText(tree, print);
    case 'in': {
      if (tree.items.length === 0) return 'FALSE';
      requireOneType([tree.value, ...tree.items]);
      requireComparable([tree.value, ...tree.items], queries);
      return `(${print(tree.value)} IN (${tree.items.map(print).join(', ')}))`;
    }
    case 'in_query': {
      const { value, member, relation, query } = tree;
      requireOneType([value, member]);
      const members = queries.overQuery(query, relation, member);
      requireComparable([value, member], queries);
      return `(${print(value)} IN (${members}))`;
    }
    case 'exists':
      return `EXISTS (${queries.subquery(tree.query)})`;
    case 'subquery':
      return `(${queries.subquery(tree.query)})`;
  }
}

const PREFIXES: Partial<Record<TreeOperator, string>> = { NOT: 'NOT ', NEGATE: '-' };

const COMPARISONS: ReadonlySet<TreeOperator> = new Set([
  ...(['=', '<>', '<', '<=', '>', '>=', 'IS DISTINCT FROM', 'IS NOT DISTINCT FROM'] as const),
]);
const ARITHMETIC: ReadonlySet<TreeOperator> = new Set([
  ...(['+', '-', '*', '/', '%', 'NEGATE'] as const),
]);

function operatorText(
  { operator, operands }: Tree<'operator'>,
  print: (operand: ExprTree) => string,
  queries: RangeSource,
): string {
  const texts = operands.map(print);
  if (COMPARISONS.has(operator)) requireComparable(operands, queries);
  // Trino's integers are signed, so their differences can be negative.
  if (ARITHMETIC.has(operator) && operands.some(({ type }) => isUnsigned(type)))
    throw notVerified('arithmetic with unsigned integers');
  if (operator === 'IS NULL') return `(${texts[0]} IS NULL)`;
  const prefix = PREFIXES[operator];
  if (prefix !== undefined) return `(${prefix}${texts[0]})`;
  requireOneType(operands);
  return `(${texts.join(` ${operator} `)})`;
}

const isUnsigned = (type: SqlType): boolean => type.kind === 'int' && !type.signed;

/** Trino would convert by its own rules. */
function requireOneType(operands: readonly ExprTree[]): void {
  const types = new Set(operands.map(({ type }) => trinoType(type)));
  types.delete('unknown');
  if (types.size > 1) {
    const names = operands.map(({ type }) => arrowTypeName(type));
    throw notVerified(
      `an operation on the types ${[...new Set(names)].join(' and ')}`,
      'convert the operands to one type',
    );
  }
}

function castText(
  { operand, type }: { readonly operand: ExprTree; readonly type: SqlType },
  isTry: boolean,
  print: (operand: ExprTree) => string,
): string {
  const [from, to] = [trinoType(operand.type), trinoType(type)];
  if (from === 'unknown') return `CAST(NULL AS ${to})`;
  if (from === to && (from !== 'bigint' || isWide(operand.type, type))) return print(operand);
  const text = print(operand);
  switch (`${from} ${to}`) {
    case 'bigint double':
      if (operand.type.kind === 'int') return `CAST(${text} AS double)`;
      break;
    case 'boolean double':
    case 'boolean bigint':
      return `CAST(${text} AS ${to})`;
    case 'boolean varchar':
      return `CAST(${text} AS varchar)`;
    case 'bigint varchar':
      if (operand.type.kind === 'int') return `CAST(${text} AS varchar)`;
      break;
    case 'bigint boolean':
      if (operand.type.kind === 'int') return `(${text} <> BIGINT '0')`;
      break;
    case 'double bigint':
      if (!isTry && type.kind === 'int' && type.bits === 64)
        return `CAST(truncate(${text}) AS bigint)`;
      break;
    default:
  }
  throw notVerified(`a cast from ${arrowTypeName(operand.type)} to ${arrowTypeName(type)}`);
}

/** Returns whether the target has all values of the source, which Trino would not check. */
function isWide(from: SqlType, to: SqlType): boolean {
  if (isSameType(from, to)) return true;
  return to.kind !== 'int' || (to.bits === 64 && to.signed);
}

function likeText(
  { value, pattern, escapeText }: Tree<'like'>,
  print: (operand: ExprTree) => string,
): string {
  const text = pattern.kind === 'constant' ? pattern.value : undefined;
  if (trinoType(value.type) !== 'varchar')
    throw notVerified(`LIKE on the type ${arrowTypeName(value.type)}`);
  if (typeof text !== 'string') throw notVerified('LIKE with a pattern that is not a constant');
  if (escapeText === '') throw notVerified('LIKE without an escape character');
  if (!areEscapesValid(text, escapeText)) {
    throw notVerified(
      `LIKE with the escape character ${escapeText} before an ordinary character`,
      `use it only before %, _ and ${escapeText}`,
    );
  }
  return `(${print(value)} LIKE ${print(pattern)} ESCAPE ${quoteString(escapeText)})`;
}

function areEscapesValid(pattern: string, escapeText: string): boolean {
  // Trino accepts the escape character only before a wildcard and before itself.
  for (let index = 0; index < pattern.length; index++) {
    if (pattern[index] !== escapeText) continue;
    index++;
    if (!['%', '_', escapeText].includes(pattern[index] ?? '')) return false;
  }
  return true;
}

function callText(
  tree: Tree<'call'>,
  print: (operand: ExprTree) => string,
  queries: RangeSource,
): string {
  const { name, args, type, window, filter, isDistinct } = tree;
  const definition = TRINO_FUNCTIONS.get(name);
  if (definition === undefined) throw notVerified(`function ${name}`);
  if (COMPARING.has(name) || isDistinct) requireComparable(args, queries);
  if (window !== undefined && (filter !== undefined || isDistinct))
    throw notVerified(`function ${name} with ${isDistinct ? 'DISTINCT' : 'FILTER'} and OVER`);
  const call: TrinoCall = {
    ...{ name, args, type },
    isFinite: (arg) => floatRange(arg, queries) === FINITE,
    print: (arg, as = arg.type) => castText({ operand: arg, type: as }, false, print),
  };
  const text = isDistinct ? distinctText(call, definition.print) : definition.print(call);
  const filterText = filter === undefined ? '' : ` FILTER (WHERE ${print(filter)})`;
  if (window === undefined) return `${text}${filterText}`;
  return `${text}${filterText} OVER (${windowText(window, { name, print, queries })})`;
}

/** Functions that compare their arguments. */
const COMPARING: ReadonlySet<string> = new Set(['min', 'max', 'nullif']);

/** Aggregates of one argument whose result depends on repeated values. */
const DISTINCT: ReadonlySet<string> = new Set(['count', 'sum', 'avg', 'mean', 'min', 'max']);

function distinctText(call: TrinoCall, print: (call: TrinoCall) => string): string {
  const [arg] = call.args;
  if (arg === undefined || call.args.length > 1 || !DISTINCT.has(call.name))
    throw notVerified(`function ${call.name} with DISTINCT`);
  return print({ ...call, print: (each, type) => `DISTINCT ${call.print(each, type)}` });
}

/** Functions whose result depends on the order of the rows. */
const ORDERED: ReadonlySet<string> = new Set(['lag', 'lead', 'row_number']);

function windowText(
  { partition, order, isPlain }: WindowTree,
  options: {
    readonly name: string;
    readonly print: (operand: ExprTree) => string;
    readonly queries: RangeSource;
  },
): string {
  const { name, print, queries } = options;
  if (order.length === 0 && ORDERED.has(name))
    throw notVerified(`function ${name} without ORDER BY`, 'add ORDER BY');
  requireComparable(partition, queries);
  requireComparable(
    order.flatMap(({ by }) => (typeof by === 'number' ? [] : [by])),
    queries,
  );
  if (!isPlain) throw notVerified(`function ${name} with a window frame or IGNORE NULLS`);
  const parts = [
    ...(partition.length > 0 ? [`PARTITION BY ${partition.map(print).join(', ')}`] : []),
    ...(order.length > 0 ? [`ORDER BY ${orderText(order, print)}`] : []),
  ];
  return parts.join(' ');
}

/** Returns a list of keys. DataFusion and Trino have different defaults for NULL. */
export function orderText(
  order: readonly OrderTree[],
  print: (operand: ExprTree) => string,
): string {
  const texts = order.map(({ by, descending, nullsFirst }) => {
    const direction = `${descending ? 'DESC' : 'ASC'} NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`;
    return `${typeof by === 'number' ? by : print(by)} ${direction}`;
  });
  return texts.join(', ');
}

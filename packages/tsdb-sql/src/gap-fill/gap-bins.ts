import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import { convert } from '../bind/expr/convert.js';
import { argsOf, exprArgs } from '../bind/expr/function-calls.js';
import {
  type ComparisonOp,
  type TimeRange,
  timeRangeFor,
} from '../bind/expr/operators/comparison.js';
import { COMPARISON } from '../bind/expr/operators/operators.js';
import { Scope, type ScopeColumn } from '../bind/scope.js';
import type { Env } from '../bind/session.js';
import type { Bound } from '../bind/types/bound.js';
import { INTERVAL, TIMESTAMP } from '../bind/types/bound.js';
import { checkStride, type Stride } from '../functions/time/time-bins.js';
import { type Expr, type FunctionNode, hasSubquery, namesOf } from '../parse/ast.js';

/** Binning function behind each gap-filling function. */
const BIN_FUNCTION: Readonly<Record<string, string>> = {
  date_bin_gapfill: 'date_bin',
  date_bin_wallclock_gapfill: 'date_bin_wallclock',
};

/** Maximum number of rows per series. */
const MAX_BIN_COUNT = 10_000_000n;
const SHORTEST_MONTH_NS = 28n * 86_400n * 1_000_000_000n;

/** The bins of a gap-filling query. */
export interface GapBins {
  /** The binning function applied to a row's time. */
  readonly input: Bound;
  /**
   * Query whose column `bin` contains each bin start between the time bounds once. The bounds are
   * known after WHERE is bound.
   */
  readonly binsText: string;
  /** The time column, and its lower bound. */
  readonly column: ScopeColumn;
  readonly minNs: bigint;
}

export function isGapBinName(name: string): boolean {
  return Object.hasOwn(BIN_FUNCTION, name);
}

/** Returns the gap-filling call in `expr`, ignoring parentheses. */
export function gapBinCall(expr: Expr): FunctionNode | undefined {
  if ('Nested' in expr) return gapBinCall(expr.Nested);
  if (!('Function' in expr)) return undefined;
  return isGapBinName(namesOf(expr.Function.name).join('.')) ? expr.Function : undefined;
}

/**
 * Binds a gap-filling call and the bins between the time bounds. Throws `plan_error` and
 * `not_implemented`.
 * Source: query-languages, "SQL gap filling".
 */
export function bindGapBins(node: FunctionNode, selection: Expr | undefined, env: Env): GapBins {
  const name = namesOf(node.name).join('.');
  const [stride, time, ...origin] = exprArgs(argsOf(node));
  if (stride === undefined || time === undefined || origin.length > 1) {
    throw tsdbError('plan_error', `Error during planning: ${name} expects 2 or 3 arguments`);
  }
  const label = name.toUpperCase();
  requireConstant(stride, { what: 'stride', label }, env);
  for (const expr of origin) requireConstant(expr, { what: 'origin', label }, env);
  const width = strideOf(stride, label, env);
  // A step of the shortest month's length reaches every month.
  const strideNs = width.kind === 'fixed' ? width.widthNs : BigInt(width.width) * SHORTEST_MONTH_NS;
  const input = env.session.bindExpr(renamed(node, name), env);
  const { column, minNs, maxNs } = timeBounds(time, selection, label, env);
  // A wall-clock bin may be an hour shorter than the stride, but steps of half a stride reach every
  // bin.
  const stepNs = name === 'date_bin_gapfill' ? strideNs : (strideNs + 1n) / 2n;
  if ((maxNs - minNs) / stepNs > MAX_BIN_COUNT) {
    throw tsdbError(
      'not_implemented',
      `gap filling with more than ${MAX_BIN_COUNT} bins; use a longer interval or a shorter time range`,
    );
  }
  const alias = env.session.newName('b');
  const instant = syntheticTime(`make_timestamp_ns(${alias}.ns)`, env.session.bindExpr(time, env));
  const scope = new Scope({ relations: [], visible: [instant], parent: undefined });
  const args = [stride, { Identifier: { value: instant.name, quote_style: '"' } }, ...origin];
  const bin = env.session.bindExpr(renamed(withArgs(node, args), name), { ...env, scope });
  const range = `range((${minNs})::BIGINT, (${maxNs})::BIGINT, ${stepNs}::BIGINT)`;
  const binsText =
    `SELECT DISTINCT ${bin.text} AS bin FROM ` +
    `(SELECT unnest(list_append(${range}, (${maxNs})::BIGINT)) AS ns) AS ${alias}`;
  const displayName = input.displayName.replace(/^\w+/, name);
  return { input: { ...input, displayName }, binsText, column, minNs };
}

function renamed(node: FunctionNode, name: string): Expr {
  const binFunction = BIN_FUNCTION[name] ?? name;
  return { Function: { ...node, name: [{ Identifier: { value: binFunction } }] } };
}

function withArgs(node: FunctionNode, args: readonly Expr[]): FunctionNode {
  return {
    ...node,
    args: { List: { args: args.map((arg) => ({ Unnamed: { Expr: arg } })), clauses: [] } },
  };
}

/** The binning function converts strings to timestamps. */
function syntheticTime(text: string, { type }: Bound): ScopeColumn {
  return {
    name: 'time',
    qualifier: undefined,
    type: type.kind === 'timestamp' ? type : TIMESTAMP,
    text,
    tableColumnKind: undefined,
    use: () => undefined,
  };
}

function requireConstant(
  expr: Expr,
  { what, label }: { readonly what: string; readonly label: string },
  env: Env,
): void {
  if (env.session.bindExpr(expr, env).constant !== undefined) return;
  throw tsdbError(
    'plan_error',
    `Error during planning: ${what} argument to ${label} for gap fill query must evaluate to a scalar`,
  );
}

function strideOf(expr: Expr, label: string, env: Env): Stride {
  const value = convert(env.session.bindExpr(expr, env), INTERVAL).constant?.value;
  if (typeof value === 'object' && value !== null) return checkStride(value, label);
  throw tsdbError('plan_error', `Error during planning: ${label} needs an interval as its stride`);
}

/**
 * Returns the inclusive bounds of the time column: the bounds of its scan, which include the bounds of subqueries, or
 * otherwise the bounds of WHERE.
 */
function timeBounds(
  time: Expr,
  selection: Expr | undefined,
  label: string,
  env: Env,
): TimeRange & Pick<GapBins, 'column'> {
  const column = timeColumn(time, env);
  if (column === undefined)
    throw tsdbError(
      'plan_error',
      `Error during planning: ${label} requires a column as the source argument`,
    );
  const bounds = column.origin?.scan.timeBounds() ?? boundsIn(selection, column, env);
  const { minNs, maxNs } = bounds ?? {};
  if (minNs !== undefined && maxNs !== undefined) return { column, minNs, maxNs };
  const missing =
    minNs === undefined && maxNs === undefined
      ? 'both upper and lower time bounds'
      : `${minNs === undefined ? 'lower' : 'upper'} time bound`;
  throw tsdbError('plan_error', `Error during planning: gap-filling query is missing ${missing}`);
}

/** Returns the time bounds of a column from the conjuncts of a condition. */
function boundsIn(selection: Expr | undefined, column: ScopeColumn, env: Env): Partial<TimeRange> {
  const ranges = conjuncts(selection).map((expr) => rangeIn(expr, column, env));
  const minNs = ranges.reduce(
    (most, range) => (range.minNs > most ? range.minNs : most),
    MIN_TIME_NS,
  );
  const maxNs = ranges.reduce(
    (least, range) => (range.maxNs < least ? range.maxNs : least),
    MAX_TIME_NS,
  );
  // The earliest and latest valid timestamps do not count as bounds.
  return {
    ...(minNs > MIN_TIME_NS && { minNs }),
    ...(maxNs < MAX_TIME_NS && { maxNs }),
  };
}

/** Returns the range to which a conjunct restricts a time column. */
export function rangeIn(conjunct: Expr, column: ScopeColumn, env: Env): TimeRange {
  const range = { minNs: MIN_TIME_NS, maxNs: MAX_TIME_NS };
  for (const { left, op, right } of comparisonsOf(conjunct)) {
    // A subquery is not constant, and WHERE already has its scan.
    if (hasSubquery(left) || hasSubquery(right)) continue;
    const [a, b] = [env.session.bindExpr(left, env), env.session.bindExpr(right, env)];
    const { minNs, maxNs } = timeRangeFor(column, { left: a, op, right: b }) ?? range;
    if (minNs > range.minNs) range.minNs = minNs;
    if (maxNs < range.maxNs) range.maxNs = maxNs;
  }
  return range;
}

/** Returns the conditions that a condition combines with AND. */
export function conjuncts(expr: Expr | undefined): readonly Expr[] {
  if (expr === undefined) return [];
  if ('Nested' in expr) return conjuncts(expr.Nested);
  if (!('BinaryOp' in expr) || expr.BinaryOp.op !== 'And') return [expr];
  return [...conjuncts(expr.BinaryOp.left), ...conjuncts(expr.BinaryOp.right)];
}

interface Comparison {
  readonly left: Expr;
  readonly op: ComparisonOp;
  readonly right: Expr;
}

function comparisonsOf(expr: Expr): readonly Comparison[] {
  if ('Between' in expr) {
    const { expr: left, negated, low, high } = expr.Between;
    return negated
      ? []
      : [
          { left, op: '>=', right: low },
          { left, op: '<=', right: high },
        ];
  }
  if (!('BinaryOp' in expr)) return [];
  const { left, op, right } = expr.BinaryOp;
  const [comparison] = COMPARISON[op] ?? [];
  return comparison === undefined ? [] : [{ left, op: comparison, right }];
}

/**
 * Returns the time column of the argument, which may be in parentheses, in a cast or in `tz(time,
 * 'Europe/Berlin')`. These keep the instant. Bins are computed from the column's bounds, so an
 * expression that shifts timestamps would lose rows.
 */
function timeColumn(expr: Expr, env: Env): ScopeColumn | undefined {
  const column = env.session.columnOf(expr, env.scope);
  if (column !== undefined) return column.type.kind === 'timestamp' ? column : undefined;
  if ('Nested' in expr) return timeColumn(expr.Nested, env);
  if ('Cast' in expr) return timeColumn(expr.Cast.expr, env);
  if (!('Function' in expr) || namesOf(expr.Function.name).join('.') !== 'tz') return undefined;
  const [first] = exprArgs(argsOf(expr.Function));
  return first && timeColumn(first, env);
}

import type { ConstantValue } from '../bound-expr.js';
import type { ExprTree, QueryTree, TreeOperator } from '../plan-tree.js';
import { notVerified } from './not-verified.js';

/**
 * Values of a float expression: only finite ones, also infinities, or also NaN. Stored fields are
 * never NaN. They count as finite, although clients can write infinities
 * (docs/WIDE-QUERIES.md, "Limits").
 */
export const FINITE = 0;
export const INFINITE = 1;
export const NAN = 2;
export type FloatRange = typeof FINITE | typeof INFINITE | typeof NAN;

export interface RangeSource {
  columnRange(column: { readonly relation: string; readonly name: string }): FloatRange;
  /** Returns the ranges of the columns of a printed query. */
  queryRanges(query: QueryTree): readonly FloatRange[];
}

type RangeOf = (tree: ExprTree) => FloatRange;

export function requireComparable(trees: readonly ExprTree[], source: RangeSource): void {
  requireNoNaN(trees.map((tree) => floatRange(tree, source)));
}

/** In DuckDB, NaN is equal to itself and greater than all numbers. In Trino, it is not. */
export function requireNoNaN(ranges: readonly FloatRange[]): void {
  if (ranges.includes(NAN))
    throw notVerified('comparing, ordering or grouping values that can be NaN');
}

export function floatRange(tree: ExprTree, source: RangeSource): FloatRange {
  if (tree.type.kind !== 'float') return FINITE;
  const rangeOf: RangeOf = (each) => floatRange(each, source);
  switch (tree.kind) {
    case 'constant':
      return constantRange(tree.value);
    case 'column':
      return source.columnRange(tree);
    case 'operator':
      return operatorRange(tree.operator, tree.operands, rangeOf);
    case 'call':
      return callRange(tree.name, tree.args.map(rangeOf));
    case 'cast':
      return rangeOf(tree.operand);
    case 'case': {
      const { branches, otherwise } = tree;
      const results = branches.map(({ result }) => result);
      return widest([...results, ...(otherwise === undefined ? [] : [otherwise])].map(rangeOf));
    }
    case 'subquery':
      return source.queryRanges(tree.query)[0] ?? NAN;
    default:
      return NAN;
  }
}

export const widest = (ranges: readonly FloatRange[]): FloatRange =>
  ranges.includes(NAN) ? NAN : ranges.includes(INFINITE) ? INFINITE : FINITE;

function constantRange(value: ConstantValue): FloatRange {
  if (value === null || Number.isFinite(Number(value))) return FINITE;
  return Number.isNaN(Number(value)) ? NAN : INFINITE;
}

/** Returns the value of a finite constant other than 0. */
function factorOf(tree: ExprTree): number | undefined {
  if (tree.kind === 'cast') return factorOf(tree.operand);
  const value = tree.kind === 'constant' ? Number(tree.value) : 0;
  return Number.isFinite(value) && value !== 0 ? value : undefined;
}

function operatorRange(
  operator: TreeOperator,
  operands: readonly ExprTree[],
  rangeOf: RangeOf,
): FloatRange {
  const ranges = operands.map(rangeOf);
  const [left = NAN, right = NAN] = ranges;
  const divisor = operands.slice(1).map(factorOf)[0];
  if (ranges.includes(NAN)) return NAN;
  switch (operator) {
    case 'NEGATE':
      return left;
    case '+':
    case '-':
      return left === INFINITE && right === INFINITE ? NAN : INFINITE;
    case '*': {
      const isSafe = widest(ranges) === FINITE || operands.some((each) => factorOf(each));
      return isSafe ? INFINITE : NAN; // infinity times 0
    }
    case '/':
      if (divisor === undefined) return NAN;
      return Math.abs(divisor) >= 1 ? left : INFINITE;
    case '%':
      return divisor !== undefined && left === FINITE ? FINITE : NAN;
    default:
      return NAN;
  }
}

/** The result is an argument, or is nearer to 0. */
const NARROW: ReadonlySet<string> = new Set([
  ...['abs', 'ceil', 'floor', 'round', 'trunc', 'cbrt', 'radians', 'min', 'max', 'lag', 'lead'],
  ...['coalesce', 'nvl', 'ifnull', 'nullif'],
]);
/** The result is finite for all numbers. */
const BOUNDED: ReadonlySet<string> = new Set([
  ...['atan', 'atan2', 'tanh', 'pi', 'date_part', 'datepart'],
]);
const PERIODIC: ReadonlySet<string> = new Set(['sin', 'cos', 'tan']);
/** The result can overflow. */
const GROWING: ReadonlySet<string> = new Set(['degrees', 'exp', 'cosh', 'sinh']);
/** Opposite infinities sum up to NaN. */
const SUMMING: ReadonlySet<string> = new Set([
  ...['sum', 'avg', 'mean', 'stddev', 'stddev_samp', 'stddev_pop', 'var', 'var_samp'],
  ...['var_sample', 'var_pop', 'var_population', 'covar', 'covar_samp', 'covar_pop'],
]);

function callRange(name: string, args: readonly FloatRange[]): FloatRange {
  const range = widest(args);
  if (range === NAN || NARROW.has(name)) return range;
  if (BOUNDED.has(name)) return FINITE;
  if (GROWING.has(name)) return INFINITE;
  if (range === INFINITE) return NAN;
  if (PERIODIC.has(name)) return FINITE;
  return SUMMING.has(name) ? INFINITE : NAN;
}

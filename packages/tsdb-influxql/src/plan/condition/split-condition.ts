import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { ComparisonOperator, Expr } from '../../ast/expressions.js';
import { printExpr } from '../../ast/print.js';
import { planFailure } from '../plan-failure.js';
import { type ReduceContext, timeValueOf } from '../reduce.js';

/** Time bounds as specified in the statement, both inclusive. `undefined` means unbounded. */
export interface TimeRange {
  readonly min: bigint | undefined;
  readonly max: bigint | undefined;
}

const EVERYTHING: TimeRange = { min: undefined, max: undefined };

export interface SplitCondition {
  readonly rest: Expr | undefined;
  readonly range: TimeRange;
}

export interface SplitContext extends ReduceContext {
  /**
   * Returns whether a name other than `time` refers to the time. By default, `time` in any case
   * does.
   */
  readonly isTimeName?: (name: string) => boolean;
}

/**
 * Removes comparisons of `time` from a condition and intersects them into one range, even below OR.
 * Source: query-languages, "Time range".
 */
export function splitCondition(condition: Expr | undefined, context: SplitContext): SplitCondition {
  if (condition === undefined) return { rest: undefined, range: EVERYTHING };
  return split(condition, context);
}

export function intersect(a: TimeRange, b: TimeRange): TimeRange {
  return {
    min: a.min === undefined ? b.min : b.min === undefined || a.min > b.min ? a.min : b.min,
    max: a.max === undefined ? b.max : b.max === undefined || a.max < b.max ? a.max : b.max,
  };
}

function split(expr: Expr, context: SplitContext): SplitCondition {
  if (expr.kind === 'paren') {
    const { rest, range } = split(expr.inner, context);
    return { rest: rest === undefined ? undefined : { kind: 'paren', inner: rest }, range };
  }
  if (expr.kind === 'boolean') return { rest: expr, range: EVERYTHING };
  if (expr.kind !== 'binary') throw planFailure(`invalid condition expression: ${printExpr(expr)}`);
  if (expr.op === 'AND' || expr.op === 'OR') {
    const left = split(expr.left, context);
    const right = split(expr.right, context);
    const range = intersect(left.range, right.range);
    if (left.rest === undefined || right.rest === undefined) {
      return { rest: left.rest ?? right.rest, range };
    }
    return { rest: { kind: 'binary', op: expr.op, left: left.rest, right: right.rest }, range };
  }
  if (isTime(expr.left, context)) {
    return { rest: undefined, range: rangeOf(expr.op, expr.right, context) };
  }
  if (isTime(expr.right, context)) {
    return { rest: undefined, range: rangeOf(SWAPPED[expr.op] ?? expr.op, expr.left, context) };
  }
  return { rest: expr, range: EVERYTHING };
}

function isTime(expr: Expr, { isTimeName }: SplitContext): boolean {
  if (expr.kind !== 'var_ref') return false;
  const { name } = expr;
  return name === 'time' || (isTimeName?.(name) ?? name.toLowerCase() === 'time');
}

const SWAPPED: Partial<Record<string, ComparisonOperator>> = {
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

function rangeOf(op: string, operand: Expr, context: ReduceContext): TimeRange {
  const value = timeValueOf(operand, context);
  const ns = value > MAX_TIME_NS ? MAX_TIME_NS : value < MIN_TIME_NS ? MIN_TIME_NS : value;
  switch (op) {
    case '=':
      return { min: ns, max: ns };
    case '>':
      return { min: ns + 1n, max: undefined };
    case '>=':
      return { min: ns, max: undefined };
    case '<':
      return { min: undefined, max: ns - 1n };
    case '<=':
      return { min: undefined, max: ns };
    default:
      throw planFailure(`invalid time comparison operator: ${op}`);
  }
}

import { MAX_INT64 } from '@plinth/tsdb-model/columns/int64.js';
import type { ParameterValue } from '@plinth/tsdb-model/query/planned-query.js';
import { type BinaryExpr, type Expr, isLiteral } from '../ast/expressions.js';
import type { SelectStatement } from '../ast/select.js';
import type { Statement } from '../ast/statements.js';
import { calculate } from './arithmetic.js';
import { parseTimeLiteral } from './condition/time-literal.js';
import { planFailure } from './plan-failure.js';

export interface ReduceContext {
  readonly nowNs: bigint;
  readonly zone: string | undefined;
}

/** Replaces the constant parts of a projection with literals. */
export function foldNumbers(expr: Expr): Expr {
  switch (expr.kind) {
    case 'paren': {
      const inner = foldNumbers(expr.inner);
      return isLiteral(inner) ? inner : { kind: 'paren', inner };
    }
    case 'binary': {
      const folded: BinaryExpr = {
        ...expr,
        left: foldNumbers(expr.left),
        right: foldNumbers(expr.right),
      };
      return foldPair(folded) ?? folded;
    }
    case 'call':
      return { ...expr, args: expr.args.map(foldNumbers) };
    default:
      return expr;
  }
}

function foldPair({ op, left, right }: BinaryExpr): Expr | undefined {
  if (left.kind === 'string' && right.kind === 'string' && op === '+') {
    return { kind: 'string', value: left.value + right.value };
  }
  const a = numberOf(left);
  const b = numberOf(right);
  if (a === undefined || b === undefined) return undefined;
  const value = calculate(op, a, b);
  if (value === null) return undefined;
  return typeof value === 'bigint'
    ? { kind: 'integer', value }
    : { kind: 'number', value: value as number };
}

function numberOf(expr: Expr): number | bigint | undefined {
  return expr.kind === 'integer' || expr.kind === 'unsigned' || expr.kind === 'number'
    ? expr.value
    : undefined;
}

/**
 * Evaluates an expression that is compared with `time`.
 * @returns nanoseconds.
 * Source: query-languages, "Time literals".
 */
export function timeValueOf(expr: Expr, context: ReduceContext): bigint {
  const value = reduceTime(expr, context);
  switch (value.kind) {
    case 'time':
    case 'duration':
      return value.ns;
    case 'integer':
    case 'unsigned':
      return value.value;
    case 'number':
      return BigInt(Math.trunc(value.value));
    case 'string': {
      const ns = parseTimeLiteral(value.value, context.zone);
      if (ns !== undefined) return ns;
      throw planFailure(
        `invalid expression "'${value.value}'": '${value.value}' is not a valid timestamp`,
      );
    }
    default:
      throw planFailure(`invalid operation: time and ${value.kind} are not compatible`);
  }
}

type Reduced =
  /** A timestamp, which occurs only as a result of reduction. */
  | { readonly kind: 'time'; readonly ns: bigint }
  | Extract<Expr, { kind: 'duration' | 'integer' | 'unsigned' | 'number' | 'string' }>
  | { readonly kind: 'boolean' | 'regex' };

function reduceTime(expr: Expr, context: ReduceContext): Reduced {
  switch (expr.kind) {
    case 'paren':
      return reduceTime(expr.inner, context);
    case 'duration':
    case 'integer':
    case 'unsigned':
    case 'number':
    case 'string':
      return expr;
    case 'boolean':
    case 'regex':
      return { kind: expr.kind };
    case 'call':
      if (expr.name === 'now' && expr.args.length === 0) return { kind: 'time', ns: context.nowNs };
      throw planFailure(
        "invalid expression, the only valid function calls are 'now' with no arguments, date_part(<literal>, time), or scalar math functions",
      );
    case 'binary':
      return combine(
        expr,
        reduceTime(expr.left, context),
        reduceTime(expr.right, context),
        context,
      );
    default:
      throw planFailure(
        `invalid operation: time and ${expr.kind === 'var_ref' ? `column ${expr.name}` : expr.kind} are not compatible`,
      );
  }
}

function combine(expr: BinaryExpr, left: Reduced, right: Reduced, context: ReduceContext): Reduced {
  const { op } = expr;
  if (left.kind === 'string' && right.kind === 'string') {
    if (op === '+') return { kind: 'string', value: left.value + right.value };
    if (op === '-')
      return { kind: 'duration', ns: instant(left, context) - instant(right, context) };
  }
  const isTime = (side: Reduced): boolean => side.kind === 'time' || side.kind === 'string';
  if (isTime(left) || isTime(right)) {
    const a = instant(left, context);
    const b = instant(right, context);
    if (op === '+') return { kind: 'time', ns: a + b };
    if (op === '-')
      return isTime(left) && isTime(right)
        ? { kind: 'duration', ns: a - b }
        : { kind: 'time', ns: a - b };
    throw incompatible();
  }
  if (left.kind === 'duration' || right.kind === 'duration')
    return combineDurations(op, left, right);
  const folded = foldPair({ kind: 'binary', op, left: left as Expr, right: right as Expr });
  if (folded === undefined) throw incompatible();
  return folded as Reduced;
}

function combineDurations(op: string, left: Reduced, right: Reduced): Reduced {
  const numberIn = (side: Reduced): number | undefined =>
    side.kind === 'integer' || side.kind === 'unsigned' || side.kind === 'number'
      ? Number(side.value)
      : undefined;
  if (left.kind === 'duration' && right.kind === 'duration') {
    if (op === '+') return { kind: 'duration', ns: left.ns + right.ns };
    if (op === '-') return { kind: 'duration', ns: left.ns - right.ns };
  }
  const factor = numberIn(right);
  if (left.kind === 'duration' && factor !== undefined) {
    if (op === '*') return { kind: 'duration', ns: scaled(left.ns, factor) };
    if (op === '/')
      return { kind: 'duration', ns: factor === 0 ? 0n : scaled(left.ns, 1 / factor) };
    if (op === '+') return { kind: 'duration', ns: left.ns + BigInt(Math.trunc(factor)) };
    if (op === '-') return { kind: 'duration', ns: left.ns - BigInt(Math.trunc(factor)) };
  }
  const multiple = numberIn(left);
  if (right.kind === 'duration' && multiple !== undefined) {
    if (op === '*') return { kind: 'duration', ns: scaled(right.ns, multiple) };
    if (op === '+') return { kind: 'duration', ns: BigInt(Math.trunc(multiple)) + right.ns };
    if (op === '-') return { kind: 'duration', ns: BigInt(Math.trunc(multiple)) - right.ns };
  }
  throw incompatible();
}

function scaled(ns: bigint, factor: number): bigint {
  return Number.isInteger(factor) ? ns * BigInt(factor) : BigInt(Math.trunc(Number(ns) * factor));
}

function instant(side: Reduced, context: ReduceContext): bigint {
  if (side.kind === 'time') return side.ns;
  return timeValueOf(side as Expr, context);
}

function incompatible() {
  return planFailure('invalid operation in a time expression');
}

/** A parameter with an explicit type. The v1 API uses it for types that JSON lacks. */
export interface TypedParameter {
  readonly literal: Expr;
}

export type Parameters = ReadonlyMap<string, ParameterValue | TypedParameter>;

/** Replaces parameters with their values. Throws if a parameter has no value. */
export function bindSelect(select: SelectStatement, params: Parameters): SelectStatement {
  const bind = (expr: Expr): Expr => bindExpr(expr, params);
  return {
    ...select,
    fields: select.fields.map((field) => ({ ...field, expr: bind(field.expr) })),
    sources: select.sources.map((source) =>
      source.kind === 'subquery'
        ? { ...source, select: bindSelect(source.select, params) }
        : source,
    ),
    ...(select.condition !== undefined && { condition: bind(select.condition) }),
    dimensions: select.dimensions.map((dimension) =>
      dimension.kind === 'call' ? { ...dimension, args: dimension.args.map(bind) } : dimension,
    ),
  };
}

export function bindStatement(statement: Statement, params: Parameters): Statement {
  switch (statement.kind) {
    case 'select':
      return bindSelect(statement, params);
    case 'create_continuous_query':
    case 'explain':
      return { ...statement, select: bindSelect(statement.select, params) };
    default:
      if (!('condition' in statement) || statement.condition === undefined) return statement;
      return { ...statement, condition: bindExpr(statement.condition, params) };
  }
}

function bindExpr(expr: Expr, params: Parameters): Expr {
  switch (expr.kind) {
    case 'binary': {
      const left = bindExpr(expr.left, params);
      const right = bindExpr(expr.right, params);
      const isMatch = expr.op === '=~' || expr.op === '!~';
      if (isMatch && right.kind === 'string') {
        return { ...expr, left, right: { kind: 'regex', source: right.value } };
      }
      return { ...expr, left, right };
    }
    case 'paren':
      return { kind: 'paren', inner: bindExpr(expr.inner, params) };
    case 'call':
      return { ...expr, args: expr.args.map((arg) => bindExpr(arg, params)) };
    case 'parameter':
      return literalOf(expr.name, params);
    default:
      return expr;
  }
}

function literalOf(name: string, params: Parameters): Expr {
  const value = params.get(name);
  switch (typeof value) {
    case 'string':
      return { kind: 'string', value };
    case 'boolean':
      return { kind: 'boolean', value };
    case 'bigint':
      return { kind: value > MAX_INT64 ? 'unsigned' : 'integer', value };
    case 'number':
      return { kind: 'number', value };
    default:
      if (value instanceof Uint8Array) {
        throw planFailure(
          `Bind parameter '$${name}' has type bytes, which InfluxQL does not support`,
        );
      }
      if (value !== null && value !== undefined) {
        return 'literal' in value ? value.literal : { kind: 'duration', ns: value.nanos };
      }
      throw planFailure(
        `Bind parameter '$${name}' was referenced in the InfluxQL statement but its value is undefined`,
      );
  }
}

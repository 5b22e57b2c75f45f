import type { SqlType } from '../../../../model/sql-type.js';
import type { BoundExpr, Constant, ConstantValue, Values } from '../../bound-expr.js';
import { engineType } from '../../emit/engine-type.js';
import { quoteString } from '../../emit/quote.js';
import type { Fact } from '../scan-draft.js';
import type { ScopeColumn } from '../scope.js';

/** `BoundExpr` with what only the binder itself wants to know. */
export interface Bound extends BoundExpr {
  /** The column itself, when the expression is nothing else. */
  readonly column?: ScopeColumn;
  /** What holds for base tables' rows wherever this condition is true. */
  readonly facts?: readonly Fact[];
  /** The facts say all that the condition says. */
  readonly isExact?: boolean;
  /** A call without anything around its arguments, when the expression is nothing else. */
  readonly call?: { readonly name: string; readonly args: readonly Bound[] };
  /** `column = 'a' OR column = 'b'`: what it compares, with the values in one type. */
  readonly choice?: Choice;
  /** Of a value computed as `text`: what it is computed of, and NULL with. */
  readonly operandsOf?: { readonly text: string; readonly operands: readonly string[] };
  /** Computes the result of an aggregate function from the aggregate in `text`. */
  readonly finish?: (aggregate: string) => string;
  /** Set for a parameter that is NULL: told in which type it is taken. */
  readonly onType?: (type: SqlType) => void;
}

export interface Choice {
  readonly column: string;
  readonly type: SqlType;
  readonly values: readonly string[];
}

export const BOOLEAN: SqlType = { kind: 'boolean' };
export const INT64: SqlType = { kind: 'int', bits: 64, signed: true };
export const UINT64: SqlType = { kind: 'int', bits: 64, signed: false };
export const FLOAT64: SqlType = { kind: 'float', bits: 64 };
export const UTF8: SqlType = { kind: 'utf8' };
export const NULL: SqlType = { kind: 'null' };
export const INTERVAL: SqlType = { kind: 'interval' };
export const DURATION: SqlType = { kind: 'duration' };
export const TIMESTAMP: SqlType = { kind: 'timestamp', unit: 'ns', zone: undefined };

/** A computed value: text over the operands, flags from the operands. */
export function derive(
  operands: readonly BoundExpr[],
  result: { readonly text: string; readonly type: SqlType; readonly displayName: string },
): Bound {
  return {
    ...result,
    hasAggregate: operands.some((operand) => operand.hasAggregate),
    hasWindow: operands.some((operand) => operand.hasWindow),
  };
}

export function constantExpr(
  value: ConstantValue,
  type: SqlType,
  displayName: string,
  again?: Constant['again'],
): Bound {
  return {
    text: constantText(value, type),
    type,
    displayName,
    constant: { value, again },
    hasAggregate: false,
    hasWindow: false,
  };
}

/** How a value is had again that is made of one constant alone. */
export function mapped<T>(
  { again }: Constant,
  map: (value: ConstantValue) => T | undefined,
): ((values: Values) => T | undefined) | undefined {
  if (again === undefined) return undefined;
  return (values) => {
    const value = again(values);
    return value === undefined ? undefined : map(value);
  };
}

/** The engine's text of a value, typed exactly. */
export function constantText(value: ConstantValue, type: SqlType): string {
  if (value === null) return type.kind === 'null' ? 'NULL' : `CAST(NULL AS ${engineType(type)})`;
  switch (typeof value) {
    case 'boolean':
      return String(value);
    case 'string':
      return type.kind === 'utf8' || type.kind === 'tag'
        ? quoteString(value)
        : `CAST(${quoteString(value)} AS ${engineType(type)})`;
    case 'object':
      return (
        `{'months': ${value.months}::INTEGER, 'days': ${value.days}::INTEGER, ` +
        `'nanos': (${value.nanos})::BIGINT}`
      );
    default:
      return numberText(value, type);
  }
}

function numberText(value: number | bigint, type: SqlType): string {
  const number = value < 0 ? `(${value})` : String(value);
  switch (type.kind) {
    case 'timestamp':
      return `make_timestamp_ns(${number}::BIGINT)`;
    case 'date':
      return `(DATE '1970-01-01' + ${number}::INTEGER)`;
    case 'float':
      return floatText(Number(value), engineType(type));
    default:
      return `${number}::${engineType(type)}`;
  }
}

/** A form with an exponent is read as a float at once; others would pass through DECIMAL. */
function floatText(value: number, engineName: string): string {
  if (!Number.isFinite(value)) {
    const name = Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
    return `'${name}'::${engineName}`;
  }
  const shown = Object.is(value, -0) ? '-0' : String(value);
  const digits = shown.includes('e') ? shown : `${shown}e0`;
  const text = shown.startsWith('-') ? `(${digits})` : digits;
  return engineName === 'FLOAT' ? `${text}::FLOAT` : text;
}

import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import type { BoundExpr, Constant, ConstantValue, Folding, Values } from '../../bound-expr.js';
import { duckDbType } from '../../emit/duckdb-type.js';
import { quoteString } from '../../emit/quote.js';
import type { ExprTree, Lazy } from '../../plan-tree.js';
import type { RowCondition } from '../scan-draft.js';
import type { ScopeColumn } from '../scope.js';

/** `BoundExpr` with properties that only the binder uses. */
export interface Bound extends BoundExpr {
  /** Set if the expression is a single column. */
  readonly column?: ScopeColumn;
  /** Row conditions that hold for rows of base tables if this condition is true. */
  readonly rowConditions?: readonly RowCondition[];
  /** True if the row conditions are equivalent to the condition. */
  readonly isExact?: boolean;
  /** Set if the expression is a single function call. */
  readonly call?: { readonly name: string; readonly args: readonly Bound[] };
  /** Column and values of `column = 'a' OR column = 'b'`; the values have one type. */
  readonly choice?: Choice;
  /** Operands of a value computed as `text`, which is NULL if one of them is. */
  readonly operandsOf?: { readonly text: string; readonly operands: readonly string[] };
  /** Computes the result of an aggregate function from the aggregate in `text`. */
  readonly finish?: (aggregate: string) => string;
  /** Set for a NULL parameter; called with the type in which it is used. */
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

/**
 * Returns a computed value, with the flags of its operands.
 * @param onlyOfNull whether the result is NULL only if an operand is.
 */
export function derive(
  operands: readonly BoundExpr[],
  result: {
    readonly text: string;
    readonly type: SqlType;
    readonly displayName: string;
    readonly tree?: Lazy<ExprTree> | undefined;
  },
  { onlyOfNull = false }: { readonly onlyOfNull?: boolean } = {},
): Bound {
  const foldings = operands.map(foldingOf);
  const isOfNull = foldings.includes('null');
  const isFolded = foldings.length > 0 && !foldings.includes(undefined);
  const folds = isOfNull || (isFolded && !onlyOfNull) ? 'null' : isFolded ? 'value' : undefined;
  return {
    ...result,
    text: isOfNull ? typedText(result.text, result.type) : result.text,
    ...(folds && { folds }),
    hasAggregate: operands.some((operand) => operand.hasAggregate),
    hasWindow: operands.some((operand) => operand.hasWindow),
  };
}

/** Removes the properties that a cast value does not share with its operand. */
export function withoutOrigin(expr: Bound): Bound {
  const { column: _column, rowConditions: _conditions, isExact: _isExact, ...rest } = expr;
  const { call: _call, ...kept } = rest;
  return kept;
}

export const foldingOf = ({ constant, folds }: BoundExpr): Folding | undefined =>
  constant === undefined ? folds : constant.value === null ? 'null' : 'value';

/** Returns text that keeps its type even where DuckDB replaces it with NULL. */
export const typedText = (text: string, type: SqlType): string =>
  type.kind === 'null' ? text : `CAST(${text} AS ${duckDbType(type)})`;

export function constantExpr(
  value: ConstantValue,
  type: SqlType,
  displayName: string,
  recompute?: Constant['recompute'],
): Bound {
  return {
    text: constantText(value, type),
    type,
    displayName,
    constant: { value, recompute },
    hasAggregate: false,
    hasWindow: false,
  };
}

/** Returns a function that recomputes a value derived from one constant. */
export function mapped<T>(
  { recompute }: Constant,
  map: (value: ConstantValue) => T | undefined,
): ((values: Values) => T | undefined) | undefined {
  if (recompute === undefined) return undefined;
  return (values) => {
    const value = recompute(values);
    return value === undefined ? undefined : map(value);
  };
}

/** Returns the DuckDB SQL of a value with its exact type. */
export function constantText(value: ConstantValue, type: SqlType): string {
  if (value === null) return type.kind === 'null' ? 'NULL' : `CAST(NULL AS ${duckDbType(type)})`;
  switch (typeof value) {
    case 'boolean':
      return String(value);
    case 'string':
      return type.kind === 'utf8' || type.kind === 'tag'
        ? quoteString(value)
        : `CAST(${quoteString(value)} AS ${duckDbType(type)})`;
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
      return floatText(Number(value), duckDbType(type));
    default:
      return `${number}::${duckDbType(type)}`;
  }
}

/**
 * DuckDB parses a literal with an exponent directly as a float; others would pass through DECIMAL.
 */
function floatText(value: number, duckDbType: string): string {
  if (!Number.isFinite(value)) {
    const name = Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
    return `'${name}'::${duckDbType}`;
  }
  const shown = Object.is(value, -0) ? '-0' : String(value);
  const digits = shown.includes('e') ? shown : `${shown}e0`;
  const text = shown.startsWith('-') ? `(${digits})` : digits;
  return duckDbType === 'FLOAT' ? `${text}::FLOAT` : text;
}

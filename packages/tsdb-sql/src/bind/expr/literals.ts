import { MAX_INT64, MAX_UINT64 } from '@plinth/tsdb-model/columns/int64.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { ParameterValue } from '@plinth/tsdb-model/query/planned-query.js';
import type { Constant, ConstantValue } from '../../bound-expr.js';
import type { ExprNodes, Literal, LiteralNode } from '../../parse/ast.js';
import type { Env } from '../session.js';
import {
  BOOLEAN,
  type Bound,
  constantExpr,
  FLOAT64,
  INT64,
  INTERVAL,
  NULL,
  UINT64,
  UTF8,
} from '../types/bound.js';
import { typeOfDataType } from '../types/data-type.js';
import { plainDigits } from '../types/plain-digits.js';
import { convert } from './convert.js';
import { intervalDisplayName, multiplyInterval, parseInterval } from './operators/intervals.js';

export function bindValue(node: ExprNodes['Value'], env: Env): Bound {
  const literal = node.value;
  if (literal === 'Null') return constantExpr(null, NULL, 'NULL');
  const text = stringOf(literal);
  if (text !== undefined)
    return constantExpr(text, UTF8, `Utf8("${text}")`, ({ texts }) => texts.get(node));
  if (typeof literal === 'object') {
    if ('Number' in literal) return numberLiteral((literal['Number'] as readonly [string])[0]);
    if ('Boolean' in literal) {
      return constantExpr(literal['Boolean'] as boolean, BOOLEAN, `Boolean(${literal['Boolean']})`);
    }
    if ('Placeholder' in literal) return placeholder(literal['Placeholder'] as string, env);
  }
  throw tsdbError('not_implemented', `Unsupported Value ${JSON.stringify(literal)}`);
}

/** Returns the text of a string literal in any notation. */
export function stringOf(literal: Literal): string | undefined {
  if (typeof literal === 'string') return undefined;
  const text =
    literal['SingleQuotedString'] ??
    literal['EscapedStringLiteral'] ??
    literal['UnicodeStringLiteral'] ??
    literal['NationalStringLiteral'] ??
    (literal['DollarQuotedString'] as { readonly value: string } | undefined)?.value;
  return typeof text === 'string' ? text : undefined;
}

/**
 * Binds a number. Integers become Int64, UInt64 or Float64, whichever fits first; all others become
 * Float64.
 */
function numberLiteral(digits: string): Bound {
  if (/^\d+$/.test(digits)) {
    const value = BigInt(digits);
    if (value <= MAX_INT64) return constantExpr(value, INT64, `Int64(${value})`, () => value);
    if (value <= MAX_UINT64) return constantExpr(value, UINT64, `UInt64(${value})`, () => value);
  }
  const value = Number(digits);
  if (!Number.isFinite(value)) {
    throw tsdbError('plan_error', `SQL error: ParserError("Cannot parse ${digits} as f64")`);
  }
  return constantExpr(value, FLOAT64, `Float64(${plainDigits(value)})`, () => value);
}

/** Looks the parameter up again instead of capturing its value, which may be large. */
function recomputeParameter(name: string, kind: string): Constant['recompute'] {
  return ({ context }) => {
    const value = context.params.get(name);
    return kindOf(value) === kind ? (value as ConstantValue) : undefined;
  };
}

const kindOf = (value: unknown): string => (typeof value === 'bigint' ? 'number' : typeof value);

function isPlaceholder({ value }: LiteralNode): boolean {
  return typeof value === 'object' && 'Placeholder' in value;
}

function placeholder(marker: string, env: Env): Bound {
  const { params } = env.session.context;
  const name = marker.slice(1);
  const value = params.get(name);
  if (!marker.startsWith('$') || value === undefined) {
    throw tsdbError(
      'plan_error',
      `Error during planning: No value found for placeholder with name ${marker}`,
    );
  }
  const bound = parameterExpr(value, marker);
  if (typeof value !== 'object')
    return { ...bound, constant: { value, recompute: recomputeParameter(name, kindOf(value)) } };
  if (value !== null) return bound;
  return { ...bound, onType: (type) => env.session.parameterTypes.note(name, type) };
}

/** Returns the expression for a parameter value. Source: query-languages, "Parameters". */
function parameterExpr(value: ParameterValue, displayName: string): Bound {
  switch (typeof value) {
    case 'boolean':
      return constantExpr(value, BOOLEAN, displayName);
    case 'number':
      return constantExpr(value, FLOAT64, displayName);
    case 'bigint':
      return constantExpr(value, value <= MAX_INT64 ? INT64 : UINT64, displayName);
    case 'string':
      return constantExpr(value, UTF8, displayName);
    default:
      if (value === null) return constantExpr(null, NULL, displayName);
      return value instanceof Uint8Array
        ? bytesExpr(value, displayName)
        : constantExpr(value, INTERVAL, displayName);
  }
}

function bytesExpr(bytes: Uint8Array, displayName: string): Bound {
  const text = `unhex('${Buffer.from(bytes).toString('hex')}')`;
  return {
    text,
    type: { kind: 'binary' },
    displayName,
    folds: 'value',
    hasAggregate: false,
    hasWindow: false,
  };
}

/** Binds `INTERVAL '1 day'`, `INTERVAL '1' DAY` or `INTERVAL 1 DAY`, optionally negative. */
export function bindInterval(node: ExprNodes['Interval'], env: Env): Bound {
  const unit = node.leading_field && unitOfField(node.leading_field);
  const value = env.session.bindExpr(node.value, env).constant?.value;
  if (
    value === null ||
    value === undefined ||
    typeof value === 'object' ||
    typeof value === 'boolean'
  ) {
    throw tsdbError(
      'not_implemented',
      'Unsupported interval argument. Expected string literal or number',
    );
  }
  const interval =
    typeof value === 'bigint' && unit !== undefined
      ? multiplyInterval(parseInterval('1', unit.toLowerCase()), Number(value))
      : parseInterval(String(value), unit?.toLowerCase());
  // A literal interval is part of the query text and therefore the same on each run.
  const isWritten = 'Value' in node.value && !isPlaceholder(node.value.Value);
  const recompute = isWritten ? () => interval : undefined;
  return constantExpr(interval, INTERVAL, intervalDisplayName(interval), recompute);
}

/** For a week, the parser returns an object, which in other dialects may name its first day. */
function unitOfField(field: string | { readonly Week?: string }): string {
  if (typeof field === 'string') return field;
  if ('Week' in field && field.Week === undefined) return 'week';
  throw tsdbError('not_implemented', `Unsupported interval field ${JSON.stringify(field)}`);
}

/** Binds `TIMESTAMP '2020-01-01'` or `DATE '…'`. */
export function bindTypedString(node: ExprNodes['TypedString'], env: Env): Bound {
  return convert(bindValue(node.value, env), typeOfDataType(node.data_type));
}

import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { isNumeric, type SqlType, valueType } from '@plinth/tsdb-model/sql-type.js';
import { quoteString } from '../../emit/quote.js';
import type { FunctionCall, FunctionDefinition, FunctionResult } from '../function-definition.js';
import {
  aggregate,
  argAs,
  argAt,
  BOOLEAN,
  badArguments,
  constantText,
  expectArgCount,
  FLOAT64,
  floatArg,
  INT32,
  INT64,
  isInteger,
  textArg,
  UINT64,
} from '../signature.js';

/** Aggregate functions. Source: query-languages, "Aggregates". */
export const AGGREGATES: readonly FunctionDefinition[] = [
  aggregate(['count'], bindCount),
  aggregate(['sum'], bindSum),
  aggregate(['min'], (call) => bindExtreme(call, 'min')),
  aggregate(['max'], (call) => bindExtreme(call, 'max')),
  aggregate(['avg', 'mean'], bindAvg),
  aggregate(['median'], bindMedian),
  aggregate(['array_agg'], bindArrayAgg),
  aggregate(['string_agg'], bindStringAgg),
  ...['bit_and', 'bit_or', 'bit_xor'].map((name) =>
    aggregate([name], (call) => {
      expectArgCount(call, 1);
      const { text, type } = argAt(call, 0);
      if (!isInteger(type)) throw badArguments(call);
      return { text: call.aggregate(name, [text]), type };
    }),
  ),
  ...['bool_and', 'bool_or'].map((name) =>
    aggregate([name], (call) => {
      expectArgCount(call, 1);
      const arg = argAs(call, 0, BOOLEAN, (type) => type.kind === 'boolean');
      return { text: call.aggregate(name, [arg.text]), type: BOOLEAN };
    }),
  ),
  aggregate(['first_value'], (call) => bindPositional(call, 'first', 'first_value')),
  aggregate(['last_value'], (call) => bindPositional(call, 'last', 'last_value')),
  aggregate(['nth_value'], bindNthValue),
  aggregate(['grouping'], (call) => {
    expectArgCount(call, 1);
    return { text: `CAST(grouping(${argAt(call, 0).text}) AS INTEGER)`, type: INT32 };
  }),
  aggregate(['approx_distinct'], (call) => {
    expectArgCount(call, 1);
    // Counts exactly, because DuckDB's estimate is off by up to 25 % and DataFusion's by 1 %.
    const distinct = call.aggregate('count', [argAt(call, 0).text], { distinct: true });
    return { text: `CAST(${distinct} AS UBIGINT)`, type: UINT64 };
  }),
];

function bindCount(call: FunctionCall): FunctionResult {
  if (call.isStar || call.args.length === 0)
    return { text: call.aggregate('count', ['*']), type: INT64 };
  expectArgCount(call, 1, Number.POSITIVE_INFINITY);
  if (call.args.length === 1) {
    return { text: call.aggregate('count', [argAt(call, 0).text]), type: INT64 };
  }
  // With several arguments, counts the rows in which none is NULL; DuckDB's count takes one
  // argument.
  const texts = call.args.map((arg) => arg.text);
  const filter = texts.map((text) => `${text} IS NOT NULL`).join(' AND ');
  return { text: call.aggregate('count', [`row(${texts.join(', ')})`], { filter }), type: INT64 };
}

function bindSum(call: FunctionCall): FunctionResult {
  expectArgCount(call, 1);
  const { text, type } = argAt(call, 0);
  const sum = () => call.aggregate('sum', [text]);
  switch (type.kind) {
    case 'int':
      // DuckDB adds integers in 128 bits; a sum outside the type is a query error.
      return type.signed
        ? { text: `CAST(${sum()} AS BIGINT)`, type: INT64 }
        : { text: `CAST(${sum()} AS UBIGINT)`, type: UINT64 };
    case 'float':
    case 'null':
      return { text: call.aggregate('sum', [floatArg(call, 0).text]), type: FLOAT64 };
    case 'duration':
      return { text: `CAST(${sum()} AS BIGINT)`, type };
    case 'decimal': {
      const precision = Math.min(38, type.precision + 10);
      const { scale } = type;
      return {
        text: `CAST(${sum()} AS DECIMAL(${precision}, ${scale}))`,
        type: { kind: 'decimal', precision, scale },
      };
    }
    default:
      throw badArguments(call);
  }
}

function bindExtreme(call: FunctionCall, duckDbFunction: 'min' | 'max'): FunctionResult {
  expectArgCount(call, 1);
  const { text, type } = argAt(call, 0);
  if (type.kind === 'map') throw badArguments(call);
  return {
    text: call.aggregate(duckDbFunction, [text], { distinct: false }),
    type: valueType(type),
  };
}

function bindAvg(call: FunctionCall): FunctionResult {
  expectArgCount(call, 1);
  const { text, type } = argAt(call, 0);
  if (type.kind === 'duration') {
    return { text: `CAST(trunc(${call.aggregate('avg', [text])}) AS BIGINT)`, type };
  }
  if (type.kind !== 'null' && !isNumeric(type)) throw badArguments(call);
  return { text: call.aggregate('avg', [floatArg(call, 0).text]), type: FLOAT64 };
}

/**
 * The median of integers is an integer: the mean of the two middle values, truncated toward zero.
 */
function bindMedian(call: FunctionCall): FunctionResult {
  expectArgCount(call, 1);
  const { text, type } = argAt(call, 0);
  if (type.kind !== 'null' && !isNumeric(type)) throw badArguments(call);
  if (type.kind === 'int') {
    const lower = call.aggregate('quantile_disc', [text, '0.5']);
    const upper = call.aggregate('quantile_disc', [text, '-0.5']);
    const middle = `(CAST(${lower} AS HUGEINT) + CAST(${upper} AS HUGEINT)) // 2`;
    return { text: `CAST(${middle} AS ${integerName(type)})`, type };
  }
  const median = call.aggregate('quantile_cont', [floatArg(call, 0).text, '0.5']);
  return type.kind === 'float' && type.bits === 32
    ? { text: `CAST(${median} AS FLOAT)`, type }
    : { text: median, type: FLOAT64 };
}

function bindArrayAgg(call: FunctionCall): FunctionResult {
  expectArgCount(call, 1);
  const { text, type } = argAt(call, 0);
  const filter = call.ignoreNulls && !call.isWindow ? { filter: `${text} IS NOT NULL` } : {};
  return {
    text: call.aggregate('list', [text], filter),
    type: { kind: 'list', element: type },
  };
}

function bindStringAgg(call: FunctionCall): FunctionResult {
  expectArgCount(call, 2);
  const delimiter = constantText(call, 1, 'its delimiter');
  return {
    text: call.aggregate('string_agg', [textArg(call, 0).text, quoteString(delimiter)]),
    type: { kind: 'utf8' },
  };
}

/** By default, both functions treat NULL like any other value. */
function bindPositional(
  call: FunctionCall,
  duckDbAggregate: 'first' | 'last',
  duckDbWindow: 'first_value' | 'last_value',
): FunctionResult {
  expectArgCount(call, 1);
  const { text, type } = argAt(call, 0);
  if (call.isWindow) {
    return { text: call.aggregate(duckDbWindow, [text]), type: valueType(type) };
  }
  const filter = call.ignoreNulls ? { filter: `${text} IS NOT NULL` } : {};
  return { text: call.aggregate(duckDbAggregate, [text], filter), type: valueType(type) };
}

/**
 * A negative position counts from the end. Source: DataFusion, aggregate and window functions,
 * "nth_value".
 */
function bindNthValue(call: FunctionCall): FunctionResult {
  expectArgCount(call, 2);
  const { text, type } = argAt(call, 0);
  const position = argAt(call, 1).constant?.value;
  const isInt64 = typeof position === 'bigint' && BigInt.asIntN(64, position) === position;
  if (position !== null && !isInt64) {
    throw tsdbError(
      'plan_error',
      'Error during planning: nth_value not supported for n: the position must be a literal of type Int64',
    );
  }
  if (call.isWindow) return { text: nthOfWindow(call, text, position), type: valueType(type) };
  const filter = call.ignoreNulls ? { filter: `${text} IS NOT NULL` } : {};
  const values = call.aggregate('list', [text], filter);
  return { text: `list_extract(${values}, ${position})`, type: valueType(type) };
}

function nthOfWindow(call: FunctionCall, text: string, position: bigint | null): string {
  if (position === -1n) return call.aggregate('last_value', [text]);
  const isFromEnd = position !== null && position < 0n;
  const place = position === null ? 'NULL' : String(isFromEnd ? -position : position);
  return call.aggregate('nth_value', [text, place], { isFromEnd });
}

/** Returns the DuckDB name of an integer type. */
export function integerName(type: Extract<SqlType, { kind: 'int' }>): string {
  const names = { 8: 'TINYINT', 16: 'SMALLINT', 32: 'INTEGER', 64: 'BIGINT' };
  return `${type.signed ? '' : 'U'}${names[type.bits]}`;
}

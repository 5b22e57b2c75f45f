import { MAX_UINT64, MIN_INT64 } from '@plinth/tsdb-model/columns/int64.js';
import type { BinaryOperator } from '../ast/expressions.js';
import type { DataType, Value } from './data-type.js';
import { isNumeric } from './data-type.js';

/**
 * Applies an arithmetic operator to two values; returns `null` if it is undefined. Integers wrap; a
 * quotient is a float, and 0 if the divisor is 0.
 * Source: query-languages, "Arithmetic in SELECT".
 */
export function calculate(op: BinaryOperator, left: Value, right: Value): Value {
  if (left === null || right === null) return null;
  if (typeof left === 'boolean' && typeof right === 'boolean') return ofBooleans(op, left, right);
  if (typeof left === 'bigint' && typeof right === 'bigint') return ofIntegers(op, left, right);
  if (!isNumber(left) || !isNumber(right)) return null;
  return ofFloats(op, Number(left), Number(right));
}

const isNumber = (value: Value): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

function ofFloats(op: BinaryOperator, left: number, right: number): Value {
  switch (op) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return right === 0 ? 0 : left / right;
    case '%':
      return left % right;
    case '&':
    case '|':
    case '^':
      return ofIntegers(op, toInteger(left), toInteger(right));
    default:
      return null;
  }
}

const toInteger = (value: number): bigint =>
  Number.isFinite(value) ? BigInt.asIntN(64, BigInt(Math.trunc(value))) : 0n;

function ofIntegers(op: BinaryOperator, left: bigint, right: bigint): Value {
  switch (op) {
    case '+':
      return wrapped(left + right);
    case '-':
      return wrapped(left - right);
    case '*':
      return wrapped(left * right);
    case '/':
      return right === 0n ? 0 : Number(left) / Number(right);
    case '%':
      return right === 0n ? 0n : left % right;
    case '&':
      return left & right;
    case '|':
      return left | right;
    case '^':
      return left ^ right;
    default:
      return null;
  }
}

/**
 * Wraps a value as a signed integer if it fits neither the signed nor the unsigned 64-bit range.
 */
function wrapped(value: bigint): bigint {
  return value > MAX_UINT64 || value < MIN_INT64 ? BigInt.asIntN(64, value) : value;
}

function ofBooleans(op: BinaryOperator, left: boolean, right: boolean): Value {
  switch (op) {
    case '&':
      return left && right;
    case '|':
      return left || right;
    case '^':
      return left !== right;
    default:
      return null;
  }
}

const ARITHMETIC: ReadonlySet<BinaryOperator> = new Set(['+', '-', '*', '/', '%', '&', '|', '^']);

/** Returns the result type, or `undefined` if the operator does not accept the operands. */
export function arithmeticType(
  op: BinaryOperator,
  left: DataType,
  right: DataType,
): DataType | undefined {
  if (!ARITHMETIC.has(op)) return undefined;
  if (left === 'unknown' || right === 'unknown') return 'unknown';
  if (left === 'boolean' && right === 'boolean') {
    return op === '&' || op === '|' || op === '^' ? 'boolean' : undefined;
  }
  if (!isNumeric(left) || !isNumeric(right)) return undefined;
  if (op === '/') return 'float';
  if (op === '&' || op === '|' || op === '^') return 'integer';
  if (left === 'float' || right === 'float') return 'float';
  return left === 'unsigned' || right === 'unsigned' ? 'unsigned' : 'integer';
}

/** Wraps an integer for a column of a given type. */
export function asType(value: Value, type: DataType): Value {
  if (typeof value !== 'bigint') return value;
  return type === 'unsigned' ? BigInt.asUintN(64, value) : BigInt.asIntN(64, value);
}

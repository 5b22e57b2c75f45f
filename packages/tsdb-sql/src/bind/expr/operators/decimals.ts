import { arrowTypeName } from '@plinth/tsdb-model/arrow-type-name.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { duckDbType } from '../../../emit/duckdb-type.js';
import type { Bound } from '../../types/bound.js';
import { asDecimal, type DecimalType, decimal, MAX_DIGITS } from '../../types/common-type.js';
import { convert } from '../convert.js';

export type ArithmeticOp = '+' | '-' | '*' | '/' | '%';

/** Digits after the decimal point that a quotient has in addition to those of its dividend. */
const QUOTIENT_DIGITS = 4;

interface DecimalResult {
  readonly text: string;
  readonly type: DecimalType;
  /** The right operand as it is in `text`. */
  readonly right: Bound;
}

/**
 * Binds an operator on two decimals, or on a decimal and an integer. Sums and products keep all
 * digits; a quotient is truncated. Source: Arrow, `decimal_op`; query-languages, "Numbers".
 */
export function bindDecimals(left: Bound, op: ArithmeticOp, right: Bound): DecimalResult {
  const [x, y] = [decimalOf(left.type, right.type), decimalOf(right.type, left.type)];
  const fault = faultOf(op, x, y);
  if (fault !== undefined)
    throw tsdbError(
      'plan_error',
      `Error during planning: Cannot get result type for decimal operation ${textOf(op, x, y)}: ${fault}`,
    );
  const type = resultType(op, x, y);
  const [a, b] = [convert(left, x), convert(right, y)];
  const value = valueText(op, a.text, b.text, x, y);
  return { text: `CAST(${value} AS ${duckDbType(type)})`, type, right: b };
}

const decimalOf = (type: SqlType, other: SqlType): DecimalType =>
  asDecimal(type.kind === 'null' ? other : type);

const textOf = (op: ArithmeticOp, x: DecimalType, y: DecimalType): string =>
  `${arrowTypeName(x)} ${op} ${arrowTypeName(y)}`;

/** Returns why two types have no result type; `undefined` if they have one. */
function faultOf(op: ArithmeticOp, x: DecimalType, y: DecimalType): string | undefined {
  if (op === '*' && x.scale + y.scale > MAX_DIGITS)
    return `Invalid argument error: Output scale of ${textOf(op, x, y)} would exceed max scale of ${MAX_DIGITS}`;
  if (op === '/' && shiftOf(x, y) > MAX_DIGITS)
    return `Arithmetic overflow: Overflow happened on: 10 ^ ${shiftOf(x, y)}`;
  return undefined;
}

function valueText(op: ArithmeticOp, a: string, b: string, x: DecimalType, y: DecimalType): string {
  switch (op) {
    case '/':
      return quotient(a, b, x, y);
    case '%':
      return remainder(a, b, x, y);
    default:
      // DuckDB limits a result to 18 digits if both operands have at most 18.
      return `(CAST(${a} AS ${duckDbType(decimal(MAX_DIGITS, x.scale))}) ${op} ${b})`;
  }
}

function resultType(op: ArithmeticOp, x: DecimalType, y: DecimalType): DecimalType {
  const [wholeX, wholeY] = [x.precision - x.scale, y.precision - y.scale];
  const scale = Math.max(x.scale, y.scale);
  switch (op) {
    case '+':
    case '-':
      return decimal(Math.max(wholeX, wholeY) + 1 + scale, scale);
    case '*':
      return decimal(x.precision + y.precision + 1, x.scale + y.scale);
    case '/':
      return decimal(x.precision + shiftOf(x, y), quotientScale(x));
    default:
      return decimal(Math.min(wholeX, wholeY) + scale, scale);
  }
}

const quotientScale = ({ scale }: DecimalType) => Math.min(MAX_DIGITS, scale + QUOTIENT_DIGITS);

/** Returns the number of zeros that are appended to the dividend's digits. */
const shiftOf = (x: DecimalType, y: DecimalType) => quotientScale(x) - x.scale + y.scale;

/** DuckDB divides decimals as floats, so the digits are divided as integers. */
function quotient(a: string, b: string, x: DecimalType, y: DecimalType): string {
  return withScale(
    `(${digitsOf(a)} * ${powerOfTen(shiftOf(x, y))}) // ${digitsOf(b)}`,
    quotientScale(x),
  );
}

/** DuckDB computes a remainder as a float if the operands together have more than 38 digits. */
function remainder(a: string, b: string, x: DecimalType, y: DecimalType): string {
  const scale = Math.max(x.scale, y.scale);
  const digits = (value: string, type: DecimalType): string =>
    `(${digitsOf(value)} * ${powerOfTen(scale - type.scale)})`;
  return withScale(`${digits(a, x)} % ${digits(b, y)}`, scale);
}

const withScale = (digits: string, scale: number): string =>
  `(CAST(${digits} AS DECIMAL(${MAX_DIGITS}, 0)) * CAST(1e-${scale} AS DECIMAL(${MAX_DIGITS}, ${scale})))`;

const digitsOf = (value: string): string =>
  `CAST(replace(CAST(${value} AS VARCHAR), '.', '') AS HUGEINT)`;

const powerOfTen = (exponent: number) => `${10n ** BigInt(exponent)}::HUGEINT`;

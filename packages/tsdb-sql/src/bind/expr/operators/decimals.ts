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
  const type = resultType(op, x, y);
  const divisor = convert(right, y);
  // DuckDB limits a result to 18 digits if both operands have at most 18.
  const a = `CAST(${convert(left, x).text} AS ${duckDbType(decimal(MAX_DIGITS, x.scale))})`;
  const value = op === '/' ? quotient(a, divisor.text, x, y) : `(${a} ${op} ${divisor.text})`;
  return { text: `CAST(${value} AS ${duckDbType(type)})`, type, right: divisor };
}

const decimalOf = (type: SqlType, other: SqlType): DecimalType =>
  asDecimal(type.kind === 'null' ? other : type);

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
  const dividend = `(${digitsOf(a, x.scale)} * ${powerOfTen(shiftOf(x, y))})`;
  const digits = `(${dividend} // ${digitsOf(b, y.scale)})`;
  const scale = quotientScale(x);
  return `(CAST(${digits} AS DECIMAL(${MAX_DIGITS}, 0)) * CAST(1e-${scale} AS DECIMAL(${MAX_DIGITS}, ${scale})))`;
}

const digitsOf = (value: string, scale: number) =>
  `CAST(CAST(${value} AS DECIMAL(${MAX_DIGITS}, ${scale})) * ${powerOfTen(scale)} AS HUGEINT)`;

const powerOfTen = (exponent: number) => `${10n ** BigInt(exponent)}::HUGEINT`;

import {
  isNested,
  isNumeric,
  isSameType,
  isText,
  NS_PER_UNIT,
  type SqlType,
  type TimeUnit,
} from '@plinth/tsdb-model/sql-type.js';
import { FLOAT64, INT64, INTERVAL, NULL, TIMESTAMP, UTF8 } from './bound.js';

type IntType = Extract<SqlType, { kind: 'int' }>;
export type DecimalType = Extract<SqlType, { kind: 'decimal' }>;

/** Digits of the largest Decimal128. */
export const MAX_DIGITS = 38;

function isTemporal(type: SqlType): boolean {
  return ['timestamp', 'date', 'time', 'duration', 'interval'].includes(type.kind);
}

/**
 * Returns the type to which both operands of arithmetic are converted. Source: query-languages,
 * "Numbers".
 */
export function numericType(a: SqlType, b: SqlType): SqlType | undefined {
  if (a.kind === 'null') return isNumeric(b) ? b : b.kind === 'null' ? INT64 : undefined;
  if (b.kind === 'null') return numericType(b, a);
  if (!isNumeric(a) || !isNumeric(b)) return undefined;
  if (a.kind === 'float' || b.kind === 'float') {
    const isDouble = [a, b].some(
      (type) => type.kind === 'decimal' || (type.kind === 'float' && type.bits === 64),
    );
    return isDouble ? FLOAT64 : { kind: 'float', bits: 32 };
  }
  if (a.kind === 'decimal' || b.kind === 'decimal') {
    const [x, y] = [asDecimal(a), asDecimal(b)];
    const scale = Math.max(x.scale, y.scale);
    const whole = Math.max(x.precision - x.scale, y.precision - y.scale);
    return decimal(whole + scale, scale);
  }
  return a.kind === 'int' && b.kind === 'int' ? integerType(a, b) : undefined;
}

/** Mixed signedness needs the next size; above 64 bits the type stays Int64. */
function integerType(a: IntType, b: IntType): SqlType {
  if (a.signed === b.signed) return a.bits >= b.bits ? a : b;
  const [signed, unsigned] = a.signed ? [a, b] : [b, a];
  const bits = Math.min(64, Math.max(signed.bits, unsigned.bits * 2)) as IntType['bits'];
  return { kind: 'int', bits, signed: true };
}

/** Returns the decimal type that contains all values of a numeric type. */
export function asDecimal(type: SqlType): DecimalType {
  if (type.kind === 'decimal') return type;
  return decimal(type.kind === 'int' ? { 8: 3, 16: 5, 32: 10, 64: 20 }[type.bits] : MAX_DIGITS, 0);
}

export function decimal(digits: number, scale: number): DecimalType {
  return { kind: 'decimal', precision: Math.min(MAX_DIGITS, digits), scale };
}

/** Returns whether an integer type is read as days since 1970. */
const isWholeDays = (type: SqlType): boolean =>
  type.kind === 'int' && type.signed && type.bits >= 32;

/** Returns the type in which two values are compared, or `undefined` if they cannot be. */
export function comparisonType(a: SqlType, b: SqlType): SqlType | undefined {
  if (isSameType(a, b)) return a;
  if (a.kind === 'null') return b;
  if (b.kind === 'null') return a;
  if (isNumeric(a) && isNumeric(b)) return numericType(a, b);
  if (isText(a) && isText(b)) return UTF8;
  if (isText(a)) return isTemporal(b) || isNumeric(b) || b.kind === 'boolean' ? b : undefined;
  if (isText(b)) return comparisonType(b, a);
  if (a.kind === 'timestamp') {
    return b.kind === 'timestamp' || b.kind === 'date' || b.kind === 'int' ? a : undefined;
  }
  if (b.kind === 'timestamp') return comparisonType(b, a);
  if (a.kind === 'date' && isWholeDays(b)) return a;
  if (b.kind === 'date' && isWholeDays(a)) return b;
  if (a.kind === 'duration' && b.kind === 'interval') return a;
  if (a.kind === 'interval' && b.kind === 'duration') return b;
  if (a.kind === 'list' && b.kind === 'list') {
    const element = comparisonType(a.element, b.element);
    return element && { kind: 'list', element };
  }
  return undefined;
}

/**
 * Returns the common type of all branches of UNION, CASE, coalesce, VALUES or a list.
 * @param textYields whether a string combined with a number becomes a number (all but UNION, CASE
 * and nvl).
 * Source: DataFusion, `type_union_coercion` and `comparison_coercion`; query-languages, "Common
 * types".
 */
export function unionType(types: readonly SqlType[], textYields: boolean): SqlType | undefined {
  let common: SqlType | undefined = NULL;
  for (const type of types) {
    common = common && unionOfTwo(common, type, textYields);
  }
  return common;
}

function unionOfTwo(a: SqlType, b: SqlType, textYields: boolean): SqlType | undefined {
  if (isSameType(a, b)) return a;
  if (a.kind === 'null') return b;
  if (b.kind === 'null') return a;
  if (isText(b) && !isText(a)) return unionOfTwo(b, a, textYields);
  if (isText(a) && !isText(b)) return besideText(b, textYields);
  if (a.kind === 'int' && b.kind === 'int') return unionOfIntegers(a, b);
  if (a.kind === 'timestamp' && b.kind === 'timestamp')
    return { ...a, unit: finerUnit(a.unit, b.unit), zone: a.zone ?? b.zone };
  if ([a, b].some(({ kind }) => kind === 'date') && [a, b].some(({ kind }) => kind === 'timestamp'))
    return TIMESTAMP;
  if (a.kind === 'list' && b.kind === 'list') {
    const element = unionOfTwo(a.element, b.element, textYields);
    return element && { kind: 'list', element };
  }
  const isSpan = (type: SqlType) => type.kind === 'duration' || type.kind === 'interval';
  return isSpan(a) && isSpan(b) ? INTERVAL : comparisonType(a, b);
}

function besideText(other: SqlType, textYields: boolean): SqlType | undefined {
  if (isNested(other)) return undefined;
  if (other.kind === 'timestamp') return { ...other, unit: 'ns' };
  if (other.kind === 'date' || other.kind === 'time') return other;
  return textYields && isNumeric(other) ? other : UTF8;
}

/** No integer type contains all values of Int64 and UInt64. */
function unionOfIntegers(a: IntType, b: IntType): SqlType {
  const isWide = a.signed !== b.signed && [a, b].some((type) => !type.signed && type.bits === 64);
  return isWide ? decimal(20, 0) : integerType(a, b);
}

function finerUnit(a: TimeUnit, b: TimeUnit): TimeUnit {
  return NS_PER_UNIT[a] < NS_PER_UNIT[b] ? a : b;
}

import type { ColumnKind } from '@plinth/tsdb-model/columns/column.js';
import { MAX_INT64, MIN_INT64 } from '@plinth/tsdb-model/columns/int64.js';
import type { CastType } from '../ast/expressions.js';

/** Type of a reference or expression. `unknown` means that no source has such a column. */
export type DataType =
  | 'float'
  | 'integer'
  | 'unsigned'
  | 'string'
  | 'boolean'
  | 'tag'
  | 'time'
  | 'unknown';

/** A cell value. Both integer types are `bigint`, which distinguishes them from floats. */
export type Value = number | bigint | string | boolean | null;

const OF_KIND: Readonly<Record<ColumnKind, DataType>> = {
  float64: 'float',
  int64: 'integer',
  uint64: 'unsigned',
  utf8: 'string',
  bool: 'boolean',
  tag: 'tag',
  time: 'time',
};

export function typeOfKind(kind: ColumnKind): DataType {
  return OF_KIND[kind];
}

/**
 * If a name has several types, the first of these applies. Source: query-languages, "Expansion".
 */
const PRECEDENCE: readonly DataType[] = [
  'float',
  'integer',
  'unsigned',
  'string',
  'boolean',
  'tag',
  'unknown',
];

export function strongerType(a: DataType, b: DataType): DataType {
  return PRECEDENCE.indexOf(a) <= PRECEDENCE.indexOf(b) ? a : b;
}

export function isNumeric(type: DataType): boolean {
  return type === 'float' || type === 'integer' || type === 'unsigned';
}

/**
 * Returns the type of a column of type `actual` that is read with `::cast`. Source:
 * query-languages, "Casts".
 */
export function castedType(actual: DataType, cast: CastType | undefined): DataType {
  switch (cast) {
    case undefined:
      return actual;
    case 'tag':
      return actual === 'tag' ? 'tag' : 'unknown';
    case 'field':
      return actual === 'tag' ? 'unknown' : actual;
    default:
      return actual === 'unknown' || actual === 'tag' ? 'unknown' : cast;
  }
}

/** Returns whether one field type can be read as another. Only numbers convert to each other. */
export function isConvertible(from: DataType, to: DataType): boolean {
  return from === to || (isNumeric(from) && isNumeric(to));
}

/** Converts a value to another numeric type, truncating towards zero. */
export function convertValue(value: Value, to: DataType): Value {
  if (value === null) return null;
  if (to === 'float') return typeof value === 'bigint' ? Number(value) : value;
  if (to !== 'integer' && to !== 'unsigned') return value;
  if (typeof value === 'bigint') {
    return to === 'integer' ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value);
  }
  if (typeof value !== 'number' || !Number.isFinite(value)) return null;
  const whole = BigInt(Math.trunc(value));
  if (to === 'unsigned') return BigInt.asUintN(64, whole);
  return whole > MAX_INT64 ? MAX_INT64 : whole < MIN_INT64 ? MIN_INT64 : whole;
}

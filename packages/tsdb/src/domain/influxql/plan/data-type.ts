import type { ColumnKind } from '../../../model/columns/column.js';
import type { CastType } from '../ast/expressions.js';

/** Type of a reference or expression. `unknown`: no source has such a column. */
export type DataType =
  | 'float'
  | 'integer'
  | 'unsigned'
  | 'string'
  | 'boolean'
  | 'tag'
  | 'time'
  | 'unknown';

/** One value of a row: integers of both kinds are `bigint`, so that floats stay apart from them. */
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

/** Of a name with several types the first of these counts. Source: query-languages, "Expansion". */
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

/** What a column of type `actual` is when it is asked for with `::cast`. Source: query-languages, "Casts". */
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

/** Whether values of one field type can be read as another: numbers as numbers, all else only as itself. */
export function isConvertible(from: DataType, to: DataType): boolean {
  return from === to || (isNumeric(from) && isNumeric(to));
}

const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);

/** A value of a numeric type as one of another; cut towards zero. */
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

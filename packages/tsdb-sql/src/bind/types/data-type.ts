import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { SqlType, TimeUnit } from '@plinth/tsdb-model/sql-type.js';
import { type DataType, variantOf } from '../../parse/ast.js';
import { BOOLEAN, FLOAT64, INTERVAL, TIMESTAMP, UTF8 } from './bound.js';

const int = (bits: 8 | 16 | 32 | 64, signed = true): SqlType => ({ kind: 'int', bits, signed });
const FLOAT32: SqlType = { kind: 'float', bits: 32 };

/** Types without parameters. Source: query-languages, "Types and casts". */
const SIMPLE: Readonly<Record<string, SqlType>> = {
  Boolean: BOOLEAN,
  Bool: BOOLEAN,
  TinyInt: int(8),
  SmallInt: int(16),
  Int2: int(16),
  Int: int(32),
  Int4: int(32),
  Integer: int(32),
  BigInt: int(64),
  Int8: int(64),
  TinyIntUnsigned: int(8, false),
  SmallIntUnsigned: int(16, false),
  Int2Unsigned: int(16, false),
  IntUnsigned: int(32, false),
  Int4Unsigned: int(32, false),
  IntegerUnsigned: int(32, false),
  UnsignedInteger: int(32, false),
  BigIntUnsigned: int(64, false),
  Int8Unsigned: int(64, false),
  Float: FLOAT32,
  Real: FLOAT32,
  Float4: FLOAT32,
  Double: FLOAT64,
  DoublePrecision: FLOAT64,
  Float8: FLOAT64,
  Char: UTF8,
  Varchar: UTF8,
  Text: UTF8,
  String: UTF8,
  Date: { kind: 'date' },
  Time: { kind: 'time' },
  Interval: INTERVAL,
};

export function typeOfDataType(dataType: DataType): SqlType {
  const name = variantOf(dataType);
  const detail = typeof dataType === 'string' ? undefined : dataType[name];
  switch (name) {
    case 'Timestamp':
      return timestampType(detail as readonly [number | null, string]);
    case 'Decimal':
    case 'Numeric':
    case 'Dec':
      return decimalType(detail);
    case 'Array': {
      const element = arrayElement(detail);
      return { kind: 'list', element: typeOfDataType(element) };
    }
    default: {
      const type = Object.hasOwn(SIMPLE, name) ? SIMPLE[name] : undefined;
      if (type !== undefined) return type;
      throw tsdbError('not_implemented', `Unsupported SQL type ${shownName(name, detail)}`);
    }
  }
}

function timestampType([precision, zone]: readonly [number | null, string]): SqlType {
  const units: Readonly<Record<number, TimeUnit>> = { 0: 's', 3: 'ms', 6: 'us', 9: 'ns' };
  const unit = precision === null || precision === undefined ? 'ns' : units[precision];
  if (unit === undefined)
    throw tsdbError('not_implemented', `Unsupported SQL type TIMESTAMP(${precision})`);
  const hasZone = zone === 'Tz' || zone === 'WithTimeZone';
  return { ...TIMESTAMP, unit, zone: hasZone ? '+00:00' : undefined } as SqlType;
}

function decimalType(detail: unknown): SqlType {
  const info = (typeof detail === 'object' && detail !== null ? detail : {}) as {
    readonly Precision?: number;
    readonly PrecisionAndScale?: readonly [number, number];
  };
  const [precision, scale] = info.PrecisionAndScale ?? [
    info.Precision ?? 38,
    info.Precision === undefined ? 10 : 0,
  ];
  const isValid = precision >= 1 && precision <= 38 && scale >= 0 && scale <= precision;
  if (isValid) return { kind: 'decimal', precision: Number(precision), scale: Number(scale) };
  throw tsdbError(
    'plan_error',
    `Error during planning: Decimal(precision = ${precision}, scale = ${scale}) should satisfy ` +
      '`0 < precision <= 38`, and `scale <= precision`.',
  );
}

function arrayElement(detail: unknown): DataType {
  const info = detail as {
    readonly SquareBracket?: readonly [DataType, unknown];
    readonly AngleBracket?: DataType;
  };
  const element = info.SquareBracket?.[0] ?? info.AngleBracket;
  if (element === undefined)
    throw tsdbError('not_implemented', 'Arrays with unspecified type is not supported');
  return element;
}

function shownName(name: string, detail: unknown): string {
  if (name !== 'Custom') return name.toUpperCase();
  const [parts] = detail as readonly [
    readonly { readonly Identifier: { readonly value: string } }[],
  ];
  return parts.map((part) => part.Identifier.value).join('.');
}

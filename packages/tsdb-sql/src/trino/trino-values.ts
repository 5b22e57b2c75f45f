import { arrowTypeName } from '@plinth/tsdb-model/arrow-type-name.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import type { ConstantValue } from '../bound-expr.js';
import { quoteString } from '../emit/quote.js';
import { notVerified } from './not-verified.js';

export type TrinoType = 'bigint' | 'double' | 'varchar' | 'boolean' | 'unknown';

/** Times and durations are 64-bit integers of nanoseconds. Throws for types without a counterpart. */
export function trinoType(type: SqlType): TrinoType {
  switch (type.kind) {
    case 'int':
      if (type.bits === 64 || (type.bits === 32 && type.signed)) return 'bigint';
      break;
    case 'duration':
      return 'bigint';
    case 'timestamp':
      if (type.unit === 'ns' && type.zone === undefined) return 'bigint';
      break;
    case 'float':
      if (type.bits === 64) return 'double';
      break;
    case 'utf8':
    case 'tag':
      return 'varchar';
    case 'boolean':
      return 'boolean';
    case 'null':
      return 'unknown';
    default:
  }
  throw notVerified(`type ${arrowTypeName(type)}`);
}

/** Returns a literal with its exact type. */
export function literalText(value: ConstantValue, type: SqlType): string {
  const name = trinoType(type);
  if (value === null) return name === 'unknown' ? 'NULL' : `CAST(NULL AS ${name})`;
  switch (name) {
    case 'boolean':
      return value === true ? 'TRUE' : 'FALSE';
    case 'varchar':
      return quoteString(String(value));
    case 'double':
      return doubleText(Number(value));
    default:
      return bigintText(value as number | bigint); // the value of every type that is a bigint
  }
}

export function bigintText(value: number | bigint): string {
  const whole = BigInt(value);
  if (BigInt.asIntN(64, whole) !== whole) throw notVerified(`the integer ${whole}`);
  return `BIGINT '${whole}'`;
}

function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'nan()';
  if (!Number.isFinite(value)) return value > 0 ? 'infinity()' : '(-infinity())';
  return `DOUBLE '${Object.is(value, -0) ? '-0' : value}'`;
}

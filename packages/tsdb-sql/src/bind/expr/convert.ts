import { arrowTypeName } from '@plinth/tsdb-model/arrow-type-name.js';
import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import {
  isNumeric,
  isSameType,
  isText,
  NS_PER_UNIT,
  type SqlType,
} from '@plinth/tsdb-model/sql-type.js';
import { floorDiv, NS_PER_DAY } from '@plinth/tsdb-model/time/calendar.js';
import { fixedOffsetNs } from '@plinth/tsdb-model/time/time-zone.js';
import type { ConstantValue } from '../../bound-expr.js';
import { duckDbType } from '../../emit/duckdb-type.js';
import { quoteString } from '../../emit/quote.js';
import { instantNsText, localNsText } from '../../functions/time/zone-text.js';
import { type ExprTree, type Lazy, treeOf } from '../../plan-tree.js';
import {
  type Bound,
  constantExpr,
  foldingOf,
  mapped,
  typedText,
  withoutOrigin,
} from '../types/bound.js';
import { parseDate, parseTimeOfDay, parseTimestamp } from '../types/parse-timestamp.js';
import { parseInterval } from './operators/intervals.js';

/**
 * Converts `expr` to `type`. Constants are converted immediately; with `isTry`, values that cannot
 * be converted become NULL.
 */
export function convert(expr: Bound, type: SqlType, isTry = false): Bound {
  const from = expr.type;
  if (isSameType(from, type)) return expr;
  expr.onType?.(type);
  if (isText(from) && isText(type)) return { ...expr, type };
  if (expr.constant !== undefined) {
    const converted = (value: ConstantValue) => convertConstant(value, from, type, isTry);
    const value = converted(expr.constant.value);
    const isNull = value === null;
    // Casts are added only around NULL, so another literal that becomes NULL is bound again.
    const recompute = (other: ConstantValue) => {
      const changed = converted(other);
      return (changed === null) === isNull ? changed : undefined;
    };
    if (value !== undefined)
      return constantExpr(value, type, expr.displayName, mapped(expr.constant, recompute));
  }
  const { text: _text, constant: _constant, ...rest } = withoutOrigin(expr);
  const tree: Lazy<ExprTree> = () => ({ kind: 'cast', operand: treeOf(expr), isTry, type });
  const text = convertText({ text: expr.text, from, type, isTry });
  const folding = foldingOf(expr);
  if (folding === undefined) return { ...rest, text, tree, type };
  const folds = isTry ? 'null' : folding;
  return { ...rest, text: folds === 'null' ? typedText(text, type) : text, tree, type, folds };
}

/** Returns the converted value, or `undefined` if only DuckDB can convert it. */
function convertConstant(
  value: ConstantValue,
  from: SqlType,
  type: SqlType,
  isTry: boolean,
): ConstantValue | undefined {
  if (value === null) return null;
  switch (type.kind) {
    case 'timestamp':
      return timestampConstant(value, from, type, isTry);
    case 'time':
      return typeof value === 'string' ? parseTimeOfDay(value) : undefined;
    case 'date': {
      if (typeof value === 'string') {
        const days = parseDate(value);
        if (days !== undefined) return days;
        return isTry ? null : throwBadTime(value);
      }
      return from.kind === 'timestamp' && from.zone === undefined && typeof value === 'bigint'
        ? Number(floorDiv(value, NS_PER_DAY))
        : undefined;
    }
    case 'interval':
      return typeof value === 'string' ? parseInterval(value) : undefined;
    case 'duration':
      return typeof value === 'object' && value.months === 0
        ? BigInt(value.days) * NS_PER_DAY + value.nanos
        : undefined;
    case 'float':
      if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
      return typeof value === 'string' && FLOAT_TEXT.test(value) ? Number(value) : undefined;
    case 'int':
      return integerConstant(
        from.kind === 'timestamp' && typeof value === 'bigint'
          ? value / NS_PER_UNIT[from.unit]
          : value,
        type,
      );
    default:
      return undefined;
  }
}

function timestampConstant(
  value: NonNullable<ConstantValue>,
  from: SqlType,
  { unit, zone }: Extract<SqlType, { kind: 'timestamp' }>,
  isTry: boolean,
): ConstantValue | undefined {
  if (typeof value === 'string') {
    const timeNs = parseTime(value, isTry, zone);
    return timeNs === null ? null : timeNs - (timeNs % NS_PER_UNIT[unit]);
  }
  if (from.kind === 'timestamp' && typeof value === 'bigint') {
    return from.zone === undefined && zone !== undefined
      ? undefined
      : value - (value % NS_PER_UNIT[unit]);
  }
  let timeNs: bigint;
  if (from.kind === 'date' && zone === undefined) {
    timeNs = BigInt(value as number | bigint) * NS_PER_DAY;
  } else if (from.kind === 'int' && typeof value === 'bigint') {
    timeNs = value * NS_PER_UNIT[unit];
  } else {
    return undefined;
  }
  return BigInt.asIntN(64, timeNs) === timeNs ? timeNs : undefined;
}

/**
 * Timestamps are stored in nanoseconds in every unit: a coarser unit truncates, and a number is a
 * count of that unit.
 */
function toTimestamp(
  text: string,
  from: SqlType,
  { unit, zone }: Extract<SqlType, { kind: 'timestamp' }>,
  cast: (value: string, name?: string) => string,
): string {
  const unitNs = NS_PER_UNIT[unit];
  if (from.kind === 'timestamp' || from.kind === 'date') {
    const ns = `epoch_ns(${from.kind === 'date' ? cast(text) : text})`;
    const isLocal = zone !== undefined && (from.kind === 'date' || from.zone === undefined);
    const instant = isLocal ? instantNsText(ns, zone) : ns;
    const cut = unitNs === 1n ? instant : `(${instant} // ${unitNs} * ${unitNs})`;
    return cut === ns && from.kind === 'timestamp' ? text : `make_timestamp_ns(${cut})`;
  }
  if (from.kind !== 'int' && from.kind !== 'float') {
    throw unsupportedCast(from, { kind: 'timestamp', unit, zone });
  }
  const whole = cast(from.kind === 'float' ? `trunc(${text})` : text, 'BIGINT');
  return `make_timestamp_ns(${unitNs === 1n ? whole : `(${whole} * ${unitNs})`})`;
}

const FLOAT_TEXT = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

function integerConstant(
  value: ConstantValue,
  type: Extract<SqlType, { kind: 'int' }>,
): bigint | undefined {
  let whole: bigint | undefined;
  if (typeof value === 'bigint') whole = value;
  else if (typeof value === 'number' && Number.isFinite(value)) whole = BigInt(Math.trunc(value));
  else if (typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value))
    whole = BigInt(value.trim());
  if (whole === undefined) return undefined;
  const fits = type.signed
    ? BigInt.asIntN(type.bits, whole) === whole
    : BigInt.asUintN(type.bits, whole) === whole;
  return fits ? whole : undefined;
}

function parseTime(text: string, isTry: boolean, zone?: string): bigint | null {
  const timeNs = parseTimestamp(text, zone);
  if (timeNs !== undefined) return timeNs;
  return isTry ? null : throwBadTime(text);
}

function throwBadTime(text: string): never {
  throw tsdbError(
    'plan_error',
    `Error during planning: Error parsing timestamp from '${text}': error parsing date`,
  );
}

interface Conversion {
  readonly text: string;
  readonly from: SqlType;
  readonly type: SqlType;
  readonly isTry: boolean;
}

function convertText({ text, from, type, isTry }: Conversion): string {
  const cast = (value: string, name = duckDbType(type)) =>
    `${isTry ? 'TRY_CAST' : 'CAST'}(${value} AS ${name})`;
  if (from.kind === 'null') return cast(text);
  if (isText(from)) return fromText({ text, from, type, isTry }, cast);
  if (isText(type)) return toText(text, from, cast);
  switch (type.kind) {
    case 'timestamp':
      return toTimestamp(text, from, type, cast);
    case 'int':
      if (from.kind === 'timestamp') {
        const unitNs = NS_PER_UNIT[from.unit];
        return cast(unitNs === 1n ? `epoch_ns(${text})` : `(epoch_ns(${text}) // ${unitNs})`);
      }
      if (from.kind === 'float' || from.kind === 'decimal') return cast(`trunc(${text})`);
      if (from.kind === 'date') return cast(`(${text} - DATE '1970-01-01')`);
      if (['int', 'boolean', 'duration', 'time'].includes(from.kind)) return cast(text);
      break;
    case 'float':
      if (isNumeric(from) || from.kind === 'boolean') return cast(text);
      break;
    case 'decimal':
      if (isNumeric(from)) return cast(text);
      break;
    case 'boolean':
      if (isNumeric(from)) return `(${text} <> 0)`;
      break;
    case 'date':
      if (from.kind === 'timestamp') {
        return `plinth_date(${localNsText(`epoch_ns(${text})`, from.zone)})`;
      }
      if (from.kind === 'int') return `(DATE '1970-01-01' + ${cast(text, 'INTEGER')})`;
      break;
    case 'time':
      if (from.kind === 'timestamp') return `plinth_time_of_day(epoch_ns(${text}))`;
      if (from.kind === 'int') return cast(text);
      break;
    case 'duration':
      if (from.kind === 'int') return cast(text);
      if (from.kind === 'interval') return `plinth_interval_ns(${text})`;
      break;
    case 'interval':
      if (from.kind === 'duration') {
        return `CASE WHEN ${text} IS NOT NULL THEN {'months': 0::INTEGER, 'days': 0::INTEGER, 'nanos': ${text}} END`;
      }
      break;
    case 'list':
    case 'struct':
    case 'map':
      if (from.kind === type.kind) return cast(text);
      break;
    default:
  }
  throw unsupportedCast(from, type);
}

function fromText(
  { text, from, type, isTry }: Conversion,
  cast: (value: string) => string,
): string {
  const checked = (macro: string, ...options: readonly string[]) => {
    const fallback = isTry
      ? 'NULL'
      : `plinth_bad_cast(${text}, ${quoteString(arrowTypeName(type))})`;
    return `${macro}(${[text, ...options, fallback].join(', ')})`;
  };
  switch (type.kind) {
    case 'int':
      return `CAST(${checked('plinth_text_to_integer', ...boundsOf(type))} AS ${duckDbType(type)})`;
    case 'float':
      return `CAST(${checked('plinth_text_to_float')} AS ${duckDbType(type)})`;
    case 'timestamp':
      return checked('plinth_text_to_timestamp', quoteString(type.zone ?? 'UTC'));
    case 'time':
      return checked('plinth_text_to_time');
    case 'boolean':
      return checked('plinth_text_to_boolean');
    case 'date':
    case 'decimal':
      return cast(text);
    case 'binary':
      return `encode(${text})`;
    default:
      throw unsupportedCast(from, type);
  }
}

/** Returns the smallest and the greatest value as macro arguments. */
function boundsOf({ bits, signed }: Extract<SqlType, { kind: 'int' }>): readonly string[] {
  const most = 2n ** BigInt(signed ? bits - 1 : bits) - 1n;
  return [`${signed ? `(-${most} - 1)` : '0'}::HUGEINT`, `${most}::HUGEINT`];
}

function toText(text: string, from: SqlType, cast: (value: string) => string): string {
  switch (from.kind) {
    case 'timestamp':
      return timestampText(`epoch_ns(${text})`, from.zone);
    case 'float':
      return `plinth_float_text(${text})`;
    case 'binary':
      return `decode(${text})`;
    case 'interval':
      return `plinth_interval_text(${text})`;
    case 'duration':
      return `plinth_duration_text(${text})`;
    case 'time':
      return `plinth_time_text(${text})`;
    default:
      return cast(text);
  }
}

function timestampText(nsText: string, zone: string | undefined): string {
  const fixed = zone === undefined ? 0n : fixedOffsetNs(zone);
  if (fixed === 0n) return `plinth_timestamp_text(${nsText}, '${zone === undefined ? '' : 'Z'}')`;
  return `plinth_to_char(${nsText}, '%Y-%m-%dT%H:%M:%S%.f%:z', ${quoteString(zone ?? '')})`;
}

function unsupportedCast(from: SqlType, to: SqlType): TsdbError<'plan_error'> {
  return tsdbError(
    'plan_error',
    `Error during planning: Unsupported CAST from ${arrowTypeName(from)} to ${arrowTypeName(to)}`,
  );
}

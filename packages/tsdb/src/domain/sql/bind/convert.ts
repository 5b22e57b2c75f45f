import { PlanError } from '../../../errors.js';
import { floorDiv, NS_PER_DAY } from '../../../model/calendar.js';
import type { SqlType } from '../../../model/sql-type.js';
import { arrowTypeName } from '../arrow-type-name.js';
import type { ConstantValue } from '../bound-expr.js';
import { engineType } from '../emit/engine-type.js';
import { type Bound, constantExpr } from './bound.js';
import { isNumeric, isSameType, isText } from './common-type.js';
import { parseInterval } from './intervals.js';
import { parseTimestamp } from './parse-timestamp.js';

/** `expr` as `type`. Constants are converted at once; `isTry` makes NULL of what cannot be converted. */
export function convert(expr: Bound, type: SqlType, isTry = false): Bound {
  const from = expr.type;
  if (isSameType(from, type)) return expr;
  if (isText(from) && isText(type)) return { ...expr, type };
  if (expr.constant !== undefined) {
    const value = convertConstant(expr.constant.value, from, type, isTry);
    if (value !== undefined) return constantExpr(value, type, expr.displayName);
  }
  const { text: _text, constant: _constant, column: _column, facts: _facts, ...rest } = expr;
  return { ...rest, text: convertText({ text: expr.text, from, type, isTry }), type };
}

/** The value in its new type; `undefined` where only the engine knows. */
function convertConstant(
  value: ConstantValue,
  from: SqlType,
  type: SqlType,
  isTry: boolean,
): ConstantValue | undefined {
  if (value === null) return null;
  switch (type.kind) {
    case 'timestamp':
      if (typeof value === 'string') return parseTime(value, isTry);
      if (from.kind === 'date') return BigInt(value as number | bigint) * NS_PER_DAY;
      return typeof value === 'bigint' ? value : undefined;
    case 'date': {
      if (typeof value === 'string') {
        const timeNs = parseTime(value, isTry);
        return timeNs === null ? null : Number(floorDiv(timeNs, NS_PER_DAY));
      }
      return from.kind === 'timestamp' && typeof value === 'bigint'
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
      return integerConstant(value, type);
    default:
      return undefined;
  }
}

const FLOAT_TEXT = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

function integerConstant(
  value: ConstantValue,
  type: Extract<SqlType, { kind: 'int' }>,
): bigint | undefined {
  let whole: bigint | undefined;
  if (typeof value === 'bigint') whole = value;
  else if (typeof value === 'number' && Number.isFinite(value)) whole = BigInt(Math.trunc(value));
  else if (typeof value === 'string' && /^[+-]?\d+$/.test(value)) whole = BigInt(value);
  if (whole === undefined) return undefined;
  const fits = type.signed
    ? BigInt.asIntN(type.bits, whole) === whole
    : BigInt.asUintN(type.bits, whole) === whole;
  return fits ? whole : undefined;
}

function parseTime(text: string, isTry: boolean): bigint | null {
  const timeNs = parseTimestamp(text);
  if (timeNs !== undefined) return timeNs;
  if (isTry) return null;
  throw new PlanError(
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
  const cast = (value: string, name = engineType(type)) =>
    `${isTry ? 'TRY_CAST' : 'CAST'}(${value} AS ${name})`;
  if (from.kind === 'null') return cast(text);
  if (isText(from)) return fromText({ text, from, type, isTry }, cast);
  if (isText(type)) return toText(text, from, cast);
  switch (type.kind) {
    case 'timestamp':
      if (from.kind === 'timestamp') return text;
      if (from.kind === 'int' || from.kind === 'float') {
        return `make_timestamp_ns(${cast(from.kind === 'float' ? `trunc(${text})` : text, 'BIGINT')})`;
      }
      if (from.kind === 'date') return cast(text);
      break;
    case 'int':
      if (from.kind === 'timestamp') return cast(`epoch_ns(${text})`);
      if (from.kind === 'float' || from.kind === 'decimal') return cast(`trunc(${text})`);
      if (from.kind === 'date') return cast(`(${text} - DATE '1970-01-01')`);
      if (['int', 'boolean', 'duration', 'time'].includes(from.kind)) return cast(text);
      break;
    case 'float':
    case 'decimal':
      if (isNumeric(from) || from.kind === 'boolean') return cast(text);
      break;
    case 'boolean':
      if (isNumeric(from)) return `(${text} <> 0)`;
      break;
    case 'date':
      if (from.kind === 'timestamp') return cast(text);
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
        return `{'months': 0::INTEGER, 'days': 0::INTEGER, 'nanos': ${text}}`;
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
  const checked = (macro: string) =>
    `${macro}(${text}, ${isTry ? 'NULL' : `plinth_bad_cast(${text}, '${arrowTypeName(type)}')`})`;
  switch (type.kind) {
    case 'int':
      return `CAST(${checked('plinth_text_to_integer')} AS ${engineType(type)})`;
    case 'float':
      return `CAST(${checked('plinth_text_to_float')} AS ${engineType(type)})`;
    case 'timestamp':
      return checked('plinth_text_to_timestamp');
    case 'date':
    case 'boolean':
    case 'decimal':
      return cast(text);
    case 'binary':
      return `encode(${text})`;
    default:
      throw unsupportedCast(from, type);
  }
}

function toText(text: string, from: SqlType, cast: (value: string) => string): string {
  switch (from.kind) {
    case 'timestamp':
      return `plinth_timestamp_text(epoch_ns(${text}), '${from.zone === undefined ? '' : 'Z'}')`;
    case 'float':
      return `plinth_float_text(${text})`;
    case 'binary':
      return `decode(${text})`;
    case 'interval':
      throw unsupportedCast(from, { kind: 'utf8' });
    default:
      return cast(text);
  }
}

function unsupportedCast(from: SqlType, to: SqlType): PlanError {
  return new PlanError(
    `Error during planning: Unsupported CAST from ${arrowTypeName(from)} to ${arrowTypeName(to)}`,
  );
}

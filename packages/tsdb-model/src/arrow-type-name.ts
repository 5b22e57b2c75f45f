import { assertNever } from '@plinth/kernel';
import type { SqlType, StructField, TimeUnit } from './sql-type.js';

const UNIT_NAME: Readonly<Record<TimeUnit, string>> = {
  s: 'Second',
  ms: 'Millisecond',
  us: 'Microsecond',
  ns: 'Nanosecond',
};

/**
 * Formats a type as in `arrow_typeof`, `DESCRIBE` and error messages. `arrow_cast` accepts the same
 * form.
 * Source: query-languages, "Types and casts".
 */
export function arrowTypeName(type: SqlType): string {
  switch (type.kind) {
    case 'null':
      return 'Null';
    case 'boolean':
      return 'Boolean';
    case 'int':
      return `${type.signed ? 'Int' : 'UInt'}${type.bits}`;
    case 'float':
      return `Float${type.bits}`;
    case 'decimal':
      return `Decimal128(${type.precision}, ${type.scale})`;
    case 'utf8':
      return 'Utf8';
    case 'tag':
      return 'Dictionary(Int32, Utf8)';
    case 'binary':
      return 'Binary';
    case 'date':
      return 'Date32';
    case 'time':
      return 'Time64(Nanosecond)';
    case 'timestamp': {
      const zone = type.zone === undefined ? 'None' : `Some("${type.zone}")`;
      return `Timestamp(${UNIT_NAME[type.unit]}, ${zone})`;
    }
    case 'duration':
      return 'Duration(Nanosecond)';
    case 'interval':
      return 'Interval(MonthDayNano)';
    case 'list':
      return `List(${fieldText({ name: 'item', type: type.element })})`;
    case 'struct':
      return `Struct([${type.fields.map(fieldText).join(', ')}])`;
    case 'map': {
      const entries: SqlType = {
        kind: 'struct',
        fields: [
          { name: 'key', type: type.key },
          { name: 'value', type: type.value },
        ],
      };
      return `Map(${fieldText({ name: 'entries', type: entries })}, false)`;
    }
    default:
      return assertNever(type);
  }
}

function fieldText(field: StructField): string {
  return (
    `Field { name: "${field.name}", data_type: ${arrowTypeName(field.type)}, nullable: true, ` +
    'dict_id: 0, dict_is_ordered: false, metadata: {} }'
  );
}

const PLAIN_TYPES: Readonly<Record<string, SqlType>> = {
  Null: { kind: 'null' },
  Boolean: { kind: 'boolean' },
  Int8: { kind: 'int', bits: 8, signed: true },
  Int16: { kind: 'int', bits: 16, signed: true },
  Int32: { kind: 'int', bits: 32, signed: true },
  Int64: { kind: 'int', bits: 64, signed: true },
  UInt8: { kind: 'int', bits: 8, signed: false },
  UInt16: { kind: 'int', bits: 16, signed: false },
  UInt32: { kind: 'int', bits: 32, signed: false },
  UInt64: { kind: 'int', bits: 64, signed: false },
  Float16: { kind: 'float', bits: 32 },
  Float32: { kind: 'float', bits: 32 },
  Float64: { kind: 'float', bits: 64 },
  Utf8: { kind: 'utf8' },
  LargeUtf8: { kind: 'utf8' },
  Utf8View: { kind: 'utf8' },
  Binary: { kind: 'binary' },
  LargeBinary: { kind: 'binary' },
  BinaryView: { kind: 'binary' },
  Date32: { kind: 'date' },
  Date64: { kind: 'date' },
  'Time64(Nanosecond)': { kind: 'time' },
  'Time64(ns)': { kind: 'time' },
  'Duration(Nanosecond)': { kind: 'duration' },
  'Duration(ns)': { kind: 'duration' },
  'Interval(MonthDayNano)': { kind: 'interval' },
  'Dictionary(Int32, Utf8)': { kind: 'tag' },
};

const UNIT_BY_NAME: Readonly<Record<string, TimeUnit>> = {
  Second: 's',
  s: 's',
  Millisecond: 'ms',
  ms: 'ms',
  Microsecond: 'us',
  us: 'us',
  µs: 'us',
  Nanosecond: 'ns',
  ns: 'ns',
};

/**
 * Parses the output of `arrowTypeName` and short unit names; returns `undefined` for any other
 * string.
 */
export function parseArrowTypeName(name: string): SqlType | undefined {
  const text = name.trim();
  if (Object.hasOwn(PLAIN_TYPES, text)) return PLAIN_TYPES[text];
  const timestamp = /^Timestamp\((\w+|µs)(?:,\s*(?:None|Some\("([^"]+)"\)|"([^"]+)"))?\)$/.exec(
    text,
  );
  if (timestamp !== null) {
    const unit = UNIT_BY_NAME[timestamp[1] ?? ''];
    return unit && { kind: 'timestamp', unit, zone: timestamp[2] ?? timestamp[3] };
  }
  const decimal = /^Decimal128\((\d+),\s*(\d+)\)$/.exec(text);
  if (decimal === null) return undefined;
  const [precision, scale] = [Number(decimal[1]), Number(decimal[2])];
  return precision < 1 || precision > 38 || scale > precision
    ? undefined
    : { kind: 'decimal', precision, scale };
}

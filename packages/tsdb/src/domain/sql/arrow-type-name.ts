import { assertNever } from '@plinth/kernel';
import type { SqlType, StructField, TimeUnit } from '../../model/sql-type.js';

const UNIT_NAME: Readonly<Record<TimeUnit, string>> = {
  s: 'Second',
  ms: 'Millisecond',
  us: 'Microsecond',
  ns: 'Nanosecond',
};

/**
 * Name of a type as `arrow_typeof`, `DESCRIBE` and error messages show it; `arrow_cast` reads the same spelling.
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

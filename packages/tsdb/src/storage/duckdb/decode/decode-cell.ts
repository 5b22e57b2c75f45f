import {
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBIntervalValue,
  DuckDBListValue,
  DuckDBMapValue,
  DuckDBStructValue,
  DuckDBTimestampNanosecondsValue,
  type DuckDBValue,
} from '@duckdb/node-api';
import { invariant } from '@plinth/kernel';
import type { SqlType } from '../../../model/sql-type.js';

/** One engine value in the form of `SqlType`'s table; nested values become plain arrays and objects. */
export function toCell(value: DuckDBValue, type: SqlType): unknown {
  if (value === null) return null;
  switch (type.kind) {
    case 'list':
      invariant(value instanceof DuckDBListValue, 'a list column holds lists');
      return value.items.map((item) => toCell(item, type.element));
    case 'interval':
      return toInterval(value);
    case 'struct': {
      invariant(value instanceof DuckDBStructValue, 'a struct column holds structs');
      const cells: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
      for (const field of type.fields) {
        cells[field.name] = toCell(value.entries[field.name] ?? null, field.type);
      }
      return cells;
    }
    case 'map':
      invariant(value instanceof DuckDBMapValue, 'a map column holds maps');
      return value.entries.map((entry) => [
        toCell(entry.key, type.key),
        toCell(entry.value, type.value),
      ]);
    case 'binary':
      return value instanceof DuckDBBlobValue ? value.bytes : value;
    case 'date':
      return value instanceof DuckDBDateValue ? value.days : value;
    case 'decimal':
      return value instanceof DuckDBDecimalValue ? value.toString() : String(value);
    default:
      return value instanceof DuckDBTimestampNanosecondsValue ? value.nanos : value;
  }
}

function toInterval(value: DuckDBValue): unknown {
  if (value instanceof DuckDBIntervalValue) {
    return { months: value.months, days: value.days, nanos: value.micros * 1000n };
  }
  invariant(
    value instanceof DuckDBStructValue,
    'an interval is a struct of months, days and nanos',
  );
  return {
    months: Number(value.entries['months']),
    days: Number(value.entries['days']),
    nanos: BigInt(String(value.entries['nanos'])),
  };
}

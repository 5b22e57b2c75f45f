import {
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBIntervalValue,
  DuckDBStructValue,
  DuckDBTimestampNanosecondsValue,
  type DuckDBValue,
} from '@duckdb/node-api';
import { invariant } from '@plinth/kernel';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';

/**
 * Converts a DuckDB value without lists to the representation of the `SqlType` table; structs
 * become plain objects. `NestedCells` converts lists.
 */
export function toCell(value: DuckDBValue, type: SqlType): unknown {
  if (value === null) return null;
  switch (type.kind) {
    case 'list':
    case 'map':
      return invariant(false, 'a list or map cannot be decoded as one cell');
    case 'interval':
      return toInterval(value);
    case 'struct': {
      invariant(value instanceof DuckDBStructValue, 'the value of a struct column is not a struct');
      const cells: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
      for (const field of type.fields) {
        cells[field.name] = toCell(value.entries[field.name] ?? null, field.type);
      }
      return cells;
    }
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
    'the value of an interval column is not an interval',
  );
  return {
    months: Number(value.entries['months']),
    days: Number(value.entries['days']),
    nanos: BigInt(String(value.entries['nanos'])),
  };
}

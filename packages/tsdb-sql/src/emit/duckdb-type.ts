import { assertNever } from '@plinth/kernel';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { quoteName } from './quote.js';

const INT_NAME = { 8: 'TINYINT', 16: 'SMALLINT', 32: 'INTEGER', 64: 'BIGINT' } as const;

/** Returns the DuckDB name of a type; see the table at `SqlType`. */
export function duckDbType(type: SqlType): string {
  switch (type.kind) {
    case 'null':
      return 'INTEGER';
    case 'boolean':
      return 'BOOLEAN';
    case 'int':
      return `${type.signed ? '' : 'U'}${INT_NAME[type.bits]}`;
    case 'float':
      return type.bits === 32 ? 'FLOAT' : 'DOUBLE';
    case 'decimal':
      return `DECIMAL(${type.precision}, ${type.scale})`;
    case 'utf8':
    case 'tag':
      return 'VARCHAR';
    case 'binary':
      return 'BLOB';
    case 'date':
      return 'DATE';
    case 'time':
    case 'duration':
      return 'BIGINT';
    case 'timestamp':
      return 'TIMESTAMP_NS';
    case 'interval':
      return 'STRUCT(months INTEGER, days INTEGER, nanos BIGINT)';
    case 'list':
      return `${duckDbType(type.element)}[]`;
    case 'struct':
      return `STRUCT(${type.fields.map((f) => `${quoteName(f.name)} ${duckDbType(f.type)}`).join(', ')})`;
    case 'map':
      return `MAP(${duckDbType(type.key)}, ${duckDbType(type.value)})`;
    default:
      return assertNever(type);
  }
}

import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { type ArrowField, plainField } from '../../arrow/arrow-field.js';
import type { Row } from './rows.js';

const UTF8: SqlType = { kind: 'utf8' };
const INT32: SqlType = { kind: 'int', bits: 32, signed: true };
const BOOLEAN: SqlType = { kind: 'boolean' };

export const TYPE_INFO_FIELDS: readonly ArrowField[] = [
  plainField('type_name', UTF8, false),
  plainField('data_type', INT32, false),
  plainField('column_size', INT32),
  plainField('literal_prefix', UTF8),
  plainField('literal_suffix', UTF8),
  plainField('create_params', { kind: 'list', element: UTF8 }),
  plainField('nullable', INT32, false),
  plainField('case_sensitive', BOOLEAN, false),
  plainField('searchable', INT32, false),
  plainField('unsigned_attribute', BOOLEAN),
  plainField('fixed_prec_scale', BOOLEAN, false),
  plainField('auto_increment', BOOLEAN),
  plainField('local_type_name', UTF8),
  plainField('minimum_scale', INT32),
  plainField('maximum_scale', INT32),
  plainField('sql_data_type', INT32, false),
  plainField('datetime_subcode', INT32),
  plainField('num_prec_radix', INT32),
  plainField('interval_precision', INT32),
];

/** ODBC and JDBC type numbers. Source: Arrow Flight SQL, `XdbcDataType`. */
const XDBC = {
  VARCHAR: 12,
  INTEGER: 4,
  FLOAT: 6,
  TIMESTAMP: 93,
  INTERVAL: 10,
  DATETIME: 9,
} as const;

const NULLABLE = 1;
const SEARCHABLE = 3;

interface TypeInfo {
  readonly name: string;
  readonly dataType: number;
  readonly size: number;
  readonly quote: string | null;
  readonly isUnsigned: boolean | null;
  readonly radix: number | null;
  readonly datetimeSubcode: number | null;
}

/** The types that InfluxDB lists. */
const TYPES: readonly TypeInfo[] = [
  type('VARCHAR', XDBC.VARCHAR, 2147483647, { quote: "'" }),
  type('INTEGER', XDBC.INTEGER, 32, { isUnsigned: false, radix: 2 }),
  type('FLOAT', XDBC.FLOAT, 24, { isUnsigned: false, radix: 2 }),
  type('TIMESTAMP', XDBC.TIMESTAMP, 2147483647, { quote: "'", datetimeSubcode: 93 }),
  type('INTERVAL', XDBC.INTERVAL, 2147483647, { quote: "'" }),
];

function type(name: string, dataType: number, size: number, facts: Partial<TypeInfo>): TypeInfo {
  const none = { quote: null, isUnsigned: null, radix: null, datetimeSubcode: null };
  return { ...none, name, dataType, size, ...facts };
}

/** @param dataType returns only types with this number. */
export function typeInfoRows(dataType: number | undefined): readonly Row[] {
  return TYPES.filter((each) => dataType === undefined || each.dataType === dataType).map(
    ({ name, dataType: id, size, quote, isUnsigned, radix, datetimeSubcode }) => [
      ...[name, id, size, quote, quote, null, NULLABLE, name === 'VARCHAR', SEARCHABLE],
      ...[isUnsigned, false, isUnsigned === null ? null : false, name, null, null],
      ...[datetimeSubcode === null ? id : XDBC.DATETIME, datetimeSubcode, radix, null],
    ],
  );
}

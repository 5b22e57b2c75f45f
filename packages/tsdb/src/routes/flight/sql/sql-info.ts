import type { SqlType } from '../../../model/sql-type.js';
import { type ArrowField, plainField } from '../../arrow/arrow-field.js';
import type { UnionCell } from '../../arrow/nested-columns.js';
import type { Row } from './rows.js';

const INT32: SqlType = { kind: 'int', bits: 32, signed: true };
const UTF8: SqlType = { kind: 'utf8' };

const MEMBERS: readonly { readonly name: string; readonly type: SqlType }[] = [
  { name: 'string_value', type: UTF8 },
  { name: 'bool_value', type: { kind: 'boolean' } },
  { name: 'bigint_value', type: { kind: 'int', bits: 64, signed: true } },
  { name: 'int32_bitmask', type: INT32 },
  { name: 'string_list', type: { kind: 'list', element: UTF8 } },
  {
    name: 'int32_to_int32_list_map',
    type: { kind: 'map', key: INT32, value: { kind: 'list', element: INT32 } },
  },
];

export const SQL_INFO_FIELDS: readonly ArrowField[] = [
  plainField('info_name', { kind: 'int', bits: 32, signed: false }, false),
  plainField('value', { kind: 'union', members: MEMBERS }, false),
];

const text = (value: string): UnionCell => ({ member: 0, value });
const flag = (value: boolean): UnionCell => ({ member: 1, value });
const long = (value: number): UnionCell => ({ member: 2, value });
const bits = (value: number): UnionCell => ({ member: 3, value });

/** Facts about the server by their number. Source: Arrow Flight SQL, `SqlInfo`; name as tsdb-http, §20.3, has it. */
const SQL_INFO: ReadonlyMap<number, UnionCell> = new Map([
  [0, text('InfluxDB IOx')], // server name
  [1, text('2')], // server version
  [2, text('1.3')], // Arrow version
  [3, flag(true)], // read only
  [4, flag(true)], // SQL
  [5, flag(false)], // Substrait
  [8, bits(0)], // transactions: none
  [9, flag(false)], // cancellation by message
  [10, flag(false)], // bulk ingestion
  [100, bits(0)], // statement timeout
  [101, bits(0)], // transaction timeout
  [500, flag(false)], // DDL of catalogs
  [501, flag(false)], // DDL of schemas
  [502, flag(false)], // DDL of tables
  [503, long(3)], // unquoted identifiers: lower case
  [504, text('"')],
  [505, long(1)], // quoted identifiers: as they are
  [506, flag(true)], // all tables can be selected from
  [507, long(2)], // NULLs come last at the end of an ascending order
  [513, text('\\')], // escapes patterns
  [514, text('')], // further characters of names
  [515, flag(true)], // column aliases
  [516, flag(true)], // NULL plus non-NULL is NULL
  [518, flag(true)], // table correlation names
  [520, flag(true)], // expressions in ORDER BY
  [521, flag(true)], // ORDER BY columns that are not selected
  [523, flag(true)], // LIKE with an escape
  [524, flag(true)], // non-nullable columns
  [528, flag(true)], // outer joins
  [529, text('schema')],
  [530, text('procedure')],
  [531, text('catalog')],
  [532, flag(true)], // catalog comes first
]);

/** The rows asked for, all when none is named; numbers that nobody knows are left out. */
export function sqlInfoRows(ids: readonly number[]): readonly Row[] {
  const asked = ids.length === 0 ? [...SQL_INFO.keys()] : [...new Set(ids)];
  return asked.flatMap((id): Row[] => {
    const value = SQL_INFO.get(id);
    return value === undefined ? [] : [[id, value]];
  });
}

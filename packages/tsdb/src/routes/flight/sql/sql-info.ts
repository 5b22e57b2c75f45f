import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
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

const words = (text: string): readonly string[] => text.split(' ');

const NUMERIC_FUNCTIONS = words(
  'abs acos asin atan atan2 ceil cos cot degrees exp floor ln log log10 log2 pi power radians random round signum sin sqrt tan trunc',
);
const TEXT_FUNCTIONS = words(
  'ascii bit_length btrim char_length chr concat concat_ws left length lower lpad ltrim md5 octet_length repeat replace reverse right rpad rtrim split_part starts_with strpos substr translate trim upper',
);
const TIME_FUNCTIONS = words(
  'current_date current_time date_bin date_part date_trunc extract now to_timestamp to_timestamp_micros to_timestamp_millis to_timestamp_seconds',
);

const text = (value: string): UnionCell => ({ member: 0, value });
const flag = (value: boolean): UnionCell => ({ member: 1, value });
const long = (value: number): UnionCell => ({ member: 2, value });
const texts = (...value: readonly string[]): UnionCell => ({ member: 4, value });
/** Creates a bit mask of enumeration members. */
const bits = (...members: readonly number[]): UnionCell => ({
  member: 3,
  value: members.reduce((mask, member) => mask | (1 << member), 0),
});

const NONE = bits();
/** The limit does not exist or is unknown. */
const UNLIMITED = long(0);

/**
 * All server infos by number. The JDBC driver fails if one is missing.
 * Source: Arrow Flight SQL, `SqlInfo`; server name: tsdb-http, §20.3.
 */
const SQL_INFO: ReadonlyMap<number, UnionCell> = new Map([
  [0, text('InfluxDB IOx')], // server name
  [1, text('2')], // server version
  [2, text('1.3')], // Arrow version
  [3, flag(true)], // read only
  [4, flag(true)], // SQL
  [5, flag(false)], // Substrait
  [6, text('')],
  [7, text('')],
  [8, { member: 3, value: 0 }], // transactions: none; a plain value, not a bit mask
  [9, flag(false)], // cancellation by message
  [10, flag(false)], // bulk ingestion
  [11, flag(false)],
  [100, { member: 3, value: 0 }], // statement timeout
  [101, { member: 3, value: 0 }], // transaction timeout
  [500, flag(false)], // DDL for catalogs
  [501, flag(false)], // DDL for schemas
  [502, flag(false)], // DDL for tables
  [503, long(3)], // unquoted identifiers: lower case
  [504, text('"')],
  [505, long(1)], // quoted identifiers: case-sensitive
  [506, flag(true)], // all tables are selectable
  [507, long(0)], // NULLs sort high: last in ascending order, first in descending
  [508, texts('anti', 'explain', 'ilike', 'limit', 'offset', 'semi', 'show')],
  [509, texts(...NUMERIC_FUNCTIONS)],
  [510, texts(...TEXT_FUNCTIONS)],
  [511, texts('arrow_typeof')],
  [512, texts(...TIME_FUNCTIONS)],
  [513, text('\\')], // escape character in search patterns
  [514, text('')], // additional characters in names
  [515, flag(true)], // column aliases
  [516, flag(true)], // NULL plus non-NULL is NULL
  [517, { member: 5, value: [] }], // conversions with CONVERT
  [518, flag(true)], // table correlation names
  [519, flag(false)], // they need not differ from table names
  [520, flag(true)], // expressions in ORDER BY
  [521, flag(true)], // ORDER BY with columns that are not selected
  [522, bits(0, 1)], // GROUP BY with columns that are not selected, and with additional columns
  [523, flag(true)], // LIKE with an escape
  [524, flag(true)], // non-nullable columns
  [525, bits(0, 1)], // grammar: minimum and core
  [526, bits(0)], // SQL-92: entry level
  [527, flag(false)], // integrity enhancement facility
  [528, bits(1, 2)], // outer joins: limited and full
  [529, text('schema')],
  [530, text('procedure')],
  [531, text('catalog')],
  [532, flag(true)], // catalog comes first
  [533, NONE], // schemas in procedure calls, index and privilege definitions
  [534, NONE], // catalogs in the same statements
  [535, NONE], // positioned DELETE and UPDATE
  [536, flag(false)], // SELECT FOR UPDATE
  [537, flag(false)], // stored procedures
  [538, bits(0, 1, 2)], // subqueries in comparisons, EXISTS and IN
  [539, flag(true)], // correlated subqueries
  [540, bits(0, 1)], // UNION and UNION ALL
  // Maximum lengths and counts, from literals to user names.
  ...Array.from({ length: 15 }, (_, i) => [541 + i, UNLIMITED] as const),
  [556, flag(false)], // maximum row size includes large values
  ...Array.from({ length: 5 }, (_, i) => [557 + i, UNLIMITED] as const),
  [562, long(0)], // isolation: no transactions
  [563, flag(false)],
  [564, bits(0)],
  [565, flag(false)],
  [566, flag(false)],
  [567, bits(1)], // forward-only result sets
  [568, bits(0)],
  [569, bits(1)], // read-only result sets
  [570, bits(0)],
  [571, bits(0)],
  [572, flag(false)], // batch updates
  [573, flag(false)], // savepoints
  [574, flag(true)], // named parameters
  [575, flag(false)],
  [576, flag(false)], // functions with CALL
]);

/** Returns the requested rows; without ids, all of them. Unknown ids are omitted. */
export function sqlInfoRows(ids: readonly number[]): readonly Row[] {
  const requestedIds = ids.length === 0 ? [...SQL_INFO.keys()] : [...new Set(ids)];
  return requestedIds.flatMap((id): Row[] => {
    const value = SQL_INFO.get(id);
    return value === undefined ? [] : [[id, value]];
  });
}

/** The intended type of an expression. A few expressions have another type. */
export type SqlType =
  | 'boolean'
  | 'date'
  | 'decimal'
  | 'duration'
  | 'float'
  | 'integer'
  | 'interval'
  | 'list'
  | 'map'
  | 'struct'
  | 'text'
  | 'time';

export type Columns = Readonly<Record<SqlType, readonly string[]>>;

const NONE: Columns = {
  boolean: [],
  date: [],
  decimal: [],
  duration: [],
  float: [],
  integer: [],
  interval: [],
  list: [],
  map: [],
  struct: [],
  text: [],
  time: [],
};

/** Only the columns of table `m` (`corpus/lines.lp`). */
export const COLUMNS: Columns = {
  ...NONE,
  boolean: ['b'],
  float: ['v', 'm.v'],
  integer: ['i', 'u', 'm.i'],
  text: ['h', 's', 'user', 'm.h'],
  time: ['time', 'm.time'],
};

/** Columns that exist in both tables are qualified. */
export const JOINED_COLUMNS: Columns = {
  ...COLUMNS,
  text: ['h', 's', 'm.user', 'm.h', 'n.user'],
  time: ['m.time', 'n.time'],
};

export const LITERALS: Columns = {
  boolean: ['true', 'false', 'NULL::BOOLEAN', '1 = 1'],
  date: [
    ...["DATE '2020-02-29'", "DATE '0001-01-01'", "DATE '9999-12-31'", "'x'::DATE", 'NULL::DATE'],
    ...['current_date', 'make_date(2020, 1, 31)'],
  ],
  decimal: [
    ...['1.5::DECIMAL(10,2)', '0::DECIMAL(5,2)', '99999::DECIMAL(5,0)', '-1::DECIMAL(3,1)'],
    ...['NULL::DECIMAL(5,2)', '123456789012345678.5::DECIMAL(38,10)'],
  ],
  duration: [
    ...['(now() - time)', "arrow_cast(5, 'Duration(Nanosecond)')"],
    "arrow_cast(1, 'Duration(Second)')",
  ],
  float: [
    ...['0.0', '0.1', '1.5', '-2.5', '1e300', '-1e300', '1e-300', "'NaN'::DOUBLE"],
    ...["'inf'::DOUBLE", 'NULL::DOUBLE'],
  ],
  integer: [
    ...['0', '1', '-1', '2', '3', '7', '100', '300', '5000000000', 'NULL', '9223372036854775807'],
    ...['-9223372036854775808', '9223372036854775808', '18446744073709551615'],
  ],
  interval: [
    ...["INTERVAL '1 day'", "INTERVAL '1 month'", "INTERVAL '1.5 hours'", 'INTERVAL 1 DAY'],
    ...["INTERVAL '-3 years 2 days'", "INTERVAL '0 seconds'", "INTERVAL '1 nanosecond'"],
    ...["INTERVAL '1000000 years'", 'NULL::INTERVAL'],
  ],
  list: [
    ...['[1,2,3]', '[]', '[1]', '[NULL]', "['a','b',NULL]", '[[1],[2]]', "[(1,'a')]", 'NULL'],
    ...['make_array(1.5, 2)', "string_to_array('a,b', ',')", 'range(3)', "[DATE '2020-01-01']"],
  ],
  map: [
    ...["MAP {'a': 1}", "map(['a','b'],[1,2])", "make_map('k', v)", "map('a', 1)"],
    "map(['a','a'],[1,2])",
  ],
  struct: [
    ...["named_struct('a', 1, 'b', 'x')", "(1, 'x')", 'struct(i AS x, v)', '{a: 1}', 'NULL'],
    ...['struct(1,2)', 'selector_first(v, time)'],
  ],
  text: [
    ...["''", "' '", "'a'", "'abc'", "'a,b,c'", "','", "'.'", "'-'", "'('", "'[a-'", "'(a)(b)'"],
    ...["'12'", "'1.5'", "'9223372036854775808'", "'true'", "'x%_\\'", "'äöü😀'", 'NULL'],
    ...["'2020-01-01'", "'2020-01-01T00:00:00Z'", "'1 day'", "'%Y-%m-%d'", "'%Q'", "'+02:00'"],
    ...["'year'", "'minute'", "'Europe/Berlin'", "'hex'", "'sha256'", "'Int8'", "'Utf8'"],
    ...["'Timestamp(Second, None)'", "'i'", "'g'", "'value'"],
  ],
  time: [
    ...["TIMESTAMP '2020-01-01T00:00:00Z'", "TIMESTAMP '1677-09-22T00:00:00'", 'now()'],
    ...["TIMESTAMP '2262-04-11T00:00:00'", "'2020-02-30'::TIMESTAMP", 'to_timestamp(0)'],
    ...["'2020-06-01T10:00:00+02:00'::TIMESTAMPTZ", "tz(time, 'Europe/Berlin')"],
    ...["arrow_cast('2020-01-01', 'Timestamp(Second, None)')", 'NULL::TIMESTAMP'],
  ],
};

export const TYPES = Object.keys(LITERALS) as readonly SqlType[]; // its keys are all members of the type

/** Target types of casts, for SQL and for `arrow_cast`. Types without a cast have none. */
export const CAST_TYPES: Columns = {
  ...NONE,
  boolean: ['BOOLEAN'],
  date: ['DATE'],
  decimal: ['DECIMAL(5,2)', 'DECIMAL(38,0)'],
  float: ['FLOAT', 'DOUBLE'],
  integer: ['INT', 'BIGINT', 'TINYINT', 'SMALLINT', 'INT UNSIGNED', 'BIGINT UNSIGNED'],
  interval: ['INTERVAL'],
  text: ['VARCHAR'],
  time: ['TIMESTAMP', 'TIMESTAMPTZ', 'TIME'],
};
export const ARROW_TYPES: Columns = {
  ...NONE,
  boolean: ['Boolean'],
  date: ['Date32', 'Date64'],
  decimal: ['Decimal128(10, 2)'],
  duration: ['Duration(Second)', 'Duration(Nanosecond)'],
  float: ['Float16', 'Float32', 'Float64'],
  integer: ['Int8', 'Int64', 'UInt16', 'UInt64', 'Nope'],
  interval: ['Interval(MonthDayNano)'],
  text: ['Utf8', 'LargeUtf8', 'Utf8View', 'Binary', 'Dictionary(Int32, Utf8)'],
  time: [
    ...['Timestamp(Millisecond, None)', 'Timestamp(Nanosecond, Some("+00:00"))'],
    'Time64(Nanosecond)',
  ],
};

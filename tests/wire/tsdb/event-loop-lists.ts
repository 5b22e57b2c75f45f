export const BOUNDS = ['', ' LIMIT 1', ' LIMIT 10 OFFSET 30000'];

export const SHOWS = [
  'SHOW SERIES',
  'SHOW SERIES FROM /./',
  "SHOW SERIES WHERE host = 'h1'",
  'SHOW SERIES WHERE u =~ /9$/',
  'SHOW SERIES WHERE u =~ /(r?){200}r{200}x/',
  'SHOW SERIES WHERE v > 5',
  'SHOW SERIES WHERE time > 1700000000100000000',
  'SHOW SERIES FROM del',
  'SHOW TAG VALUES WITH KEY = u',
  'SHOW TAG VALUES WITH KEY =~ /./',
  'SHOW TAG VALUES FROM /./ WITH KEY = host',
  "SHOW TAG VALUES FROM m WITH KEY = u WHERE host = 'h1'",
  'SHOW TAG VALUES WITH KEY = u WHERE v > 5',
  'SHOW TAG VALUES WITH KEY = u WHERE value =~ /99/',
  'SHOW TAG KEYS',
  "SHOW TAG KEYS WHERE u = 'none'",
  'SHOW TAG KEYS WHERE v > 5',
  'SHOW FIELD KEYS',
  'SHOW MEASUREMENTS',
  "SHOW MEASUREMENTS WHERE u = 'none'",
  'SHOW MEASUREMENTS WHERE v > 5',
  'SHOW MEASUREMENTS WITH MEASUREMENT =~ /m/',
];

export const INFLUXQL = [
  'SHOW SERIES CARDINALITY',
  'SHOW SERIES EXACT CARDINALITY',
  'SHOW SERIES EXACT CARDINALITY FROM m WHERE host =~ /1/',
  'SHOW MEASUREMENT CARDINALITY',
  'SHOW MEASUREMENT EXACT CARDINALITY',
  'SHOW TAG KEY CARDINALITY',
  'SHOW TAG KEY EXACT CARDINALITY',
  'SHOW TAG VALUES CARDINALITY WITH KEY = u',
  'SHOW TAG VALUES EXACT CARDINALITY WITH KEY =~ /./ WHERE v > 3',
  'SHOW FIELD KEY CARDINALITY',
  'SHOW FIELD KEY EXACT CARDINALITY',
  'SHOW DATABASES',
  'SHOW RETENTION POLICIES',
  'SHOW QUERIES',
  'SHOW SHARDS',
  'SHOW SHARD GROUPS',
  'SHOW STATS',
  'SHOW DIAGNOSTICS',
  'SHOW USERS',
  'SHOW CONTINUOUS QUERIES',
  'SHOW SUBSCRIPTIONS',
  'SELECT * FROM /.*/ LIMIT 1',
  'SELECT * FROM /.*/ GROUP BY * SLIMIT 1',
  'SELECT count(*) FROM /.*/',
  'SELECT count(*) FROM /.*/ GROUP BY *',
  'SELECT count(v) FROM m GROUP BY u',
  'SELECT last(*) FROM /.*/ GROUP BY * SLIMIT 1',
  'SELECT mean(v) FROM m GROUP BY * SLIMIT 1',
  'SELECT mean(v) FROM m WHERE u =~ /9$/ GROUP BY *',
  'SELECT distinct(s) FROM m GROUP BY * SLIMIT 1',
  'SELECT u, v FROM m LIMIT 1',
  'SELECT v FROM m ORDER BY time DESC LIMIT 1',
  'SELECT top(v, u, 5) FROM m',
  'SELECT * FROM n LIMIT 1',
  'SELECT v FROM m WHERE v > 10 LIMIT 1',
  'SELECT count(*) FROM (SELECT * FROM m GROUP BY *)',
  'SELECT sum(c) FROM (SELECT count(v) AS c FROM m GROUP BY u)',
  'SELECT sum(c) FROM (SELECT count(v) AS c FROM m GROUP BY u) GROUP BY u SLIMIT 1',
  'SELECT count(v) FROM rp.m, m GROUP BY u SLIMIT 1',
  'EXPLAIN SELECT * FROM /.*/ GROUP BY *',
  'EXPLAIN ANALYZE SELECT count(v) FROM m GROUP BY *',
];

/** Statements that only InfluxQL of version 1 has. */
const OF_V1 =
  /SERIES|CARDINALITY|SLIMIT|rp\.m|^SHOW (?!MEASUREMENTS|TAG|FIELD|DATABASES|RETENTION)/;
export const inV3 = (q: string): boolean => !OF_V1.test(q);

export const SQL = [
  'SHOW TABLES',
  'SHOW COLUMNS FROM m',
  'SHOW ALL',
  'SHOW datafusion.execution.time_zone',
  'SHOW FUNCTIONS',
  'DESCRIBE m',
  ...['tables', 'columns', 'schemata', 'views', 'df_settings', 'routines', 'parameters'].map(
    (view) => `SELECT * FROM information_schema.${view}`,
  ),
  'SELECT DISTINCT u FROM m',
  'SELECT DISTINCT u FROM m LIMIT 1',
  'SELECT DISTINCT host, u FROM m',
  'SELECT count(DISTINCT u) FROM m',
  'SELECT * FROM m LIMIT 1',
  'SELECT * FROM m ORDER BY time DESC LIMIT 1',
  'SELECT u, count(*) FROM m GROUP BY u LIMIT 1',
  'SELECT u, max(v) FROM m GROUP BY u ORDER BY u LIMIT 5',
  'SELECT host, avg(v) FROM m GROUP BY host',
  "SELECT count(*) FROM m WHERE u LIKE '%9'",
  "SELECT count(*) FROM m WHERE u ~ '9$'",
  'SELECT host, u, last_value(v ORDER BY time) FROM m GROUP BY host, u',
  "SELECT date_bin(interval '1 minute', time) AS t, u, avg(v) FROM m GROUP BY t, u LIMIT 10",
  "SELECT max(CAST(CAST(CAST(value * 86400 AS TIMESTAMP) AS VARCHAR) || ' Europe/Berlin' AS TIMESTAMP)) FROM generate_series(0, 20000)",
  'EXPLAIN SELECT * FROM m',
  'EXPLAIN VERBOSE SELECT * FROM m',
  'EXPLAIN ANALYZE SELECT u, count(*) FROM m GROUP BY u',
  'SELECT u, row_number() OVER (PARTITION BY u ORDER BY time) AS r FROM m',
  'SELECT u, difference(v) OVER (PARTITION BY u ORDER BY time) AS d FROM m LIMIT 5',
  'SELECT u FROM m UNION SELECT k FROM n',
  'SELECT u FROM m INTERSECT SELECT k FROM n',
  'SELECT u FROM m EXCEPT SELECT k FROM n',
  'SELECT count(*) FROM m WHERE u IN (SELECT k FROM n)',
  'SELECT count(*) FROM m JOIN n ON m.u = n.k',
  'SELECT u, selector_last(v, time) FROM m GROUP BY u',
  'WITH w AS (SELECT u, max(v) AS x FROM m GROUP BY u) SELECT count(*) FROM w WHERE x > (SELECT avg(v) FROM m)',
  "SELECT date_bin_gapfill(interval '1 second', time) AS t, host, locf(avg(v)) FROM m WHERE time >= '2023-11-14T22:13:20Z' AND time < '2023-11-14T22:20:00Z' GROUP BY t, host",
  "SELECT unnest(string_to_array(u, 'r')) FROM m",
  "SELECT * FROM last_cache('m', 'last')",
  "SELECT * FROM distinct_cache('m', 'distinct')",
];

/** Each returns one cell with about as many values as fit into a result. */
export const LARGE_VALUES = [
  "SELECT array_agg('text ' || value) FROM generate_series(1, 400000)",
  "SELECT array_agg(named_struct('a', value, 'b', 'text ' || value)) FROM generate_series(1, 300000)",
  "SELECT array_agg(make_array('text ' || value)) FROM generate_series(1, 200000)",
];

export const COMMANDS: readonly (readonly [
  name: string,
  type: string,
  fields: Readonly<Record<string, unknown>>,
])[] = [
  ['CommandGetCatalogs', 'Empty', {}],
  ['CommandGetDbSchemas', 'Schemas', {}],
  ['CommandGetTables', 'Tables', {}],
  ['CommandGetTables', 'Tables', { include_schema: true }],
  ['CommandGetTableTypes', 'Empty', {}],
  ['CommandGetSqlInfo', 'SqlInfo', {}],
  ['CommandGetXdbcTypeInfo', 'TypeInfo', {}],
  ...['PrimaryKeys', 'ExportedKeys', 'ImportedKeys', 'CrossReference'].map(
    (keys) => [`CommandGet${keys}`, 'Empty', {}] as const,
  ),
  ['CommandStatementQuery', 'Statement', { query: 'SELECT DISTINCT u FROM m' }],
  ['CommandStatementQuery', 'Statement', { query: 'SELECT u, count(*) FROM m GROUP BY u' }],
];

/** Statements on the server's own database, whose tables the server writes. */
export const INTERNAL = [
  'SHOW MEASUREMENTS',
  'SHOW SERIES',
  'SHOW TAG VALUES WITH KEY =~ /./',
  'SHOW FIELD KEYS',
  'SELECT * FROM /.*/ LIMIT 1',
  'SELECT count(*) FROM /.*/ GROUP BY *',
];

/** Each can run repeatedly. */
export const CHANGES = [
  'CREATE DATABASE e',
  'CREATE RETENTION POLICY p ON e DURATION 0s REPLICATION 1',
  'ALTER RETENTION POLICY p ON e DURATION 1000w',
  'DROP RETENTION POLICY p ON e',
  'DROP DATABASE e',
  "CREATE USER u WITH PASSWORD 'x'",
  'GRANT READ ON d TO u',
  'SHOW GRANTS FOR u',
  'REVOKE READ ON d FROM u',
  'GRANT ALL PRIVILEGES TO u',
  'REVOKE ALL PRIVILEGES FROM u',
  "SET PASSWORD FOR u = 'y'",
  "DROP USER u; CREATE USER u WITH PASSWORD 'x'",
  'SELECT * INTO copy FROM n GROUP BY *',
  "DELETE FROM m WHERE u = 'none'",
  "DELETE WHERE u = 'none'",
  "DROP SERIES FROM m WHERE u = 'none'",
];

/** Each runs in a separate database for every attempt. */
export const DELETIONS = [
  'DELETE FROM a WHERE k =~ /1$/',
  'DROP SERIES FROM b WHERE k =~ /./',
  'DROP MEASUREMENT a',
  'DROP DATABASE $db',
];

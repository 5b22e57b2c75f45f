import assert from 'node:assert/strict';
import {
  command,
  decode,
  EventLoopDelay,
  encode,
  FlightClient,
  ServerProcess,
} from '../../harness/index.js';

const LINES_A_WRITE = 20_000;
const FIRST_NS = 1_700_000_000_000_000_000n;
/** Garbage collections that happen to fall into a statement do not do so in each of these. */
const ATTEMPTS = 3;
/** Fewer means that the list of them was not read. */
const MIN_SYSTEM_TABLES = 8;

type Run = (server: ServerProcess, flight: FlightClient, attempt: number) => Promise<unknown>;

/**
 * Runs every kind of statement over so many series and holds the server to a bound on the time that it does nothing else.
 * Three fifths of the series are in one table; others are in a policy of the same names, in another table, in one of which
 * half was deleted, and in a database for each attempt to delete them.
 */
export async function checkStatements(options: {
  readonly seriesCount: number;
  readonly maxMs: number;
  /** Besides those that the statements name. */
  readonly tableCount?: number;
  /** Of the statements; all unless it is given. */
  readonly only?: RegExp;
}): Promise<void> {
  const { seriesCount, maxMs, tableCount = 0, only = /^/ } = options;
  const delay = await EventLoopDelay.create();
  const server = await ServerProcess.start({ flags: ['--without-auth'], env: delay.env });
  const flight = new FlightClient(server.url, { 'grpc.max_receive_message_length': -1 });
  try {
    await fill(server, seriesCount);
    await write(server, 'd', tableCount, (i) => `table${i},host=h f0=1,f1=2,f2="x" ${FIRST_NS}`);
    const slow: string[] = [];
    for (const [name, run] of [...statements(), ...(await systemTables(server))]) {
      if (!only.test(name)) continue;
      let least = Number.POSITIVE_INFINITY;
      for (let i = 0; i < ATTEMPTS && least > maxMs; i++) {
        await delay.take(server);
        await run(server, flight, i);
        least = Math.min(least, await delay.take(server));
      }
      if (least > maxMs) slow.push(`${Math.round(least)} ms: ${name}`);
    }
    assert.deepEqual(slow, []);
  } finally {
    flight.close();
    await server.close();
    await delay.close();
  }
}

async function fill(server: ServerProcess, seriesCount: number): Promise<void> {
  await write(server, 'd', 1, () => 'x v=1 1');
  await post(server, 'CREATE RETENTION POLICY "rp" ON "d" DURATION 0s REPLICATION 1');
  const user = (i: number): string => `user${(i * 7919) % 1_000_003}`;
  const m = (i: number): string => `m,host=h${i % 100},u=${user(i)} v=${i},s="x",ok=true`;
  const timed = (line: string, i: number) => `${line} ${FIRST_NS + BigInt(i) * 1_000_000n}`;
  await write(server, 'd', seriesCount * 0.6, (i) => timed(m(i), i));
  await write(server, 'd&rp=rp', seriesCount * 0.1, (i) => timed(m(i), i));
  await write(server, 'd', seriesCount * 0.2, (i) =>
    timed(`n,region=r${i % 7},k=k${i} w=${i}i`, i),
  );
  await write(server, 'd', seriesCount * 0.1, (i) => timed(`del,k=k${i} w=${i}i`, i));
  const half = FIRST_NS + BigInt(seriesCount * 0.05) * 1_000_000n;
  await post(server, `DELETE FROM del WHERE time < ${half}`);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++)
    for (const table of ['a', 'b', 'c'])
      await write(server, `drop${attempt}`, seriesCount * 0.03, (i) =>
        timed(`${table},k=k${i} w=${i}i`, i),
      );
}

/** All of them, of an own database and of the one that the server keeps about itself. */
async function systemTables(server: ServerProcess): Promise<(readonly [string, Run])[]> {
  const q = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'system'";
  const found: (readonly [string, Run])[] = [];
  for (const db of ['d', '_internal']) {
    const query = new URLSearchParams({ db, q, format: 'json' }).toString();
    const { text } = await server.http.send(`/api/v3/query_sql?${query}`);
    const { results } = JSON.parse(text) as {
      readonly results: readonly [{ readonly series?: readonly [{ readonly values: string[][] }] }];
    };
    const tables = (results[0].series?.[0].values ?? []).flat();
    assert.ok(tables.length >= MIN_SYSTEM_TABLES, `${db}: ${text}`);
    for (const table of tables)
      found.push([
        `system: ${db} ${table}`,
        (to) => get(to, 'query_sql', `SELECT * FROM system.${table}`, { db }),
      ]);
  }
  return found;
}

async function write(
  server: ServerProcess,
  database: string,
  count: number,
  line: (i: number) => string,
): Promise<void> {
  for (let from = 0; from < count; from += LINES_A_WRITE) {
    const length = Math.min(LINES_A_WRITE, count - from);
    const body = Array.from({ length }, (_, i) => line(from + i)).join('\n');
    const { status, text } = await server.http.send(`/write?db=${database}`, { body });
    assert.equal(status, 204, text);
  }
}

async function post(server: ServerProcess, text: string, db = 'd'): Promise<void> {
  const q = text.replaceAll('$db', db);
  const { status, text: response } = await server.http.send('/query', {
    body: new URLSearchParams({ db, q }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  assert.equal(status, 200, `${q}: ${response.slice(0, 300)}`);
  assert.doesNotMatch(response.slice(0, 300), /"error"/, q);
}

function* statements(): Generator<readonly [name: string, run: Run]> {
  for (const q of [...SHOWS.flatMap((show) => BOUNDS.map((bound) => show + bound)), ...INFLUXQL])
    yield [q, (server) => post(server, q)];
  for (const q of NATIVE) yield [`native: ${q}`, (server) => get(server, 'query_influxql', q)];
  for (const q of SQL) yield [q, (server) => get(server, 'query_sql', q)];
  for (const format of ['csv', 'jsonl', 'pretty', 'parquet'])
    yield [format, (server) => get(server, 'query_sql', 'SELECT DISTINCT u FROM m', { format })];
  for (const q of LARGE_VALUES) {
    for (const format of ['json', 'jsonl', 'csv', 'pretty', 'parquet', 'arrow'])
      yield [`${format}: ${q}`, (server) => get(server, 'query_sql', q, { format })];
    const query = command('CommandStatementQuery', 'Statement', { query: q });
    yield [`Flight: ${q}`, (_, flight) => callFlight(flight, query)];
  }
  for (const q of ['SELECT * FROM m', 'SHOW TAG VALUES WITH KEY = u'])
    yield [
      `native parquet: ${q}`,
      (server) => get(server, 'query_influxql', q, { format: 'parquet' }),
    ];
  for (const [name, type, fields] of COMMANDS)
    yield [
      `Flight: ${name} ${JSON.stringify(fields)}`,
      (_, flight) => callFlight(flight, command(name, type, fields)),
    ];
  for (const query of FLIGHT_INFLUXQL)
    yield [
      `Flight: ${query}`,
      (_, flight) =>
        callFlight(flight, command('CommandStatementQuery', 'Statement', { query }), 'influxql'),
    ];
  for (const q of CHANGES) yield [q, (server) => post(server, q)];
  for (const q of DELETIONS) yield [q, (server, _, attempt) => post(server, q, `drop${attempt}`)];
}

async function get(
  server: ServerProcess,
  route: string,
  q: string,
  { db = 'd', format = 'json' }: { readonly db?: string; readonly format?: string } = {},
) {
  const query = new URLSearchParams({ db, q, format }).toString();
  const { status, text } = await server.http.send(`/api/v3/${route}?${query}`);
  assert.equal(status, 200, `${q}: ${text.slice(0, 300)}`);
}

/** As bytes: a client that decodes them would take longer than the server. */
async function callFlight(
  flight: FlightClient,
  cmd: Uint8Array,
  language: 'sql' | 'influxql' = 'sql',
): Promise<void> {
  const options = { metadata: { database: 'd', 'x-influxdata-query-language': language } };
  const descriptor = encode('Descriptor', { type: 2, cmd });
  const [info] = await flight.call('GetFlightInfo', descriptor, options);
  const { endpoint } = decode('Info', info ?? Buffer.alloc(0)) as {
    readonly endpoint: readonly { readonly ticket: { readonly ticket: Uint8Array } }[];
  };
  for (const { ticket } of endpoint) await flight.call('DoGet', encode('Ticket', ticket), options);
}

const BOUNDS = ['', ' LIMIT 1', ' LIMIT 10 OFFSET 30000'];

const SHOWS = [
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

const INFLUXQL = [
  'SHOW SERIES CARDINALITY',
  'SHOW SERIES EXACT CARDINALITY',
  'SHOW SERIES EXACT CARDINALITY FROM m WHERE host =~ /1/',
  'SHOW MEASUREMENT CARDINALITY',
  'SHOW MEASUREMENT EXACT CARDINALITY',
  'SHOW TAG KEY CARDINALITY',
  'SHOW TAG VALUES CARDINALITY WITH KEY = u',
  'SHOW TAG VALUES EXACT CARDINALITY WITH KEY =~ /./ WHERE v > 3',
  'SHOW FIELD KEY CARDINALITY',
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

const NATIVE = [
  'SHOW MEASUREMENTS',
  'SHOW TAG VALUES WITH KEY = u',
  'SHOW TAG VALUES WITH KEY = u LIMIT 1',
  'SHOW TAG KEYS',
  'SHOW FIELD KEYS',
  'SHOW RETENTION POLICIES',
  'SHOW DATABASES',
  'SELECT * FROM /.*/ LIMIT 1',
];

const SQL = [
  'SHOW TABLES',
  'SHOW COLUMNS FROM m',
  'SHOW ALL',
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
];

/** Each has as many values in one cell as fit into a result, or almost. */
const LARGE_VALUES = [
  "SELECT array_agg('text ' || value) FROM generate_series(1, 400000)",
  "SELECT array_agg(named_struct('a', value, 'b', 'text ' || value)) FROM generate_series(1, 300000)",
  "SELECT array_agg(make_array('text ' || value)) FROM generate_series(1, 200000)",
];

const COMMANDS: readonly (readonly [
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
  ['CommandStatementQuery', 'Statement', { query: 'SELECT DISTINCT u FROM m' }],
  ['CommandStatementQuery', 'Statement', { query: 'SELECT u, count(*) FROM m GROUP BY u' }],
];

const FLIGHT_INFLUXQL = [
  'SHOW MEASUREMENTS',
  'SHOW TAG VALUES WITH KEY = u',
  'SELECT * FROM /.*/ LIMIT 1',
  'SELECT count(v) FROM m GROUP BY u',
];

/** Each may run again. */
const CHANGES = [
  'CREATE DATABASE e',
  'CREATE RETENTION POLICY p ON e DURATION 0s REPLICATION 1',
  'ALTER RETENTION POLICY p ON e DURATION 1000w',
  'DROP RETENTION POLICY p ON e',
  'DROP DATABASE e',
  "CREATE USER u WITH PASSWORD 'x'",
  'GRANT READ ON d TO u',
  'SHOW GRANTS FOR u',
  'REVOKE READ ON d FROM u',
  "SET PASSWORD FOR u = 'y'",
  "DROP USER u; CREATE USER u WITH PASSWORD 'x'",
  'SELECT * INTO copy FROM n GROUP BY *',
  "DELETE FROM m WHERE u = 'none'",
  "DELETE WHERE u = 'none'",
  "DROP SERIES FROM m WHERE u = 'none'",
];

/** Each in a database of its own for every attempt. */
const DELETIONS = [
  'DELETE FROM a WHERE k =~ /1$/',
  'DROP SERIES FROM b WHERE k =~ /./',
  'DROP MEASUREMENT a',
  'DROP DATABASE $db',
];

// Source: InfluxDB 3 Enterprise, "Manage resource tokens"; the 1.x server, "Authentication and authorization"; tsdb-http,
// section 2. This file computes the expected permissions of each credential from its grants, with its own rules.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCli } from '../../harness/cli.js';
import {
  command,
  encode,
  FlightClient,
  jsonTicket,
  rowsOfTable,
  statusOf,
} from '../../harness/flight-client.js';
import { type HttpResponse, ServerInProcess } from '../../harness/index.js';

const NOT_PERMITTED = 'unauthorized to perform requested action with the token';
const UNAUTHENTICATED = 'the request was not authenticated';
const GRPC_STATUS: Readonly<Record<number, string>> = { 7: '403', 16: '401', 5: '404' };

type Headers = Readonly<Record<string, string>>;

interface Credential {
  readonly headers: Headers;
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly isKnown?: false;
  readonly isAdmin?: true;
}

let server: ServerInProcess;
let flight: FlightClient;
let admin = '';
const credentials = new Map<string, Credential>();

const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });
const basic = (user: string, password: string): Headers => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});

const post = (path: string, body: object, headers: Headers): Promise<HttpResponse> =>
  server.http.send(path, {
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const v1 = (q: string, headers: Headers, more: Headers = {}): Promise<HttpResponse> =>
  server.http.send('/query', {
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ q, ...more }).toString(),
  });

async function tokenOf(name: string, permission: string, more: object = {}): Promise<Headers> {
  const [resource_type = '', names = '', actions = ''] = permission.split(':');
  const permissions = [
    { resource_type, resource_identifier: names.split(','), actions: actions.split(',') },
  ];
  const response = await post(
    '/api/v3/enterprise/configure/token',
    { token_name: name, permissions, ...more },
    bearer(admin),
  );
  assert.equal(response.status, 201, response.text);
  return bearer(JSON.parse(response.text).token);
}

before(async () => {
  server = await ServerInProcess.start({
    flags: ['--server-trusted-proxies', 'loopback', '--first-token', 'anyone'],
  });
  const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  admin = JSON.parse(made.text).token;
  for (const target of ['db=a', 'db=b', 'db=a&rp=two', 'db=c']) {
    const body = `m,host=${target.at(-1)} v=1 1\nn v=2 2`;
    const response = await server.http.send(`/write?${target}`, { headers: bearer(admin), body });
    assert.equal(response.status, 204, response.text);
  }
  for (const db of ['a', 'b']) {
    const cache = { db, table: 'm', name: 'last' };
    assert.equal((await post('/api/v3/configure/last_cache', cache, bearer(admin))).status, 201);
    const distinct = { db, table: 'm', name: 'hosts', columns: ['host'] };
    const path = '/api/v3/configure/distinct_cache';
    assert.equal((await post(path, distinct, bearer(admin))).status, 201);
  }
  for (const q of [
    "CREATE USER reader WITH PASSWORD 'r'",
    'GRANT READ ON a TO reader',
    "CREATE USER writer WITH PASSWORD 'w:1'",
    'GRANT WRITE ON a TO writer',
    "CREATE USER nothing WITH PASSWORD 'n'",
  ]) {
    const response = await v1(q, bearer(admin));
    assert.equal(response.text, '{"results":[{"statement_id":0}]}\n', q);
  }
  const add = (name: string, headers: Headers, more: Partial<Credential> = {}): void =>
    void credentials.set(name, { headers, read: [], write: [], ...more });
  add('admin', bearer(admin), { isAdmin: true });
  add('db:a:read', await tokenOf('ra', 'db:a:read'), { read: ['a'] });
  add('db:a:write', await tokenOf('wa', 'db:a:write'), { write: ['a'] });
  add('db:a,b:read,write', await tokenOf('ab', 'db:a,b:read,write'), {
    read: ['a', 'b'],
    write: ['a', 'b'],
  });
  add('db:*:read', await tokenOf('r', 'db:*:read'), { read: ['*'] });
  add('db:*:write', await tokenOf('w', 'db:*:write'), { write: ['*'] });
  add('db:_internal:read', await tokenOf('i', 'db:_internal:read'), { read: ['_internal'] });
  add('user READ', basic('reader', 'r'), { read: ['a'] });
  add('user WRITE', basic('writer', 'w:1'), { write: ['a'] });
  add('user without', basic('nothing', 'n'));
  add('wrong password', basic('reader', 'w'), { isKnown: false });
  add('no user', basic('nobody', 'r'), { isKnown: false });
  const deleted = await tokenOf('deleted', 'db:*:read,write');
  add('deleted', deleted, { isKnown: false });
  await server.http.send('/api/v3/configure/token?token_name=deleted', {
    method: 'DELETE',
    headers: bearer(admin),
  });
  add('expired', await tokenOf('expired', 'db:*:read,write', { expiry_secs: 1 }), {
    isKnown: false,
  });
  await sleep(1100);
  flight = new FlightClient(server.url);
});
after(async () => {
  flight.close();
  await server.close();
});

/** An operation and the permissions that it requires. */
interface Way {
  readonly name: string;
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  readonly isAdmins?: true;
  /** Result for a permitted request; for Flight, the equivalent HTTP status. */
  readonly outcome: string;
  run(headers: Headers): Promise<string>;
}

const http =
  (send: (headers: Headers) => Promise<HttpResponse>) =>
  async (headers: Headers): Promise<string> => {
    const { status, text } = await send(headers);
    const { error } = status >= 400 && text.startsWith('{') ? JSON.parse(text) : { error: '' };
    if (status === 401) assert.equal(error, UNAUTHENTICATED);
    if (status === 403) assert.equal(error, NOT_PERMITTED);
    return String(status);
  };
const grpc =
  (call: (options: { readonly metadata: Headers }) => Promise<unknown>, more: Headers = {}) =>
  async (headers: Headers): Promise<string> => {
    const status = await statusOf(call({ metadata: { ...more, ...headers } }));
    return status.code === 0 ? '200' : (GRPC_STATUS[status.code] ?? `gRPC ${status.code}`);
  };

const line = 'm,host=w v=3 3';
const writing = (path: string) =>
  http((headers) => server.http.send(path, { headers, body: line }));
const sql = (db: string, q: string) =>
  http((headers) => post('/api/v3/query_sql', { db, q }, headers));
const influxql = (db: string | undefined, q: string) =>
  http((headers) => post('/api/v3/query_influxql', { ...(db && { db }), q }, headers));
const legacy = (q: string, db?: string) =>
  http((headers) => v1(q, headers, db === undefined ? {} : { db }));
const routed = (method: string, path: string, body?: string) =>
  http((headers) =>
    server.http.send(path, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body !== undefined && { body }),
    }),
  );

const statement = (query: string): Buffer =>
  command('CommandStatementQuery', 'Statement', { query });

const WAYS: readonly Way[] = [
  ...['a', 'b', 'new', 'a/two', 'b/two'].map(
    (db): Way => ({
      name: `write_lp to ${db}`,
      write: [db],
      outcome: '204',
      run: writing(`/api/v3/write_lp?db=${encodeURIComponent(db)}`),
    }),
  ),
  { name: 'v1 write', write: ['a'], outcome: '204', run: writing('/write?db=a') },
  { name: 'v1 write elsewhere', write: ['b'], outcome: '204', run: writing('/write?db=b') },
  {
    name: 'v1 write to a policy',
    write: ['a'],
    outcome: '204',
    run: writing('/write?db=a&rp=two'),
  },
  { name: 'v2 write', write: ['a'], outcome: '204', run: writing('/api/v2/write?bucket=a') },
  {
    name: 'v2 write elsewhere',
    write: ['b'],
    outcome: '204',
    run: writing('/api/v2/write?bucket=b/two'),
  },
  ...['a', 'b'].map(
    (db): Way => ({
      name: `SQL on ${db}`,
      read: [db],
      outcome: '200',
      run: sql(db, 'WITH x AS (SELECT * FROM m) SELECT x.v FROM x JOIN n ON true'),
    }),
  ),
  { name: 'SQL on a policy', read: ['a'], outcome: '200', run: sql('a/two', 'SELECT v FROM m') },
  { name: 'SQL on no database', read: ['none'], outcome: '404', run: sql('none', 'SELECT 1') },
  { name: 'SQL EXPLAIN', read: ['b'], outcome: '200', run: sql('b', 'EXPLAIN SELECT v FROM m') },
  { name: 'SQL SHOW TABLES', read: ['b'], outcome: '200', run: sql('b', 'SHOW TABLES') },
  {
    name: 'SQL information_schema',
    read: ['b'],
    outcome: '200',
    run: sql('b', 'SELECT * FROM information_schema.columns'),
  },
  {
    name: 'SQL caches',
    read: ['b'],
    outcome: '200',
    run: sql('b', "SELECT * FROM last_cache('m')"),
  },
  {
    name: 'SQL distinct cache',
    read: ['b'],
    outcome: '200',
    run: sql('b', "SELECT * FROM distinct_cache('m')"),
  },
  {
    name: 'SQL system tables',
    read: ['b'],
    outcome: '200',
    run: sql('b', 'SELECT * FROM system.queries'),
  },
  {
    name: 'SQL on the own database',
    read: ['_internal'],
    outcome: '200',
    run: sql('_internal', 'SELECT * FROM system.databases'),
  },
  { name: 'InfluxQL on a', read: ['a'], outcome: '200', run: influxql('a', 'SELECT * FROM m') },
  { name: 'InfluxQL on b', read: ['b'], outcome: '200', run: influxql('b', 'SELECT * FROM m') },
  {
    name: 'InfluxQL that names b',
    read: ['b'],
    outcome: '200',
    run: influxql(undefined, 'SELECT * FROM b..m'),
  },
  {
    name: 'InfluxQL measurements of b',
    read: ['b'],
    outcome: '200',
    run: influxql(undefined, 'SHOW MEASUREMENTS ON b'),
  },
  {
    name: 'InfluxQL policies of b',
    read: ['b'],
    outcome: '200',
    run: influxql('b', 'SHOW RETENTION POLICIES'),
  },
  { name: 'InfluxQL databases', outcome: '200', run: influxql(undefined, 'SHOW DATABASES') },
  { name: 'v1 SELECT', read: ['a'], outcome: '200', run: legacy('SELECT v FROM m', 'a') },
  { name: 'v1 policy', read: ['a'], outcome: '200', run: legacy('SELECT v FROM a.two.m') },
  {
    name: 'v1 other database',
    read: ['b'],
    outcome: '200',
    run: legacy('SELECT v FROM b..m', 'a'),
  },
  {
    name: 'v1 subquery',
    read: ['b'],
    outcome: '200',
    run: legacy('SELECT max(v) FROM (SELECT v FROM b.autogen.m)', 'a'),
  },
  {
    name: 'v1 two sources',
    read: ['a', 'b'],
    outcome: '200',
    run: legacy('SELECT v FROM a..m, b..m', 'a'),
  },
  { name: 'v1 regex', read: ['b'], outcome: '200', run: legacy('SELECT v FROM b../m/', 'a') },
  {
    name: 'v1 EXPLAIN',
    read: ['b'],
    outcome: '200',
    run: legacy('EXPLAIN SELECT v FROM b..m', 'a'),
  },
  {
    name: 'v1 INTO b',
    read: ['a'],
    write: ['b'],
    outcome: '200',
    run: legacy('SELECT v INTO b..copy FROM a..m', 'a'),
  },
  {
    name: 'v1 INTO b of no rows',
    read: ['a'],
    write: ['b'],
    outcome: '200',
    run: legacy('SELECT v INTO b..copy FROM a..m WHERE v > 1000', 'a'),
  },
  {
    name: 'v1 INTO a',
    read: ['b'],
    write: ['a'],
    outcome: '200',
    run: legacy('SELECT v INTO a..copy FROM b..m', 'a'),
  },
  ...['MEASUREMENTS', 'TAG KEYS', 'FIELD KEYS', 'SERIES', 'RETENTION POLICIES'].map(
    (what): Way => ({
      name: `v1 SHOW ${what}`,
      read: ['b'],
      outcome: '200',
      run: legacy(`SHOW ${what} ON b`, 'a'),
    }),
  ),
  {
    name: 'v1 SHOW TAG VALUES',
    read: ['b'],
    outcome: '200',
    run: legacy('SHOW TAG VALUES ON b WITH KEY = host', 'a'),
  },
  {
    name: 'v1 cardinality',
    read: ['b'],
    outcome: '200',
    run: legacy('SHOW SERIES CARDINALITY ON b', 'a'),
  },
  { name: 'v1 no database', read: ['none'], outcome: '200', run: legacy('SELECT v FROM none..m') },
  ...[
    'CREATE DATABASE x',
    'DROP DATABASE a',
    'DROP MEASUREMENT n',
    'DELETE FROM n',
    'DROP SERIES FROM n',
    'CREATE RETENTION POLICY p ON a DURATION 1h REPLICATION 1',
    'SHOW USERS',
    'SHOW GRANTS FOR reader',
    "SET PASSWORD FOR nothing = 'n'",
    'GRANT ALL ON b TO nothing',
    'REVOKE ALL ON b FROM nothing',
    'SHOW STATS',
    'SHOW DIAGNOSTICS',
  ]
    // Other cases test statements that remove data.
    .filter((q) => !q.startsWith('DROP') && !q.startsWith('DELETE'))
    .map((q): Way => ({ name: `v1 ${q}`, isAdmins: true, outcome: '200', run: legacy(q, 'a') })),
  {
    name: 'Flight SQL ticket',
    read: ['a'],
    outcome: '200',
    run: grpc((options) =>
      flight.table(jsonTicket({ database: 'a', sql_query: 'SELECT v FROM m' }), options),
    ),
  },
  {
    name: 'Flight SQL ticket on b',
    read: ['b'],
    outcome: '200',
    run: grpc((options) =>
      flight.table(jsonTicket({ database: 'b', sql_query: 'SELECT v FROM m' }), options),
    ),
  },
  {
    name: 'Flight InfluxQL ticket that names b',
    read: ['b'],
    outcome: '200',
    run: grpc((options) => {
      const ticket = { database: 'b', sql_query: 'SELECT v FROM b..m', query_type: 'influxql' };
      return flight.table(jsonTicket(ticket), options);
    }),
  },
  {
    name: 'Flight SQL statement',
    read: ['b'],
    outcome: '200',
    run: grpc((options) => flight.execute(statement('SELECT v FROM m'), options), {
      database: 'b',
    }),
  },
  {
    name: 'Flight SQL tables',
    read: ['b'],
    outcome: '200',
    run: grpc((options) => flight.execute(command('CommandGetTables', 'Tables', {}), options), {
      database: 'b',
    }),
  },
  {
    name: 'Flight SQL prepared statement',
    read: ['b'],
    outcome: '200',
    run: grpc(
      (options) => {
        const body = command('ActionCreatePreparedStatementRequest', 'Statement', {
          query: 'SELECT v FROM m',
        });
        return flight.call(
          'DoAction',
          encode('Action', { type: 'CreatePreparedStatement', body }),
          options,
        );
      },
      { database: 'b' },
    ),
  },
  { name: 'ping', outcome: '200', run: routed('GET', '/ping') },
  { name: 'health', isAdmins: true, outcome: '200', run: routed('GET', '/health') },
  { name: 'metrics', isAdmins: true, outcome: '200', run: routed('GET', '/metrics') },
  { name: 'vars', isAdmins: true, outcome: '200', run: routed('GET', '/debug/vars') },
  {
    name: 'list databases',
    isAdmins: true,
    outcome: '200',
    run: routed('GET', '/api/v3/configure/database?format=json'),
  },
  {
    name: 'create a table',
    isAdmins: true,
    outcome: '409',
    run: routed('POST', '/api/v3/configure/table', '{"db":"a","table":"m","tags":["host"]}'),
  },
];

let addressCount = 0;
/** Uses another address, because the limit on failed attempts per address is not under test. */
function fromElsewhere({ headers, isKnown }: Credential): Headers {
  if (isKnown !== false) return headers;
  addressCount += 1;
  const forwarded = `10.0.${addressCount >> 8}.${addressCount & 255}`;
  return { ...headers, 'x-forwarded-for': forwarded };
}

function expected(way: Way, { read, write, isKnown, isAdmin }: Credential): string {
  if (isKnown === false) return '401';
  if (isAdmin) return way.outcome;
  if (way.isAdmins) return '403';
  const has = (granted: readonly string[]) => (database: string) => {
    const [name = ''] = database.split('/');
    return granted.includes(name) || (granted.includes('*') && name !== '_internal');
  };
  const isPermitted = (way.read ?? []).every(has(read)) && (way.write ?? []).every(has(write));
  return isPermitted ? way.outcome : '403';
}

describe('a credential with permissions', () => {
  it('can do what they say, by every way in, and nothing else', { timeout: 240_000 }, async () => {
    let count = 0;
    const wrong: string[] = [];
    for (const [index, way] of WAYS.entries()) {
      for (const [name, credential] of credentials) {
        // Each check of a wrong password takes a tenth of a second.
        if (name.startsWith('no ') && index % 4 !== 0) continue;
        if (name.startsWith('wrong') && index % 4 !== 2) continue;
        const outcome = await way.run(fromElsewhere(credential));
        const wanted = expected(way, credential);
        if (outcome !== wanted) wrong.push(`${way.name}, ${name}: ${outcome}, not ${wanted}`);
        count += 1;
      }
    }
    assert.deepEqual(wrong, []);
    assert.ok(count >= 200, `${count} checks`);
    console.log(`# ${WAYS.length} ways, ${credentials.size} credentials, ${count} checks`);
  });

  it('of reading cannot take rows away, and neither can one of writing', async () => {
    for (const q of [
      'DROP DATABASE a',
      'DROP MEASUREMENT n',
      'DELETE FROM n',
      'DROP SERIES FROM n',
    ]) {
      for (const who of ['db:a:read', 'db:a:write', 'db:a,b:read,write', 'user WRITE']) {
        const { headers = {} } = credentials.get(who) ?? {};
        assert.equal(await legacy(q, 'a')(headers), '403', `${who}: ${q}`);
      }
    }
    const { headers = {} } = credentials.get('db:a,b:read,write') ?? {};
    for (const [method, path, body] of [
      ['DELETE', '/api/v3/configure/database?db=a', undefined],
      ['DELETE', '/api/v3/configure/table?db=a&table=m', undefined],
      [
        'POST',
        '/api/v2/delete?bucket=a',
        '{"start":"1970-01-01T00:00:00Z","stop":"2100-01-01T00:00:00Z"}',
      ],
      ['DELETE', '/api/v3/configure/last_cache?db=a&table=m&name=last', undefined],
    ] as const) {
      assert.equal(await routed(method, path, body)(headers), '403', `${method} ${path}`);
    }
    const kept = await post(
      '/api/v3/query_sql',
      { db: 'a', q: 'SELECT v FROM n', format: 'csv' },
      bearer(admin),
    );
    assert.equal(kept.text, 'v\n2.0\n');
  });

  it('sees the databases that it may read', async () => {
    const all = ['_internal', 'a', 'b', 'c', 'new', 'x'];
    const seen: Readonly<Record<string, readonly string[]>> = {
      admin: all,
      'db:a:read': ['a'],
      'db:a:write': [],
      'db:a,b:read,write': ['a', 'b'],
      'db:*:read': all.slice(1),
      'db:_internal:read': ['_internal'],
      'user READ': ['a'],
      'user without': [],
    };
    for (const [who, names] of Object.entries(seen)) {
      const { headers = {} } = credentials.get(who) ?? {};
      const listed = JSON.parse((await v1('SHOW DATABASES', headers)).text);
      const values = listed.results[0].series?.[0]?.values ?? [];
      assert.deepEqual(values.flat(), names, who);
      const native = await post(
        '/api/v3/query_influxql',
        { q: 'SHOW DATABASES', format: 'json_rows' },
        headers,
      );
      const shown = JSON.parse(native.text).map((row: Headers) => row['iox::database']);
      assert.deepEqual(
        shown.filter((name: string) => !name.includes('/')),
        names,
        who,
      );
      // A policy belongs to its database.
      assert.equal(shown.includes('a/two'), names.includes('a'), who);
    }
    const { headers = {} } = credentials.get('db:_internal:read') ?? {};
    const csv = async (q: string) =>
      (await post('/api/v3/query_sql', { db: '_internal', q, format: 'csv' }, headers)).text;
    assert.equal(
      await csv('SELECT database_name FROM system.databases'),
      'database_name\n_internal\n',
    );
    assert.doesNotMatch(await csv('SELECT database_name FROM system.tables'), /^[abc]/m);
    assert.equal(await csv('SELECT name FROM system.tokens'), 'name\ni\n');
  });

  it('sees its own queries, and can end no others', async () => {
    const { headers = {} } = credentials.get('db:a:read') ?? {};
    const secret = await post(
      '/api/v3/query_sql',
      { db: 'b', q: "SELECT 'secret of b'" },
      bearer(admin),
    );
    assert.equal(secret.status, 200);
    await post('/api/v3/query_sql', { db: 'a', q: "SELECT 'own of a'" }, headers);
    const q = 'SELECT query_text FROM system.queries';
    const own = await post('/api/v3/query_sql', { db: 'a', q, format: 'csv' }, headers);
    assert.match(own.text, /own of a/);
    assert.doesNotMatch(own.text, /secret of b/);
    const all = await post('/api/v3/query_sql', { db: 'a', q, format: 'csv' }, bearer(admin));
    assert.match(all.text, /secret of b/);
    const running = JSON.parse((await v1('SHOW QUERIES', headers)).text).results[0].series[0];
    assert.deepEqual(
      running.values.map((row: readonly unknown[]) => row[1]),
      ['SHOW QUERIES'],
    );
    const killed = await v1('KILL QUERY 1', headers);
    assert.match(killed.text, /no such query id: 1/);
    const operators = await server.http.send('/ops/v1/tsdb/queries', { headers });
    assert.equal(operators.status, 403);
    const listed = await server.http.send('/ops/v1/tsdb/queries', { headers: bearer(admin) });
    const secretQuery = JSON.parse(listed.text).queries.find(
      (query: { readonly text: string }) => query.text === "SELECT 'secret of b'",
    );
    assert.deepEqual([secretQuery.token, secretQuery.db], ['_admin', 'b']);
  });

  it('is told of a later statement in its place, when the first one was permitted', async () => {
    const { headers = {} } = credentials.get('db:a:read') ?? {};
    const { status, text } = await v1('SELECT v FROM a..n; SELECT v FROM b..n', headers);
    assert.equal(status, 200);
    const { results } = JSON.parse(text);
    assert.equal(results[0].series.length, 1);
    assert.deepEqual(results[1], { statement_id: 1, error: NOT_PERMITTED });
  });

  it('reads what others have asked before in the same words only where it may', async () => {
    // Statements are cached by their text.
    const q = 'SELECT v FROM m WHERE time > 0';
    for (let round = 0; round < 4; round++) {
      assert.equal(await legacy(q, 'b')(bearer(admin)), '200');
      assert.equal(await legacy(q, 'b')(credentials.get('db:a:read')?.headers ?? {}), '403');
      assert.equal(await sql('b', q)(bearer(admin)), '200');
      assert.equal(await sql('b', q)(credentials.get('db:a:read')?.headers ?? {}), '403');
    }
  });

  it('of the server opens what it names', async () => {
    const health = await tokenOf('health', 'system:health:read');
    const every = await tokenOf('system', 'system:*:read');
    const status = async (path: string, headers: Headers) =>
      (await server.http.send(path, { headers })).status;
    assert.deepEqual(
      [await status('/health', health), await status('/metrics', health)],
      [200, 403],
    );
    for (const path of ['/health', '/metrics', '/ready', '/ping']) {
      assert.equal(await status(path, every), 200, path);
    }
    assert.equal(await sql('a', 'SELECT 1')(every), '403');
    assert.equal(await writing('/api/v3/write_lp?db=a')(every), '403');
  });

  it('may make a database by writing, where it may write to all or to that one', async () => {
    const one = await tokenOf('one', 'db:own:write');
    assert.equal(await writing('/write?db=own')(one), '204');
    assert.equal(await writing('/write?db=owned')(one), '403');
    const every = await tokenOf('every', 'db:*:write');
    assert.equal(await writing('/write?db=fresh')(every), '204');
    assert.equal(await sql('owned', 'SELECT 1')(bearer(admin)), '404');
    assert.equal(await writing('/api/v3/write_lp?db=_internal')(every), '403');
  });

  it('works on the command line', async () => {
    const run = async (who: string, ...args: string[]) => {
      const { headers } = credentials.get(who) ?? {};
      const token = headers?.['authorization']?.slice('Bearer '.length) ?? '';
      const at = ['--host', server.url, '--token', token];
      return await runCli([...args, ...at], { input: 'w v=9 9' });
    };
    const read = await run('db:a:read', 'query', '-d', 'a', 'SELECT v FROM n', '--format', 'csv');
    assert.equal(read.stdout, 'v\n2.0\n', read.stderr);
    for (const args of [
      ['query', '-d', 'b', 'SELECT v FROM n'],
      ['write', '-d', 'a'],
      ['database', 'create', 'x'],
      ['token', 'list'],
    ]) {
      const refused = await run('db:a:read', ...args);
      assert.notEqual(refused.code, 0, args.join(' '));
      assert.match(refused.stderr, /unauthorized to perform requested action/, args.join(' '));
    }
    assert.equal((await run('db:a:write', 'write', '-d', 'a')).code, 0);
  });

  it('sees over Flight SQL what there is in its database', async () => {
    const { headers = {} } = credentials.get('db:a:read') ?? {};
    const { table } = await flight.execute(
      command('CommandGetTables', 'Tables', { db_schema_filter_pattern: 'iox' }),
      { metadata: { ...headers, database: 'a' } },
    );
    const names = rowsOfTable(table).map((row) => Object(row).table_name);
    assert.ok(names.includes('m') && names.includes('n'), String(names));
  });
});

describe('the command line', () => {
  const run = async (...args: string[]) =>
    await runCli([...args, '--host', server.url, '--token', admin]);

  it('makes, lists and deletes tokens with permissions, in both spellings', async () => {
    const made = await run(
      ...['token', 'create', '--name', 'cli one', '--expiry', '1y'],
      ...['--permission', 'db:a,b:read,write', '--permission', 'system:*:read'],
    );
    assert.equal(made.code, 0, made.stderr);
    const token = bearer(made.stdout.trim());
    assert.equal(await sql('b', 'SELECT v FROM m')(token), '200');
    assert.equal(await sql('c', 'SELECT v FROM m')(token), '403');
    assert.equal((await server.http.send('/metrics', { headers: token })).status, 200);
    const other = await run('create', 'token', '--permission', 'db:c:read', '--name', 'cli two');
    assert.equal(other.code, 0, other.stderr);
    assert.equal(await sql('c', 'SELECT v FROM m')(bearer(other.stdout.trim())), '200');
    const listed = await run('show', 'tokens');
    assert.match(listed.stdout, /cli one .*db:a,b:read,write;system:\*:read/);
    assert.equal((await run('delete', 'token', '--token-name', 'cli two')).code, 0);
    assert.equal((await run('token', 'delete', 'cli one')).code, 0);
    assert.equal(await sql('b', 'SELECT v FROM m')(token), '401');
  });

  it('says what is wrong with a permission', async () => {
    for (const [permission, words] of [
      ['a:read', /use db:NAME,NAME:read,write/],
      ['table:a:read', /unknown resource type 'table'/],
      ['db:a:drop', /unknown action 'drop'/],
    ] as const) {
      const failed = await run('token', 'create', '--name', 'bad', '--permission', permission);
      assert.notEqual(failed.code, 0);
      assert.match(failed.stderr, words);
    }
    const nameless = await run('token', 'create', '--permission', 'db:a:read');
    assert.match(nameless.stderr, /--name/);
  });
});

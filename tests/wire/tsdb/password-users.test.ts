// Source: the 1.x server, "Authentication and authorization": statements, their results and the login methods.
// Own process: failed password attempts must not slow down another test's client.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { assertError, type HttpResponse, ServerInProcess } from '../../harness/index.js';

const UNAUTHENTICATED = 'the request was not authenticated';
const DONE = '{"results":[{"statement_id":0}]}\n';

type Headers = Readonly<Record<string, string>>;

let server: ServerInProcess;
let admin: Headers = {};
const flags = [
  ...['--server-trusted-proxies', 'loopback', '--first-token', 'anyone'],
  ...['--log-filter', 'debug'],
];
before(async () => {
  server = await ServerInProcess.start({ flags });
  const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  admin = { authorization: `Bearer ${JSON.parse(made.text).token}` };
  for (const db of ['mine', 'other']) {
    await server.http.send(`/write?db=${db}`, { headers: admin, body: 'm v=1 1' });
  }
});
after(async () => await server.close());

const basic = (user: string, password: string): Headers => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});
const query = (q: string, headers: Headers = admin, more: Headers = {}): Promise<HttpResponse> =>
  server.http.send('/query', {
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ q, ...more }).toString(),
  });
async function done(q: string, headers: Headers = admin): Promise<void> {
  assert.equal((await query(q, headers)).text, DONE, q);
}
async function failure(q: string): Promise<string> {
  const { status, text } = await query(q);
  assert.equal(status, 200, text);
  return JSON.parse(text).results[0].error;
}
async function table(q: string): Promise<unknown> {
  const [{ series = [] }] = JSON.parse((await query(q)).text).results;
  return [series[0]?.columns, series[0]?.values ?? []];
}
const reads = async (headers: Headers, db = 'mine'): Promise<number> =>
  (await query('SELECT v FROM m', headers, { db })).status;
const writes = async (headers: Headers, db = 'mine'): Promise<number> =>
  (await server.http.send(`/write?db=${db}`, { headers, body: 'm v=2 2' })).status;

describe('statements about users', () => {
  it('make users, give and take privileges, and list them', async () => {
    assert.deepEqual(await table('SHOW USERS'), [['user', 'admin'], []]);
    await done("CREATE USER ann WITH PASSWORD 'a'");
    await done(
      "CREATE USER \"b o b\" WITH PASSWORD 'it''s' WITH ALL PRIVILEGES".replace("''", "\\'"),
    );
    assert.deepEqual(await table('SHOW USERS'), [
      ['user', 'admin'],
      [
        ['ann', false],
        ['b o b', true],
      ],
    ]);
    assert.deepEqual(await table('SHOW GRANTS FOR ann'), [['database', 'privilege'], []]);
    await done('GRANT READ ON mine TO ann');
    await done('GRANT ALL ON other TO ann');
    assert.deepEqual(await table('SHOW GRANTS FOR ann'), [
      ['database', 'privilege'],
      [
        ['mine', 'READ'],
        ['other', 'ALL PRIVILEGES'],
      ],
    ]);
    await done('GRANT WRITE ON mine TO ann');
    await done('REVOKE READ ON other FROM ann');
    assert.deepEqual(await table('SHOW GRANTS FOR ann'), [
      ['database', 'privilege'],
      [
        ['mine', 'WRITE'],
        ['other', 'WRITE'],
      ],
    ]);
    await done('REVOKE ALL PRIVILEGES ON mine FROM ann');
    await done('REVOKE WRITE ON other FROM ann');
    assert.deepEqual(await table('SHOW GRANTS FOR ann'), [['database', 'privilege'], []]);
    await done('GRANT ALL TO ann');
    await done('REVOKE ALL PRIVILEGES FROM "b o b"');
    assert.deepEqual(await table('SHOW USERS'), [
      ['user', 'admin'],
      [
        ['ann', true],
        ['b o b', false],
      ],
    ]);
    assert.equal(await reads(basic('b o b', "it's")), 403);
    await done('DROP USER ann');
    await done('DROP USER "b o b"');
    assert.deepEqual(await table('SHOW USERS'), [['user', 'admin'], []]);
  });

  it('say what is wrong in the words of version 1, and change nothing', async () => {
    await done("CREATE USER carl WITH PASSWORD 'c'");
    // Repeats the current state.
    await done("CREATE USER carl WITH PASSWORD 'c'");
    for (const [q, words] of [
      ["CREATE USER carl WITH PASSWORD 'd'", 'user already exists'],
      ["CREATE USER carl WITH PASSWORD 'c' WITH ALL PRIVILEGES", 'user already exists'],
      ['DROP USER nobody', 'user not found'],
      ["SET PASSWORD FOR nobody = 'x'", 'user not found'],
      ['GRANT READ ON mine TO nobody', 'user not found'],
      ['REVOKE READ ON mine FROM nobody', 'user not found'],
      ['GRANT ALL TO nobody', 'user not found'],
      ['SHOW GRANTS FOR nobody', 'user not found'],
      [
        'GRANT READ ON none TO carl',
        'Cannot retrieve database: External error: database not found: none',
      ],
      ["CREATE USER dan WITH PASSWORD ''", 'invalid password; use 1 to 1024 characters'],
    ] as const) {
      assert.equal(await failure(q), words, q);
    }
    for (const q of [
      'CREATE USER dan',
      'CREATE USER dan WITH PASSWORD p',
      "CREATE USER dan WITH PASSWORD 'p' WITH READ",
      'GRANT READ TO carl',
      'GRANT DROP ON mine TO carl',
      "SET PASSWORD carl = 'x'",
      'SHOW GRANTS',
    ]) {
      assert.match(await failure(q), /^error in InfluxQL statement: /, q);
    }
    assert.deepEqual(await table('SHOW USERS'), [['user', 'admin'], [['carl', false]]]);
    assert.equal((await query('SHOW DATABASES', basic('carl', 'c'))).status, 200);
    await done('DROP USER carl');
  });

  it('stay away from native endpoints and from requests that only read', async () => {
    const response = await server.http.send('/api/v3/query_influxql', {
      headers: { ...admin, 'content-type': 'application/json' },
      body: JSON.stringify({ q: "CREATE USER x WITH PASSWORD 'x'" }),
    });
    assert.equal(response.status, 400);
  });
});

describe('a user with a password', () => {
  before(async () => {
    await done("CREATE USER eve WITH PASSWORD 'e:1 %'");
    await done('GRANT ALL ON mine TO eve');
  });

  it('logs in by each way that clients of version 1 have', async () => {
    const login = new URLSearchParams({ u: 'eve', p: 'e:1 %' });
    const statuses = async (target: string, headers: Headers = {}) =>
      (await server.http.send(target, { headers })).status;
    assert.equal(await reads(basic('eve', 'e:1 %')), 200);
    assert.equal(await statuses(`/query?db=mine&q=SHOW+MEASUREMENTS&${login}`), 200);
    const body = 'm v=3 3';
    assert.equal((await server.http.send(`/write?db=mine&${login}`, { body })).status, 204);
    assert.equal(await statuses(`/query?db=mine&q=SHOW+MEASUREMENTS&u=eve&p=no`), 401);
    assert.equal(await statuses(`/query?db=mine&q=SHOW+MEASUREMENTS&u=eve`), 401);
    assert.equal(await statuses(`/query?db=mine&q=SHOW+MEASUREMENTS&u=mallory&p=e:1`), 401);
    assert.equal(await statuses(`/api/v3/query_sql?db=mine&q=SELECT+1&${login}`), 401);
    // Version 2 clients that use a 1.x server.
    const second = { authorization: 'Token eve:e:1 %' };
    assert.equal(
      (await server.http.send('/api/v2/write?bucket=mine', { headers: second, body })).status,
      400,
    );
    await done("CREATE USER fay WITH PASSWORD 'f:1'");
    await done('GRANT WRITE ON mine TO fay');
    const plain = { authorization: 'Token fay:f:1' };
    assert.equal(
      (await server.http.send('/api/v2/write?bucket=mine/autogen', { headers: plain, body }))
        .status,
      204,
    );
    await done('DROP USER fay');
  });

  it('asks as Grafana does', async () => {
    const headers = basic('eve', 'e:1 %');
    for (const q of [
      'SHOW RETENTION POLICIES on "mine"',
      'SHOW MEASUREMENTS LIMIT 100',
      'SHOW DATABASES',
    ]) {
      const url = `/query?${new URLSearchParams({ db: 'mine', q, epoch: 'ms' })}`;
      const { status, text } = await server.http.send(url, { headers });
      assert.equal(status, 200, text);
      assert.ok(JSON.parse(text).results[0].series[0].values.length > 0, q);
    }
    const q =
      'SELECT mean("v") FROM "m" WHERE time >= 0ms and time <= 10ms GROUP BY time(1ms) fill(null)';
    const { status, text } = await query(q, headers, { db: 'mine', epoch: 'ms' });
    assert.equal(status, 200);
    assert.equal(JSON.parse(text).results[0].series[0].name, 'm');
    assert.equal((await query(q, headers, { db: 'other', epoch: 'ms' })).status, 403);
    assert.equal((await server.http.send('/ping', { headers })).status, 200);
  });

  it('has what is granted from the next request on, and loses it so', async () => {
    const headers = basic('eve', 'e:1 %');
    assert.deepEqual([await reads(headers), await writes(headers)], [200, 204]);
    await done('REVOKE WRITE ON mine FROM eve');
    assert.deepEqual([await reads(headers), await writes(headers)], [200, 403]);
    await done("SET PASSWORD FOR eve = 'new'");
    assert.deepEqual([await reads(headers), await reads(basic('eve', 'new'))], [401, 200]);
    await done('DROP USER eve');
    assert.equal(await reads(basic('eve', 'new')), 401);
    await done("CREATE USER eve WITH PASSWORD 'new'");
    assert.equal(await reads(basic('eve', 'new')), 403);
    await done('DROP USER eve');
  });

  it('with all privileges does what statements can do, and nothing that is the operator’s', async () => {
    await done("CREATE USER root WITH PASSWORD 'r' WITH ALL PRIVILEGES");
    const root = basic('root', 'r');
    await done('CREATE DATABASE made', root);
    await done("CREATE USER sub WITH PASSWORD 's'", root);
    await done('GRANT READ ON made TO sub', root);
    await done('DROP USER sub', root);
    await done('DROP DATABASE made', root);
    assert.deepEqual([await reads(root, 'other'), await writes(root, 'other')], [200, 204]);
    assert.equal((await query('SHOW STATS', root)).status, 200);
    assert.equal((await server.http.send('/metrics', { headers: root })).status, 200);
    for (const [method, path] of [
      ['POST', '/api/v3/configure/token/named_admin'],
      ['POST', '/api/v3/enterprise/configure/token'],
      ['POST', '/api/v3/configure/database'],
      ['POST', '/api/v3/plugin_test/wal'],
      ['PUT', '/api/v3/plugins/files'],
      ['GET', '/api/v3/engine/x'],
      ['GET', '/ops/v1/settings'],
      ['GET', '/ops/v1/logs'],
    ] as const) {
      const { status } = await server.http.send(path, { method, headers: root });
      assert.equal(status, 403, `${method} ${path}`);
    }
    await done('DROP USER root');
  });

  it('has a password that is stored, shown and logged nowhere', async () => {
    const secrets = Array.from({ length: 8 }, (_, index) => `swordfish-${index + 1}`);
    await done(`CREATE USER gus WITH PASSWORD '${secrets[0]}'`);
    const q = `SET PASSWORD FOR gus = '${secrets[1]}'`;
    await server.http.send(`/query?${new URLSearchParams({ q })}`, { headers: admin });
    await server.http.send(`/query?q=SHOW+DATABASES&u=gus&p=${secrets[2]}`);
    assert.equal((await query('SHOW DATABASES', basic('gus', secrets[1] ?? ''))).status, 200);
    const sql = async (text: string) =>
      await server.http.send('/api/v3/query_sql', {
        headers: { ...admin, 'content-type': 'application/json' },
        body: JSON.stringify({ db: 'mine', q: text, format: 'csv' }),
      });
    // Sent to the wrong endpoint.
    assert.equal((await sql(`CREATE USER flo WITH PASSWORD '${secrets[3]}'`)).status, 400);
    assert.equal((await sql(`SET PASSWORD FOR flo = "${secrets[4]}"`)).status, 400);
    // Statements with mistakes.
    const wrong = [
      `CREATE USER flo WITH PASSWRD '${secrets[5]}'`,
      `CREATE USER flo WITH PASSWORD ${secrets[6]}`,
      `SET PASSWORD FOR flo TO ${secrets[7]}`,
    ];
    for (const text of wrong) {
      assert.match((await query(text, admin)).text, /"error"/);
      assert.equal((await sql(text)).status, 400);
    }
    const listed = await server.http.send('/ops/v1/tsdb/queries?limit=100', { headers: admin });
    assert.equal(listed.status, 200);
    const shown = await sql('SELECT query_text FROM system.queries');
    assert.match(shown.text, /CREATE USER gus WITH PASSWORD \[REDACTED\]/);
    // SQL has no statements about users: a statement sent there is masked from its first keyword on.
    assert.match(shown.text, /^\[REDACTED\]$/m);
    assert.ok(!shown.text.includes('flo'), shown.text);
    const files = await readdir(server.dataDir, { recursive: true, withFileTypes: true });
    const stored = await Promise.all(
      files
        .filter((file) => file.isFile())
        .map(async (file) => await readFile(join(file.parentPath, file.name), 'latin1')),
    );
    assert.match(server.logText, /"url":"\/query/);
    for (const secret of secrets) {
      assert.ok(!shown.text.includes(secret), 'system.queries');
      assert.ok(!listed.text.includes(secret), '/ops/v1/tsdb/queries');
      assert.ok(!server.logText.includes(secret), 'log');
      assert.ok(!stored.some((text) => text.includes(secret)), 'files');
    }
    await done('DROP USER gus');
  });

  it('who is created again under a name sees no queries of the one before', async () => {
    const asEve = basic('eve', 'e');
    const queries = async (headers: Headers): Promise<string> => {
      const body = { db: 'mine', q: 'SELECT query_text FROM system.queries', format: 'csv' };
      const response = await server.http.send('/api/v3/query_sql', {
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return response.text;
    };
    const create = async (): Promise<void> => {
      await done("CREATE USER eve WITH PASSWORD 'e'");
      await done('GRANT READ ON mine TO eve');
    };
    await create();
    await query("SELECT v FROM m WHERE h = 'of the first eve'", asEve, { db: 'mine' });
    assert.match(await queries(asEve), /of the first eve/);
    // A user with a new password or grant remains the same user.
    await done("SET PASSWORD FOR eve = 'e'");
    assert.match(await queries(asEve), /of the first eve/);
    await done('DROP USER eve');
    await create();
    assert.doesNotMatch(await queries(asEve), /of the first eve/);
    assert.match(await queries(admin), /of the first eve/);
    await done('DROP USER eve');
  });

  it('is there after a restart', async () => {
    await done("CREATE USER hal WITH PASSWORD 'h'");
    await done('GRANT READ ON mine TO hal');
    const { dataDir } = server;
    const again = async () => await ServerInProcess.start({ flags, dataDir });
    assert.equal(await server.stop(), 0);
    const next = await again();
    try {
      const { status } = await next.http.send('/query?db=mine&q=SELECT+v+FROM+m', {
        headers: basic('hal', 'h'),
      });
      assert.equal(status, 200);
    } finally {
      await next.stop();
      server = await again();
    }
    await done('DROP USER hal');
  });
});

describe('who guesses passwords', () => {
  before(async () => {
    await done("CREATE USER ida WITH PASSWORD 'i'");
    await done('GRANT READ ON mine TO ida');
  });

  it('is told that it is enough, by address, in whichever way they log in', async () => {
    const from = { 'x-forwarded-for': '10.9.9.9' };
    const guess = (n: number): Promise<HttpResponse> =>
      n % 2 === 0
        ? query('SHOW DATABASES', { ...basic('ida', `guess${n}`), ...from })
        : server.http.send(`/query?q=SHOW+DATABASES&u=ida&p=guess${n}`, { headers: from });
    for (let n = 0; n < 20; n++) assertError(await guess(n), 401, UNAUTHENTICATED);
    for (const login of [20, 21]) {
      const { status, text, headers } = await guess(login);
      assert.equal(status, 429);
      assert.match(JSON.parse(text).error, /^too many wrong passwords .* try again in \d+ s$/);
      assert.ok(Number(headers['retry-after']) > 500);
    }
    // From that address, even a correct password is refused unchecked.
    assert.equal(await reads({ ...basic('ida', 'i'), ...from }), 429);
    assert.equal(await reads(basic('ida', 'i')), 200);
    // The password is now cached, and the address may be shared.
    assert.equal(await reads({ ...basic('ida', 'i'), ...from }), 200);
    assert.equal(await reads({ ...admin, ...from }), 200);
  });

  it('keeps nobody else out', async () => {
    assert.equal(await reads(basic('ida', 'i')), 200);
    const guesses = Array.from({ length: 60 }, async (_, guess) => {
      const headers = { ...basic('ida', `wrong${guess}`), 'x-forwarded-for': '10.8.8.8' };
      const { status, headers: told } = await query('SHOW DATABASES', headers);
      if (status === 503) assert.ok(Number(told['retry-after']) >= 1);
      return status;
    });
    const startMs = Date.now();
    // A cached password, and an uncached one from another address.
    assert.equal(await reads(basic('ida', 'i')), 200);
    await done("CREATE USER jon WITH PASSWORD 'j'");
    assert.equal(
      (await query('SHOW DATABASES', { ...basic('jon', 'j'), 'x-forwarded-for': '10.7.7.7' }))
        .status,
      200,
    );
    assert.ok(Date.now() - startMs < 30_000);
    const statuses = await Promise.all(guesses);
    assert.ok(
      statuses.every((status) => [401, 429, 503].includes(status)),
      String(statuses),
    );
  });
});

// Source: query-languages, "Continuous queries".
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { runCli } from '../../harness/cli.js';
import { type HttpResponse, ServerInProcess } from '../../harness/index.js';

type Headers = Readonly<Record<string, string>>;

let server: ServerInProcess;
let dataDir = '';
let admin: Headers = {};
let reader: Headers = {};

const bearer = (text: string): Headers => {
  const { token } = JSON.parse(text) as { token: string };
  return { authorization: `Bearer ${token}` };
};

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'plinth-continuous-'));
  server = await ServerInProcess.start({ flags: [], dataDir });
  const path = '/api/v3/configure/token/admin';
  admin = bearer((await server.http.send(path, { method: 'POST' })).text);
  const permissions = [
    { resource_type: 'db', resource_identifier: ['cq'], actions: ['read', 'write'] },
  ];
  const created = await server.http.send('/api/v3/enterprise/configure/token', {
    headers: { ...admin, 'content-type': 'application/json' },
    body: JSON.stringify({ token_name: 'reader', permissions }),
  });
  reader = bearer(created.text);
  await query('CREATE DATABASE cq');
});
after(async () => {
  await server.close();
  await rm(dataDir, { recursive: true, force: true });
});

const send = (q: string, headers = admin): Promise<HttpResponse> =>
  server.http.send('/query', {
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ db: 'cq', epoch: 'ms', q }).toString(),
  });

interface Result {
  readonly error?: string;
  readonly series?: readonly { readonly name: string; readonly values?: readonly unknown[][] }[];
}

async function query(q: string): Promise<Result> {
  const response = await send(q);
  assert.equal(response.status, 200, response.text);
  return (JSON.parse(response.text) as { results: [Result] }).results[0];
}

const rows = async (q: string): Promise<readonly unknown[][]> =>
  (await query(q)).series?.flatMap(({ values }) => values ?? []) ?? [];

const CREATE =
  'CREATE CONTINUOUS QUERY counts ON cq RESAMPLE FOR 2s BEGIN SELECT count(v) INTO counts FROM points GROUP BY time(1s), host fill(none) END';

describe('Continuous queries', () => {
  it('are created, listed and dropped only by administrators', async () => {
    for (const q of [CREATE, 'DROP CONTINUOUS QUERY counts ON cq']) {
      const refused = await send(q, reader);
      assert.equal(refused.status, 403, refused.text);
    }
    assert.deepEqual(await query(CREATE), { statement_id: 0 });
    const [series] = (await query('SHOW CONTINUOUS QUERIES')).series?.slice(-1) ?? [];
    assert.deepEqual(series, {
      name: 'cq',
      columns: ['name', 'query'],
      values: [
        [
          'counts',
          'CREATE CONTINUOUS QUERY counts ON cq RESAMPLE FOR 2s BEGIN SELECT count(v) INTO cq.autogen.counts FROM cq.autogen.points GROUP BY time(1s), host fill(none) END',
        ],
      ],
    });
    const other = CREATE.replace('count(v)', 'sum(v)');
    assert.equal((await query(other)).error, 'continuous query already exists');
    const invalid = 'CREATE CONTINUOUS QUERY c ON cq BEGIN SELECT count(v) INTO x FROM points END';
    assert.equal(
      (await query(invalid)).error,
      'error parsing query: found points, expected GROUP BY time(...) at line 1, char 67',
    );
  });

  it('write the result of each interval, also after a restart', async () => {
    await writePoints();
    await untilComputed();
    await server.stop();
    server = await ServerInProcess.start({ flags: [], dataDir });
    await writePoints();
    await untilComputed();
    await query('DROP CONTINUOUS QUERY counts ON cq');
    assert.deepEqual(await rows('SHOW CONTINUOUS QUERIES'), []);
  });
});

describe('Rollups', () => {
  const PATH = '/api/v3/configure/rollup';
  const manage = async (method: 'POST' | 'DELETE', body: object, headers = admin) =>
    await server.http.send(PATH, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ db: 'cq', rollup_name: 'r', ...body }),
    });
  const QUERY = 'SELECT time, host, v FROM points WHERE time >= $from AND time < $to';
  const valid = { query: QUERY, table: 'copies', every: '1s', for: '1m' };

  it('require an admin token, and valid durations and names', async () => {
    assert.equal((await manage('POST', valid, reader)).status, 403);
    assert.equal((await manage('DELETE', {}, reader)).status, 403);
    const refused = async (status: number, more: object, message: RegExp) => {
      const response = await manage('POST', { ...valid, ...more });
      assert.equal(response.status, status, response.text);
      assert.match(response.text, message);
    };
    await refused(400, { every: '0s' }, /every .* is out of range; use 1s to 3660d/);
    await refused(400, { every: 'often' }, /not a valid duration/);
    await refused(400, { every: '1h' }, /'for' must be at least as long as 'every' \(1h\)/);
    await refused(400, { table: 'a\u0000b' }, /table must have 1 to 255 characters/);
    await refused(400, { query: 'SELECT 1 AS v' }, /the query must select its time range/);
    await refused(404, { db: 'absent' }, /absent/);
    assert.equal((await manage('DELETE', {})).status, 404);
  });

  it('run, and are created, listed and deleted by the command', async () => {
    await writePoints();
    const token = String(admin['authorization']).slice('Bearer '.length);
    const cli = async (...args: string[]): Promise<string> => {
      const run = await runCli(['rollup', ...args, '--host', server.url, '-d', 'cq'], {
        env: { PLINTH_AUTH_TOKEN: token },
      });
      assert.equal(run.code, 0, run.stderr);
      return run.stdout;
    };
    const options = ['--every', '1s', '--for', '1m', '--into', 'copies', '--as', QUERY];
    assert.equal(await cli('create', 'r', ...options), 'rollup r created\n');
    assert.equal((await manage('POST', valid)).status, 200);
    assert.equal((await manage('POST', { ...valid, every: '2s' })).status, 409);
    const all = 'WHERE time > now() - 30s GROUP BY host';
    const expected = await rows(`SELECT v FROM points ${all}`);
    let actual: readonly unknown[][] = [];
    for (let i = 0; i < 100 && actual.length < expected.length; i++) {
      await sleep(100);
      actual = await rows(`SELECT v FROM copies ${all}`);
    }
    assert.deepEqual(actual.slice(-expected.length), expected);
    assert.match(await cli('list', '--format', 'csv'), /^r,sql,copies,1s,1m,/m);
    assert.equal(await cli('delete', 'r'), 'rollup r deleted\n');
    const audit = new URLSearchParams({
      ...{ db: '_internal', format: 'json_rows' },
      q: "SELECT target, result FROM system.audit WHERE action = 'DELETE /api/v3/configure/rollup' ORDER BY time DESC LIMIT 1",
    });
    const noted = await server.http.send(`/api/v3/query_sql?${audit}`, { headers: admin });
    assert.deepEqual(JSON.parse(noted.text), [{ target: 'db=cq rollup_name=r', result: '200' }]);
  });
});

async function writePoints(): Promise<void> {
  for (let i = 0; i < 20; i++) {
    const body = ['a', 'b'].map((host) => `points,host=${host} v=${i}`).join('\n');
    const response = await server.http.send('/write?db=cq', { headers: admin, body });
    assert.equal(response.status, 204, response.text);
    await sleep(50);
  }
}

/** Waits until the results are those of the same query over all points so far. */
async function untilComputed(): Promise<void> {
  const endSec = Math.ceil(Date.now() / 1000);
  const counts = `SELECT count(v) FROM points WHERE time < ${endSec}s GROUP BY time(1s), host fill(none)`;
  const expected = await rows(counts);
  assert.ok(expected.length >= 2);
  let actual: readonly unknown[][] = [];
  for (let i = 0; i < 100; i++) {
    actual = await rows(`SELECT "count" FROM counts WHERE time < ${endSec}s GROUP BY host`);
    if (isDeepStrictEqual(actual, expected)) return;
    await sleep(100);
  }
  assert.deepEqual(actual, expected);
}

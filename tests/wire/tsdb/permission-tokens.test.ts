// Source: InfluxDB 3 Enterprise, "Manage resource tokens" and "influxdb3 create token --permission"; tsdb-http, "Tokens".
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  assertError,
  type HttpResponse,
  type OwnServer,
  ServerInProcess,
  temporaryFolder,
} from '../../harness/index.js';

const PATH = '/api/v3/enterprise/configure/token';
const UNAUTHENTICATED = 'the request was not authenticated';
const NOT_PERMITTED = 'unauthorized to perform requested action with the token';

let server: OwnServer;
let admin = '';
const dataDir = await temporaryFolder();
before(async () => {
  server = await ServerInProcess.start({ flags: [], dataDir });
  const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  admin = JSON.parse(made.text).token;
});
after(() => server.close());

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const post = (path: string, body: unknown, token = admin): Promise<HttpResponse> =>
  server.http.send(path, {
    headers: { ...bearer(token), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const ofDatabase = (name: string, actions: readonly string[] = ['read']) => ({
  resource_type: 'db',
  resource_identifier: [name],
  actions,
});
const create = (token_name: string, permissions: unknown, more: object = {}) =>
  post(PATH, { token_name, permissions, ...more });
async function made(name: string, permissions: unknown, more: object = {}): Promise<string> {
  const response = await create(name, permissions, more);
  assert.equal(response.status, 201, response.text);
  return JSON.parse(response.text).token;
}
const write = (db: string, token: string) =>
  server.http.send(`/api/v3/write_lp?db=${db}`, { headers: bearer(token), body: 'm v=1 1' });
const ask = (db: string, token: string) =>
  post('/api/v3/query_sql', { db, q: 'SELECT v FROM m' }, token);

describe('a token with permissions', () => {
  it('is made with a name, permissions and an end', async () => {
    const startMs = Date.now();
    const response = await create('one', [ofDatabase('a', ['write', 'read'])], {
      expiry_secs: 100,
    });
    assert.equal(response.status, 201, response.text);
    assert.equal(response.headers['content-type'], 'application/json');
    const token = JSON.parse(response.text);
    assert.deepEqual(Object.keys(token), ['id', 'name', 'token', 'hash', 'created_at', 'expiry']);
    assert.match(token.token, /^apiv3_[\w-]{86}$/);
    assert.equal(token.name, 'one');
    const endsMs = Date.parse(token.expiry) - 100_000;
    assert.ok(endsMs >= startMs && endsMs <= Date.now());
  });

  it('may be asked for in the words of the command line', async () => {
    const token = await made('cli words', [
      { resource_type: 'db', resource_names: ['b', 'c'], actions: ['write'] },
    ]);
    assert.equal((await write('b', token)).status, 204);
    assert.equal((await write('c', token)).status, 204);
    assertError(await write('d', token), 403, NOT_PERMITTED);
  });

  it('is listed with its permissions, and admin tokens with all', async () => {
    await made('listed', [
      { resource_type: 'db', resource_identifier: ['x', 'y'], actions: ['*'] },
      { resource_type: 'system', resource_identifier: ['health'], actions: ['read'] },
    ]);
    const { text } = await post('/api/v3/query_sql', {
      db: '_internal',
      q: "SELECT name, permissions FROM system.tokens WHERE name IN ('listed', '_admin') ORDER BY name",
      format: 'csv',
    });
    assert.equal(
      text,
      'name,permissions\n_admin,*:*:*\nlisted,"db:x,y:read,write;system:health:read"\n',
    );
  });

  it('has a name of its own, whatever the kind of the other', async () => {
    await made('taken', [ofDatabase('a')]);
    const words = 'token name already exists, taken';
    assertError(await create('taken', [ofDatabase('b')]), 409, words);
    const named = { token_name: 'taken' };
    assertError(await post('/api/v3/configure/token/named_admin', named), 409, words);
  });

  it('expires at once when it is deleted', async () => {
    const deleted = await made('deleted', [ofDatabase('e', ['read', 'write'])]);
    assert.equal((await write('e', deleted)).status, 204);
    const response = await server.http.send('/api/v3/configure/token?token_name=deleted', {
      method: 'DELETE',
      headers: bearer(admin),
    });
    assert.equal(response.status, 200);
    assertError(await write('e', deleted), 401, UNAUTHENTICATED);
    assertError(await ask('e', deleted), 401, UNAUTHENTICATED);
  });

  it('is refused when a permission means nothing, and nothing is made', async () => {
    for (const [permissions, words] of [
      [
        [{ ...ofDatabase('a'), resource_type: 'table' }],
        "unknown resource type 'table', expected db or system",
      ],
      [[ofDatabase('a', ['admin'])], "unknown action 'admin', expected read, write or *"],
      [[ofDatabase('a/rp')], "'a/rp' names a retention policy; grant the database instead"],
      [[ofDatabase('no such')], "'no such' is not a valid database name"],
      [
        [{ resource_type: 'system', resource_identifier: ['*'], actions: ['write'] }],
        "resources of the type 'system' allow only the action 'read'",
      ],
      [
        [{ resource_type: 'system', resource_identifier: ['disk'], actions: ['read'] }],
        "unknown system resource 'disk', expected health, ping, metrics, ready, pprof, backup or *",
      ],
      [
        [{ resource_type: 'db', actions: ['read'] }],
        'a permission must name at least one resource, or *',
      ],
      [
        [{ ...ofDatabase('a'), resource_names: ['b'] }],
        "conflicting values for 'resource_identifier' and 'resource_identifier'",
      ],
    ] as const) {
      assertError(await create('bad', permissions), 400, words);
    }
    for (const body of [
      { token_name: 'bad' },
      { token_name: 'bad', permissions: [] },
      { token_name: 'bad', permissions: 'db:a:read' },
      { token_name: 'bad', permissions: [ofDatabase('a', [])] },
      { token_name: 'bad', permissions: [{ ...ofDatabase('a'), unknown: 1 }] },
      { token_name: 'bad', permissions: [ofDatabase('a')], unknown: 1 },
      { token_name: '', permissions: [ofDatabase('a')] },
      { token_name: 'bad', permissions: [ofDatabase('a')], expiry_secs: -1 },
      { permissions: [ofDatabase('a')] },
    ]) {
      const { status, text } = await post(PATH, body);
      assert.equal(status, 400, JSON.stringify(body));
      assert.match(JSON.parse(text).error, /^serde json error: /);
    }
    const { text } = await post('/api/v3/query_sql', {
      db: '_internal',
      q: "SELECT count(*) FROM system.tokens WHERE name = 'bad' OR name = ''",
      format: 'csv',
    });
    assert.match(text, /\n0\n$/);
  });

  it('makes no tokens, whatever it may do', async () => {
    const token = await made('all', [ofDatabase('*', ['read', 'write'])]);
    for (const path of [PATH, '/api/v3/configure/token/named_admin']) {
      const body = { token_name: 'more', permissions: [ofDatabase('a')] };
      assertError(await post(path, body, token), 403, NOT_PERMITTED);
    }
    const regenerate = '/api/v3/configure/token/admin/regenerate';
    assertError(await post(regenerate, {}, token), 403, NOT_PERMITTED);
    const gone = await server.http.send('/api/v3/configure/token?token_name=all', {
      method: 'DELETE',
      headers: bearer(token),
    });
    assertError(gone, 403, NOT_PERMITTED);
  });

  it('is what it was after a restart', async () => {
    const token = await made('kept', [ofDatabase('k', ['write'])]);
    assert.equal(await server.stop(), 0);
    // A server of an older version treats every token as an admin token: it must not find the hash of this one.
    const hash = createHash('sha512').update(token).digest('hex');
    const stored = await readFile(join(dataDir, 'plinth.db'), 'latin1');
    assert.ok(stored.includes(`granted:${hash}`));
    assert.ok(!stored.replaceAll(`granted:${hash}`, '').includes(hash));
    server = await ServerInProcess.start({ flags: [], dataDir });
    assert.equal((await write('k', token)).status, 204);
    assertError(await write('other', token), 403, NOT_PERMITTED);
    assertError(await post('/api/v3/configure/database', { db: 'x' }, token), 403, NOT_PERMITTED);
  });

  it('cannot be made where no token is asked for', async () => {
    await using open = await ServerInProcess.start();
    const response = await open.http.send(PATH, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token_name: 'x', permissions: [ofDatabase('a')] }),
    });
    assertError(response, 405, 'endpoint disabled, started without auth');
  });
});

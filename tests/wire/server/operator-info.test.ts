// Source: docs/CONSOLE-INTERNALS.md, "API for the console".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ServerInProcess } from '../../harness/index.js';

let server: ServerInProcess;
let token = '';
before(async () => {
  server = await ServerInProcess.start({ flags: ['--services', 'tsdb,gamedata'] });
});
after(() => server.close());

const headers = () => ({ authorization: `Bearer ${token}` });
const jsonOf = ({ text }: { readonly text: string }) =>
  JSON.parse(text) as Readonly<Record<string, unknown>>;
const infoOf = async (withToken = false) =>
  jsonOf(await server.http.send('/ops/v1/info', withToken ? { headers: headers() } : {}));

describe('server information', () => {
  it('reports that the first token can be created, until it exists', async () => {
    const { build, ...before } = await infoOf();
    assert.match(String(build), /^[0-9a-f]{16}$/);
    assert.deepEqual(before, {
      product: 'plinth',
      version: '0.1.0',
      setup_needed: true,
      first_token: 'open',
      auth: true,
      services: ['tsdb', 'gamedata'],
    });
    const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    token = String(jsonOf(made)['token']);
    assert.equal((await infoOf())['setup_needed'], false);
  });

  it('contains more with a valid token, but not with a wrong one', async () => {
    const more = await infoOf(true);
    assert.equal(more['node_id'], 'node0');
    assert.equal(more['relational_store'], 'sqlite');
    assert.equal(typeof more['cores'], 'number');
    assert.ok(Date.parse(String(more['started'])) <= Date.parse(String(more['now'])));
    const wrong = { authorization: 'Bearer apiv3_wrong' };
    const stranger = jsonOf(await server.http.send('/ops/v1/info', { headers: wrong }));
    assert.equal('node_id' in stranger, false);
  });

  it('reports that no token is required without authentication', async () => {
    await using open = await ServerInProcess.start({
      flags: ['--without-auth', '--services', 'gamedata'],
    });
    const info = jsonOf(await open.http.send('/ops/v1/info'));
    assert.deepEqual([info['auth'], info['setup_needed']], [false, false]);
    const session = jsonOf(await open.http.send('/ops/v1/session'));
    assert.deepEqual(session, {
      kind: 'open',
      token_id: null,
      name: null,
      scopes: ['admin'],
      expiry: null,
    });
  });
});

describe('a session', () => {
  it('belongs to the token', async () => {
    const response = await server.http.send('/ops/v1/session', { headers: headers() });
    assert.deepEqual(jsonOf(response), {
      kind: 'admin',
      token_id: 0,
      name: '_admin',
      scopes: ['admin'],
      expiry: null,
    });
    assert.equal(response.text.includes(token), false);
    const none = await server.http.send('/ops/v1/session');
    assert.equal(none.status, 401);
    assert.equal(jsonOf(none)['message'], 'Requires authentication');
  });
});

describe('a download', () => {
  const ask = async (body: object) =>
    await server.http.send('/ops/v1/downloads', {
      headers: headers(),
      body: JSON.stringify(body),
    });
  const query = { db: 'd', q: 'SELECT v FROM m', format: 'csv' };
  const wanted = {
    method: 'POST',
    path: '/api/v3/query_sql',
    body: query,
    filename: 'Größe "1".csv',
  };

  it('works once, without a token, as a file with the requested name', async () => {
    await server.http.send('/api/v3/write_lp?db=d', { headers: headers(), body: 'm v=1.5 1' });
    const made = await ask(wanted);
    assert.equal(made.status, 201);
    const url = String(jsonOf(made)['url']);
    assert.match(url, /^\/ops\/v1\/downloads\/[\w-]{43}$/);
    const file = await server.http.send(url);
    assert.equal(file.status, 200);
    assert.equal(file.text, 'v\n1.5\n');
    assert.equal(
      file.headers['content-disposition'],
      `attachment; filename="Gr__e__1_.csv"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%221%22.csv`,
    );
    assert.equal(file.headers['cache-control'], 'no-store');
    assert.equal(file.headers['access-control-allow-origin'], undefined);
    assert.equal((await server.http.send(url)).status, 404);
  });

  it('returns errors with their status', async () => {
    const made = await ask({ ...wanted, body: { ...query, db: 'nowhere' } });
    const response = await server.http.send(String(jsonOf(made)['url']));
    assert.equal(response.status, 404);
    assert.match(response.text, /database not found: nowhere/);
  });

  it('changes nothing, and requires a token for creation', async () => {
    assert.equal((await ask({ ...wanted, path: '/api/v3/write_lp?db=d' })).status, 422);
    assert.equal((await ask({ ...wanted, method: 'DELETE' })).status, 422);
    for (const path of ['/query?q=DROP+DATABASE+d', '/api/editor/items', '/ops/v1/apps']) {
      assert.equal((await ask({ method: 'GET', path, filename: 'x' })).status, 422, path);
    }
    const drop = '/api/v3/query_influxql?db=d&q=DROP+DATABASE+d';
    const made = await ask({ method: 'GET', path: drop, filename: 'x' });
    const response = await server.http.send(String(jsonOf(made)['url']));
    assert.ok(response.status >= 400, response.text);
    const still = await server.http.send('/api/v3/query_sql?db=d&q=SELECT+1', {
      headers: headers(),
    });
    assert.equal(still.status, 200);
    const body = JSON.stringify(wanted);
    assert.equal((await server.http.send('/ops/v1/downloads', { body })).status, 401);
  });

  it('counts against the limits of its token, and the body limit', async () => {
    await using limited = await ServerInProcess.start({
      flags: [
        ...['--services', 'tsdb,ratelimit', '--tsdb-max-request-size-bytes', '1024'],
        ...['--rate-limit-services', '{"tsdb":{"enabled":true}}'],
        ...['--rate-limit-resources', '{"tsdb_query":{"limit":2,"window":3600}}'],
      ],
    });
    const first = await limited.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    const authorization = `Bearer ${jsonOf(first)['token']}`;
    const file = async (q: string) => {
      const body = { ...query, db: '_internal', q };
      const made = await limited.http.send('/ops/v1/downloads', {
        headers: { authorization },
        body: JSON.stringify({ ...wanted, body }),
      });
      // Headers of the link request do not affect caller or request.
      const own = { authorization: 'Bearer x y', accept: 'application/json', 'if-match': '"x"' };
      return await limited.http.send(String(jsonOf(made)['url']), { headers: own });
    };
    const taken = await file('SELECT 1 AS v');
    assert.deepEqual([taken.status, taken.text], [200, 'v\n1\n']);
    assert.equal(taken.headers['x-ratelimit-used'], '1');
    assert.equal(taken.headers['x-ratelimit-limit'], '2');
    assert.equal((await file(`SELECT 1 -- ${'x'.repeat(1024)}`)).status, 413);
    const refused = await file('SELECT 1 AS v');
    assert.equal(refused.status, 429);
    assert.equal(refused.headers['content-disposition'], undefined);
  });

  it('is refused after its token was revoked', async () => {
    const named = await server.http.send('/api/v3/configure/token/named_admin', {
      headers: { ...headers(), 'content-type': 'application/json' },
      body: JSON.stringify({ token_name: 'short' }),
    });
    const made = await server.http.send('/ops/v1/downloads', {
      headers: { authorization: `Bearer ${jsonOf(named)['token']}` },
      body: JSON.stringify(wanted),
    });
    const gone = '/api/v3/configure/token?token_name=short';
    await server.http.send(gone, { method: 'DELETE', headers: headers() });
    assert.equal((await server.http.send(String(jsonOf(made)['url']))).status, 401);
  });
});

describe('settings and log', () => {
  const get = async (on: ServerInProcess, path: string) =>
    jsonOf(await on.http.send(path, { headers: headers() }));

  it('list every value except secrets', async () => {
    const key = 'a-master-key-of-more-than-32-characters';
    await using other = await ServerInProcess.start({
      flags: ['--without-auth', '--services', 'tsdb', '--server-node-id', 'n7'],
      env: { PLINTH_MASTER_KEY: key },
    });
    const response = await other.http.send('/ops/v1/settings');
    assert.equal(response.text.includes(key), false);
    const { settings } = jsonOf(response);
    const byName = new Map(
      (settings as { readonly name: string }[]).map((each) => [each.name, each]),
    );
    assert.deepEqual(byName.get('server.node_id'), {
      name: 'server.node_id',
      value: 'n7',
      default: 'node0',
      is_secret: false,
      is_default: false,
      description: 'node name in the logs',
      flag: '--server-node-id',
      variable: 'PLINTH_SERVER_NODE_ID',
    });
    const secret = byName.get('server.master_key') as unknown as Record<string, unknown>;
    assert.deepEqual([secret['is_secret'], secret['is_default']], [true, false]);
    assert.equal('value' in secret, false);
  });

  it('list the newest lines first, filtered by level and text', async () => {
    const all = await get(server, '/ops/v1/logs');
    const messages = (page: Readonly<Record<string, unknown>>) =>
      (page['lines'] as { readonly message: string }[]).map(({ message }) => message);
    assert.ok(messages(all).includes('server listens'));
    assert.equal(all['first_seq'], 1);
    assert.deepEqual(messages(await get(server, '/ops/v1/logs?find=LISTENS')), ['server listens']);
    assert.equal(messages(await get(server, '/ops/v1/logs?level=fatal')).length, 0);
    const after = await get(server, `/ops/v1/logs?after=${all['last_seq']}`);
    assert.equal(messages(after).includes('server listens'), false);
    const wrong = await server.http.send('/ops/v1/logs?level=loud', { headers: headers() });
    assert.equal(wrong.status, 422);
    assert.equal((await server.http.send('/ops/v1/logs')).status, 401);
  });
});

// Expected answers: tsdb-http, "Authentication and authorisation", "Preset token file" and "Recovery listener".
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { NotAuthenticated, type Principal, type RouteAccess } from '@plinth/kernel';
import { TokenFileInvalid } from './errors.js';
import type { TokenObject } from './routes/schemas.js';
import { openTestIdentity, START_MS, type TestIdentity } from './testing/open-test-identity.js';

const ADMIN = '/api/v3/configure/token/admin';
const TOKEN_TEXT = `apiv3_${'a'.repeat(86)}`;

type Method = 'GET' | 'HEAD' | 'POST' | 'DELETE' | 'OPTIONS';

const send = async (to: TestIdentity, method: Method, url: string, authorization?: string) =>
  await to.app.inject({
    method,
    url,
    headers: authorization === undefined ? {} : { authorization },
  });

async function createAdmin(to: TestIdentity): Promise<string> {
  const response = await send(to, 'POST', ADMIN);
  assert.equal(response.statusCode, 201);
  return (response.json() as TokenObject).token;
}

async function assertStatuses(to: TestIdentity, expected: Readonly<Record<string, number>>) {
  for (const [request, status] of Object.entries(expected)) {
    const [method, url] = request.split(' ') as [Method, string];
    assert.equal((await send(to, method, url)).statusCode, status, request);
  }
}

it('answers 401 without a valid token, known path or not', async () => {
  await using to = await openTestIdentity();
  await createAdmin(to);
  for (const url of ['/health', '/api/v3/write_lp?db=x', '/no/such/path', '/']) {
    for (const header of [undefined, `Bearer ${TOKEN_TEXT}`, 'Token x', 'Basic dTphYmM=']) {
      const response = await send(to, 'GET', url, header);
      assert.equal(response.statusCode, 401);
      assert.equal(response.headers['content-type'], 'application/json');
      assert.equal(response.headers['www-authenticate'], 'Bearer realm="plinth"');
      assert.equal(response.body, '{"error":"the request was not authenticated","data":{}}');
    }
  }
});

it('answers 400 to a header that it cannot read', async () => {
  await using to = await openTestIdentity();
  const response = await send(to, 'GET', '/health', 'bearer x');
  assert.equal(response.statusCode, 400);
  assert.equal(response.headers['content-type'], 'application/json');
  assert.equal(response.headers['www-authenticate'], undefined);
  assert.equal(
    response.body,
    '{"error":"Authorization header was malformed, the request was not in the form of \'Authorization: <auth-scheme> <token>\', supported auth-schemes are Bearer, Token and Basic","data":{}}',
  );
});

it('adds what version 2 clients read', async () => {
  await using to = await openTestIdentity();
  const response = await send(to, 'POST', '/api/v2/write?bucket=x');
  assert.equal(response.statusCode, 401);
  assert.deepEqual(response.json(), {
    code: 'unauthorized',
    message: 'unauthorized access',
    error: 'the request was not authenticated',
    data: {},
  });
});

it('knows a token in every form', async () => {
  await using to = await openTestIdentity();
  const token = await createAdmin(to);
  const basic = Buffer.from(`anyone:${token}`).toString('base64');
  for (const header of [`Bearer ${token}`, `Token ${token}`, `Basic ${basic}`]) {
    assert.equal((await send(to, 'GET', '/health', header)).statusCode, 200, header);
  }
  assert.equal((await send(to, 'GET', `/query?u=x&p=${token}`)).statusCode, 404);
  assert.equal((await send(to, 'GET', `/query?p=x`, `Bearer ${token}`)).statusCode, 401);
  assert.equal((await send(to, 'GET', `/health?p=${token}`)).statusCode, 401);
});

it('says who a request speaks for', async () => {
  await using to = await openTestIdentity();
  const token = await createAdmin(to);
  const raw = { url: '/', socket: { remoteAddress: '10.0.0.1' } };
  const headers = { authorization: `Bearer ${token}` };
  assert.deepEqual(to.identity.check({ ...raw, headers }, 'admin'), {
    kind: 'admin',
    tokenId: 0,
    tokenName: '_admin',
  });
  assert.deepEqual(to.identity.check({ ...raw, headers: {} }, 'public'), {
    kind: 'anonymous',
    ip: '10.0.0.1',
  });
  assert.throws(() => to.identity.check({ ...raw, headers: {} }, undefined), NotAuthenticated);
});

it('grants a route to those that it names, and one that names nobody to none', async () => {
  await using to = await openTestIdentity();
  await createAdmin(to);
  const anonymous: Principal = { kind: 'anonymous', ip: '10.0.0.1' };
  const admin: Principal = { kind: 'admin', tokenId: 0, tokenName: '_admin' };
  const key: Principal = {
    kind: 'platform_key',
    platform: 'shop',
    keyKind: 'secret',
    livemode: false,
  };
  const app: Principal = { kind: 'app', appId: 1 };
  const user: Principal = { kind: 'user', userId: 1 };
  const editor: Principal = { kind: 'editor', name: 'ann' };
  const all = [undefined, anonymous, admin, key, app, user, editor];
  const allowed = (access: RouteAccess | undefined) =>
    all.filter((principal) => to.identity.grants(access, principal));
  assert.deepEqual(allowed(undefined), []);
  assert.deepEqual(allowed('public'), all);
  assert.deepEqual(allowed('admin'), [admin]);
  assert.deepEqual(allowed({ openable: 'metrics' }), [admin]);
  assert.deepEqual(allowed('platform'), [key]);
  assert.deepEqual(allowed('app'), [app]);
  assert.deepEqual(allowed('editor'), [editor]);
});

it('opens the endpoints listed in disable_authz, and nothing beside them', async () => {
  await using closed = await openTestIdentity();
  await assertStatuses(closed, { 'GET /health': 401, 'GET /ping': 401, 'GET /metrics': 401 });
  await using to = await openTestIdentity({ 'disable-authz': 'health,ping,metrics,ready,pprof' });
  await assertStatuses(to, {
    'GET /health': 200,
    'HEAD /health': 200,
    'GET /health?x=1': 200,
    'GET /metrics': 200,
    'GET /debug/pprof/heap': 200,
    'GET /health/': 401,
    'GET //health': 401,
    'GET /debug/pprof': 401,
    'GET /api/v3/query_sql': 401,
  });
  await using one = await openTestIdentity({ 'disable-authz': 'ping' });
  await assertStatuses(one, { 'GET /ping': 200, 'GET /health': 401 });
  await assert.rejects(openTestIdentity({ 'disable-authz': 'health,write' }), {
    name: 'ConfigInvalid',
  });
});

it('asks for nothing when started without auth, and has no token endpoints then', async () => {
  await using to = await openTestIdentity({ 'without-auth': 'true' });
  await assertStatuses(to, { 'GET /health': 200, 'GET /no/such/path': 404 });
  assert.equal((await send(to, 'GET', '/health', 'malformed')).statusCode, 200);
  for (const [method, url] of [
    ['POST', ADMIN],
    ['POST', `${ADMIN}/regenerate`],
    ['DELETE', '/api/v3/configure/token?token_name=x'],
    ['GET', '/api/v3/configure/token/no/such'],
    ['GET', '/api/v3/configure/tokens'],
  ] as const) {
    const response = await send(to, method, url);
    assert.equal(response.statusCode, 405, url);
    assert.equal(response.headers['content-type'], 'application/json');
    assert.equal(response.body, '{"error":"endpoint disabled, started without auth","data":{}}');
  }
});

/** A file with this content that is gone afterwards. */
async function temporaryFile(content: string) {
  const folder = await mkdtemp(join(tmpdir(), 'plinth-token-'));
  const path = join(folder, 'token.json');
  await writeFile(path, content);
  return {
    path,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

it('takes the token of a preset file on a server that has none', async () => {
  await using file = await temporaryFile(
    JSON.stringify({ token: TOKEN_TEXT, name: '_admin', expiry_millis: START_MS + 1000 }),
  );
  const flags = { 'admin-token-file': file.path };
  await using to = await openTestIdentity(flags);
  assert.equal((await send(to, 'GET', '/health', `Bearer ${TOKEN_TEXT}`)).statusCode, 200);
  assert.equal((await send(to, 'POST', ADMIN)).statusCode, 409);
  const [token] = to.identity.listTokens();
  assert.deepEqual([token?.id, token?.name, token?.expiryMs], [0, '_admin', START_MS + 1000]);
  assert.equal(to.logged.join().includes(TOKEN_TEXT), false);
  await to.clock.advanceMs(1000);
  assert.equal((await send(to, 'GET', '/health', `Bearer ${TOKEN_TEXT}`)).statusCode, 401);
});

it('leaves a preset file alone when there is a token', async () => {
  await using file = await temporaryFile(JSON.stringify({ token: TOKEN_TEXT, name: 'preset' }));
  await using before = await openTestIdentity();
  const token = await createAdmin(before);
  await using to = await before.restart({ 'admin-token-file': file.path });
  assert.equal((await send(to, 'GET', '/health', `Bearer ${TOKEN_TEXT}`)).statusCode, 401);
  assert.equal((await send(to, 'GET', '/health', `Bearer ${token}`)).statusCode, 200);
});

it('does not give the server away beside a preset token of another name', async () => {
  await using file = await temporaryFile(
    JSON.stringify({ token: TOKEN_TEXT, name: 'ops', expiry_millis: null }),
  );
  await using to = await openTestIdentity({ 'admin-token-file': file.path });
  assert.equal((await send(to, 'POST', ADMIN)).statusCode, 401);
  assert.equal(to.identity.grants('first_token', { kind: 'anonymous', ip: '10.0.0.1' }), false);
  const ops: Principal = { kind: 'admin', tokenId: 1, tokenName: 'ops' };
  assert.equal(to.identity.grants('first_token', ops), true);
  const created = await send(to, 'POST', ADMIN, `Bearer ${TOKEN_TEXT}`);
  assert.equal(created.statusCode, 201);
  assert.equal((created.json() as TokenObject).id, 0);
  assert.equal((await send(to, 'POST', ADMIN)).statusCode, 409);
});

it('does not start with a preset file that holds no token', async () => {
  for (const content of ['', '{"token":', '{}', '{"token":"secret"}', '{"token":1}', '[]']) {
    await using file = await temporaryFile(content);
    await assert.rejects(openTestIdentity({ 'admin-token-file': file.path }), (error) => {
      assert.ok(error instanceof TokenFileInvalid);
      assert.ok(error.message.includes(file.path));
      assert.equal(error.message.includes('secret'), false);
      return true;
    });
  }
  await assert.rejects(openTestIdentity({ 'admin-token-file': '/no/such/file' }), TokenFileInvalid);
});

it('regenerates the admin token once on the recovery port, without a token', async () => {
  await using before = await openTestIdentity();
  const old = await createAdmin(before);
  await using to = await before.restart({ 'admin-token-recovery-http-bind': '127.0.0.1:0' });
  const base = `http://127.0.0.1:${to.identity.recoveryAddress?.port}`;
  for (const [method, path] of [
    ['GET', `${ADMIN}/regenerate`],
    ['POST', ADMIN],
    ['GET', '/health'],
  ] as const) {
    const refused = await fetch(base + path, { method });
    assert.equal(refused.status, 404, path);
    assert.equal(await refused.text(), '{"error":"Not found","data":{}}');
  }
  const answer = await fetch(`${base}${ADMIN}/regenerate`, { method: 'POST' });
  assert.equal(answer.status, 201);
  assert.equal(answer.headers.get('content-type'), 'application/json');
  const { token, name, id } = (await answer.json()) as TokenObject;
  assert.deepEqual([id, name], [0, '_admin']);
  assert.equal((await send(to, 'GET', '/health', `Bearer ${token}`)).statusCode, 200);
  assert.equal((await send(to, 'GET', '/health', `Bearer ${old}`)).statusCode, 401);
  await assert.rejects(fetch(`${base}${ADMIN}/regenerate`, { method: 'POST' }));
  assert.equal(to.logged.join().includes(token), false);
});

it('stays open on the recovery port while there is no admin token', async () => {
  await using to = await openTestIdentity({ 'admin-token-recovery-http-bind': '127.0.0.1:0' });
  const url = `http://127.0.0.1:${to.identity.recoveryAddress?.port}${ADMIN}/regenerate`;
  for (const _ of [1, 2]) {
    const answer = await fetch(url, { method: 'POST' });
    assert.equal(answer.status, 404);
    assert.equal(await answer.text(), '{"error":"missing admin token, cannot update","data":{}}');
  }
  await createAdmin(to);
  assert.equal((await fetch(url, { method: 'POST' })).status, 201);
});

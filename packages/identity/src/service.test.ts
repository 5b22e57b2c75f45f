// Expected responses: tsdb-http, "Authentication and authorization", "Preset token file" and
// "Recovery listener".

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import {
  ANONYMOUS,
  OPENABLE_ENDPOINTS,
  type OpenableEndpoint,
  type Principal,
  type RouteAccess,
  requestError,
} from '@plinth/kernel';
import { requestHead, temporaryFolder } from '@plinth/kernel/testing';
import { identityError } from './errors.js';
import type { TokenObject } from './routes/schemas.js';
import { toErrorResponse } from './routes/to-wire.js';
import { openTestIdentity, START_MS, type TestIdentity } from './testing/open-test-identity.js';

const ADMIN = '/api/v3/configure/token/admin';
const TOKEN_TEXT = `apiv3_${'a'.repeat(86)}`;

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

async function createAdmin(to: TestIdentity): Promise<string> {
  const { status, body } = await to.send({ method: 'POST', url: ADMIN });
  assert.equal(status, 201);
  return (JSON.parse(String(body)) as TokenObject).token;
}

/** Whether the token has admin rights. */
const works = (to: TestIdentity, token: string): boolean =>
  to.identity.accessControl.findAdmin(bearer(token))?.kind === 'admin';

it('adds the fields that version 2 clients read', () => {
  const { status, headers, body } = toErrorResponse(
    requestError('not_authenticated'),
    '/api/v2/write',
  );
  assert.equal(status, 401);
  assert.deepEqual(headers, { 'www-authenticate': 'Bearer realm="plinth"' });
  assert.deepEqual(body, {
    code: 'unauthorized',
    message: 'unauthorized access',
    error: 'the request was not authenticated',
    data: {},
  });
});

it('accepts a password in the query only on version 1 paths', async () => {
  await using to = await openTestIdentity();
  const token = await createAdmin(to);
  const kindOf = (url: string, headers = {}) =>
    to.identity.accessControl.findAdmin({ url, headers })?.kind;
  assert.equal(kindOf(`/query?u=x&p=${token}`), 'admin');
  assert.equal(kindOf('/query?p=x', bearer(token).headers), undefined);
  assert.equal(kindOf(`/health?p=${token}`), undefined);
});

it('resolves a request to its principal', async () => {
  await using to = await openTestIdentity();
  const token = await createAdmin(to);
  const head = requestHead();
  const { headers } = bearer(token);
  assert.deepEqual(to.identity.accessControl.authenticate({ ...head, headers }, 'admin'), {
    kind: 'admin',
    tokenId: 0,
    tokenName: '_admin',
  });
  assert.deepEqual(to.identity.accessControl.authenticate(head, 'public'), ANONYMOUS);
  assert.throws(() => to.identity.accessControl.authenticate(head, undefined), {
    kind: 'not_authenticated',
  });
});

it('grants a route only to the principals that it names, and denies access by default', async () => {
  await using to = await openTestIdentity();
  await createAdmin(to);
  const admin: Principal = { kind: 'admin', tokenId: 0, tokenName: '_admin' };
  const key: Principal = {
    kind: 'platform_key',
    platform: 'shop',
    keyKind: 'secret',
    livemode: false,
  };
  const app: Principal = { kind: 'app', appId: 1 };
  const user: Principal = { kind: 'user', userId: 1 };
  const editor: Principal = { kind: 'editor', name: 'ann', scopes: new Set() };
  const grantee: Principal = {
    kind: 'grantee',
    id: '1',
    owner: '1',
    name: 'g',
    permissions: [{ resource: 'system', names: ['health'], actions: ['read'] }],
    isAdministrator: false,
  };
  const all = [undefined, ANONYMOUS, admin, key, app, user, editor, grantee];
  const allowed = (access: RouteAccess | undefined) =>
    all.filter((principal) => to.identity.accessControl.grants(access, principal));
  assert.deepEqual(allowed(undefined), []);
  assert.deepEqual(allowed('public'), all);
  assert.deepEqual(allowed('admin'), [admin]);
  assert.deepEqual(allowed('granted'), [admin, grantee]);
  assert.deepEqual(allowed({ openable: 'metrics' }), [admin]);
  assert.deepEqual(allowed({ openable: 'health' }), [admin, grantee]);
  assert.deepEqual(allowed({ openable: 'ping' }), [admin, grantee]);
  assert.deepEqual(allowed('platform'), [key]);
  assert.deepEqual(allowed('app'), [app]);
  assert.deepEqual(allowed('editor'), [editor]);
});

it('opens only the endpoints listed in disable_authz', async () => {
  const isOpen = ({ identity }: TestIdentity, openable: OpenableEndpoint): boolean => {
    try {
      // Without logins, `check` never needs to verify a password and returns synchronously.
      const principal = identity.accessControl.authenticate(requestHead(), {
        openable,
      }) as Principal;
      return identity.accessControl.grants({ openable }, principal);
    } catch (error) {
      assert.ok(requestError.is(error, 'not_authenticated'));
      return false;
    }
  };
  await using closed = await openTestIdentity();
  await using all = await openTestIdentity({ 'disable-authz': OPENABLE_ENDPOINTS.join(',') });
  await using one = await openTestIdentity({ 'disable-authz': 'ping' });
  for (const openable of OPENABLE_ENDPOINTS) {
    assert.equal(isOpen(closed, openable), false, openable);
    assert.equal(isOpen(all, openable), true, openable);
    assert.equal(isOpen(one, openable), openable === 'ping', openable);
  }
  assert.throws(() => all.identity.accessControl.authenticate(requestHead(), 'admin'), {
    kind: 'not_authenticated',
  });
  await assert.rejects(openTestIdentity({ 'disable-authz': 'health,write' }), {
    name: 'ConfigInvalid',
  });
});

it('needs no credential when started without auth, and then has no token endpoints', async () => {
  await using to = await openTestIdentity({ 'without-auth': 'true' });
  for (const authorization of ['malformed', `Bearer ${TOKEN_TEXT}`]) {
    const head = requestHead({ url: '/x', headers: { authorization } });
    const principal = to.identity.accessControl.authenticate(head, 'admin') as Principal;
    assert.equal(principal.kind, 'anonymous');
    assert.ok(to.identity.accessControl.grants('admin', principal));
  }
  for (const url of [ADMIN, `${ADMIN}/regenerate`, '/api/v3/configure/tokens']) {
    assert.throws(
      () => to.identity.accessControl.authenticate(requestHead({ url }), undefined),
      { kind: 'endpoint_disabled' },
      url,
    );
  }
  await assert.rejects(to.send({ method: 'POST', url: ADMIN }), /no route/);
});

async function temporaryFile(content: string) {
  const folder = await temporaryFolder();
  const path = join(folder, 'token.json');
  await writeFile(path, content, { mode: 0o600 });
  return path;
}

it('reads the token from a preset file on a server without tokens', async () => {
  const file = await temporaryFile(
    JSON.stringify({ token: TOKEN_TEXT, name: '_admin', expiry_millis: START_MS + 1000 }),
  );
  const flags = { 'admin-token-file': file };
  await using to = await openTestIdentity(flags);
  assert.ok(works(to, TOKEN_TEXT));
  assert.equal((await to.send({ method: 'POST', url: ADMIN })).status, 409);
  const [token] = to.identity.listTokens();
  assert.deepEqual([token?.id, token?.name, token?.expiryMs], [0, '_admin', START_MS + 1000]);
  assert.equal(to.logged.join().includes(TOKEN_TEXT), false);
  await to.clock.advanceMs(1000);
  assert.equal(works(to, TOKEN_TEXT), false);
});

it('ignores a preset file when a token exists', async () => {
  const file = await temporaryFile(JSON.stringify({ token: TOKEN_TEXT, name: 'preset' }));
  await using before = await openTestIdentity();
  const token = await createAdmin(before);
  await using to = await before.restart({ 'admin-token-file': file });
  assert.equal(works(to, TOKEN_TEXT), false);
  assert.ok(works(to, token));
});

it('does not let clients create the operator token beside a preset token of another name', async () => {
  const file = await temporaryFile(
    JSON.stringify({ token: TOKEN_TEXT, name: 'ops', expiry_millis: null }),
  );
  await using to = await openTestIdentity({ 'admin-token-file': file });
  assert.equal((await to.send({ method: 'POST', url: ADMIN })).status, 401);
  assert.equal(to.identity.accessControl.grants('first_token', ANONYMOUS), false);
  const ops: Principal = { kind: 'admin', tokenId: 1, tokenName: 'ops' };
  assert.equal(to.identity.accessControl.grants('first_token', ops), true);
  const created = await to.send({ method: 'POST', url: ADMIN, ...bearer(TOKEN_TEXT) });
  assert.equal(created.status, 201);
  assert.equal((JSON.parse(String(created.body)) as TokenObject).id, 0);
  assert.equal((await to.send({ method: 'POST', url: ADMIN })).status, 409);
});

it('does not start with a preset file without a valid token', async () => {
  for (const content of ['', '{"token":', '{}', '{"token":"secret"}', '{"token":1}', '[]']) {
    const file = await temporaryFile(content);
    await assert.rejects(openTestIdentity({ 'admin-token-file': file }), (error) => {
      assert.ok(identityError.is(error, 'token_file_invalid'));
      assert.ok(error.message.includes(file));
      assert.equal(error.message.includes('secret'), false);
      return true;
    });
  }
  await assert.rejects(openTestIdentity({ 'admin-token-file': '/no/such/file' }), {
    kind: 'token_file_invalid',
  });
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
  const response = await fetch(`${base}${ADMIN}/regenerate`, { method: 'POST' });
  assert.equal(response.status, 201);
  assert.equal(response.headers.get('content-type'), 'application/json');
  const { token, name, id } = (await response.json()) as TokenObject;
  assert.deepEqual([id, name], [0, '_admin']);
  assert.ok(works(to, token));
  assert.equal(works(to, old), false);
  await assert.rejects(fetch(`${base}${ADMIN}/regenerate`, { method: 'POST' }));
  assert.equal(to.logged.join().includes(token), false);
});

it('keeps the recovery port open while the server has no admin token', async () => {
  await using to = await openTestIdentity({ 'admin-token-recovery-http-bind': '127.0.0.1:0' });
  const url = `http://127.0.0.1:${to.identity.recoveryAddress?.port}${ADMIN}/regenerate`;
  for (const _ of [1, 2]) {
    const response = await fetch(url, { method: 'POST' });
    assert.equal(response.status, 404);
    assert.equal(await response.text(), '{"error":"missing admin token, cannot update","data":{}}');
  }
  await createAdmin(to);
  assert.equal((await fetch(url, { method: 'POST' })).status, 201);
});

it('stores the last use of tokens and keys once a minute and at shutdown, keeping the latest of all nodes', async () => {
  await using to = await openTestIdentity();
  const token = await createAdmin(to);
  const [issued] = await to.identity.platformKeys.create([
    { platform: 'p', kind: 'secret', livemode: false },
  ]);
  assert.equal(to.identity.listTokens()[0]?.lastUsedMs, undefined);
  const usedMs = to.clock.nowMs();
  assert.ok(works(to, token));
  assert.equal(to.identity.platformKeys.find(issued?.text ?? '').status, 'valid');
  assert.equal(works(to, `${token}x`), false);
  let other = await to.openOther();
  const here = () => to.identity.listTokens()[0]?.lastUsedMs;
  const there = async () => {
    await other.tokens.refresh();
    await other.keys.load();
    return [other.tokens.list()[0]?.lastUsedMs, other.keys.list('p')[0]?.lastUsedMs];
  };
  assert.equal(here(), usedMs);
  assert.deepEqual(await there(), [undefined, undefined], 'it is not written by each request');
  await to.clock.advanceMs(60_000);
  for (let i = 0; i < 1000 && (await there()).includes(undefined); i++) await setImmediate();
  assert.deepEqual(await there(), [usedMs, usedMs]);
  await to.clock.advanceMs(60_000);
  assert.ok(works(to, token));
  const laterMs = to.clock.nowMs();
  await using again = await to.restart();
  other = await again.openOther();
  assert.deepEqual(await there(), [laterMs, usedMs]);
  assert.equal(again.identity.listTokens()[0]?.lastUsedMs, laterMs);
  const url = '/api/v3/configure/token/admin/regenerate';
  const headers = { authorization: `Bearer ${token}` };
  assert.equal((await again.send({ method: 'POST', url, headers })).status, 201);
  assert.equal(again.identity.listTokens()[0]?.lastUsedMs, undefined, 'a new secret');
  assert.equal((await there())[0], undefined);
});

// Expected responses: tsdb-http, "Tokens" and "Error model".

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { it } from 'node:test';
import { openTestIdentity, START_MS, type TestIdentity } from '../testing/open-test-identity.js';
import type { TokenObject } from './schemas.js';

const ADMIN = '/api/v3/configure/token/admin';
const NAMED = '/api/v3/configure/token/named_admin';
const TOKEN = '/api/v3/configure/token';

interface Call {
  readonly method: 'POST' | 'DELETE';
  readonly url: string;
  readonly token?: string;
  /** A string is sent unchanged; other values are sent as JSON with its content type. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

async function call(to: TestIdentity, { method, url, token, body, headers }: Call) {
  const isText = body === undefined || typeof body === 'string';
  const response = await to.send({
    method,
    url,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(isText ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: Buffer.from(isText ? (body ?? '') : JSON.stringify(body)),
  });
  const text = response.body?.toString() ?? '';
  return {
    status: response.status,
    type: response.headers.find(([name]) => name === 'content-type')?.[1],
    text,
    token: () => JSON.parse(text) as TokenObject,
  };
}

async function assertError(response: ReturnType<typeof call>, status: number, error: string) {
  const { type, text, ...rest } = await response;
  assert.equal(rest.status, status, text);
  assert.equal(type, 'application/json');
  assert.equal(text, JSON.stringify({ error, data: {} }));
}

const createAdmin = async (to: TestIdentity) =>
  (await call(to, { method: 'POST', url: ADMIN })).token();
const works = (to: TestIdentity, token: string): boolean =>
  to.identity.accessControl.findAdmin({ headers: { authorization: `Bearer ${token}` } }) !==
  undefined;

it('creates the admin token once, without a credential', async () => {
  await using to = await openTestIdentity();
  const response = await call(to, { method: 'POST', url: ADMIN });
  assert.equal(response.status, 201);
  assert.equal(response.type, 'application/json');
  const token = response.token();
  assert.match(token.token, /^apiv3_[A-Za-z0-9_-]{86}$/);
  assert.deepEqual(token, {
    id: 0,
    name: '_admin',
    token: token.token,
    hash: createHash('sha512').update(token.token).digest('hex'),
    created_at: '2025-04-18T14:02:45.331Z',
    expiry: null,
  });
  assert.ok(works(to, token.token));
  await assertError(
    call(to, { method: 'POST', url: ADMIN }),
    409,
    'token name already exists, _admin',
  );
});

it('creates one admin token for two simultaneous callers', async () => {
  await using to = await openTestIdentity();
  const responses = await Promise.all([
    call(to, { method: 'POST', url: ADMIN }),
    call(to, { method: 'POST', url: ADMIN }),
  ]);
  assert.deepEqual(
    responses.map((response) => response.status),
    [201, 409],
  );
});

it('formats timestamps with three fraction digits, including zeros', async () => {
  await using to = await openTestIdentity();
  await to.clock.advanceMs(669); // up to the next full second
  assert.equal((await createAdmin(to)).created_at, '2025-04-18T14:02:46.000Z');
});

it('regenerates the admin token and invalidates the old one immediately', async () => {
  await using to = await openTestIdentity();
  const old = await createAdmin(to);
  await to.clock.advanceMs(5000);
  const regenerate: Call = { method: 'POST', url: `${ADMIN}/regenerate` };
  await assertError(call(to, regenerate), 401, 'the request was not authenticated');
  const response = await call(to, { ...regenerate, token: old.token });
  assert.equal(response.status, 201);
  const renewed = response.token();
  assert.notEqual(renewed.token, old.token);
  assert.deepEqual(renewed, { ...old, token: renewed.token, hash: renewed.hash });
  assert.equal(renewed.hash, createHash('sha512').update(renewed.token).digest('hex'));
  assert.equal(works(to, old.token), false);
  assert.ok(works(to, renewed.token));
});

it('creates named tokens with all admin rights', async () => {
  await using to = await openTestIdentity();
  const admin = await createAdmin(to);
  const body = { token_name: 'ci', expiry_secs: 60, more: 'is ignored' };
  const response = await call(to, { method: 'POST', url: NAMED, token: admin.token, body });
  assert.equal(response.status, 201);
  const named = response.token();
  assert.equal(named.id, 1);
  assert.equal(named.name, 'ci');
  assert.equal(named.expiry, '2025-04-18T14:03:45.331Z');
  const renewed = await call(to, {
    method: 'POST',
    url: `${ADMIN}/regenerate`,
    token: named.token,
  });
  assert.equal(renewed.status, 201);
});

it('expires a token to the millisecond and still lists it', async () => {
  await using to = await openTestIdentity();
  const { token } = await createAdmin(to);
  const body = { token_name: 'short', expiry_secs: 1 };
  const named = (await call(to, { method: 'POST', url: NAMED, token, body })).token();
  await to.clock.advanceMs(999);
  assert.ok(works(to, named.token));
  await to.clock.advanceMs(1);
  assert.equal(works(to, named.token), false);
  assert.deepEqual(
    to.identity.listTokens().map(({ id, name, expiryMs }) => ({ id, name, expiryMs })),
    [
      { id: 0, name: '_admin', expiryMs: undefined },
      { id: 1, name: 'short', expiryMs: START_MS + 1000 },
    ],
  );
});

it('rejects invalid named tokens', async () => {
  await using to = await openTestIdentity();
  const { token } = await createAdmin(to);
  const named = (body: unknown, headers?: Record<string, string>) =>
    call(to, { method: 'POST', url: NAMED, token, body, ...(headers ? { headers } : {}) });
  const json = { 'content-type': 'application/json' };
  const missing = 'serde json error: missing field `token_name`';
  assert.equal((await named({ token_name: 'a', expiry_secs: null })).status, 201);
  await assertError(named({ token_name: 'a' }), 409, 'token name already exists, a');
  await assertError(named({ token_name: '_admin' }), 409, 'token name already exists, _admin');
  await assertError(named({}), 400, missing);
  await assertError(named({ expiry_secs: 1 }), 400, missing);
  await assertError(
    named({ token_name: 1 }),
    400,
    'serde json error: invalid type for field `token_name`, expected string',
  );
  await assertError(
    named({ token_name: 'b', expiry_secs: -1 }),
    400,
    'serde json error: invalid value for field `expiry_secs`, minimum is 0',
  );
  await assertError(
    named({ token_name: '' }),
    400,
    'serde json error: invalid value for field `token_name`, minLength is 1',
  );
  assert.equal((await named({ token_name: 'a\0b' })).status, 400);
  const type = 'unacceptable content-type, expected: application/json';
  await assertError(named('{"token_name":"c"}'), 415, type);
  await assertError(named('{"token_name":"c"}', { 'content-type': 'text/plain' }), 415, type);
  const vendor = { 'content-type': 'Application/vnd.api+JSON; charset=utf-8' };
  assert.equal((await named('{"token_name":"c"}', vendor)).status, 201);
  for (const text of ['{"token_name":', '', '[]', 'null', '"x"']) {
    const response = await named(text, json);
    assert.equal(response.status, 400, text);
    assert.match(response.text, /^\{"error":"serde json error: [^"]+.*","data":\{\}\}$/, text);
  }
  await assertError(
    call(to, { method: 'POST', url: NAMED, body: { token_name: 'd' } }),
    401,
    'the request was not authenticated',
  );
});

it('deletes a named token by query string or body', async () => {
  await using to = await openTestIdentity();
  const { token } = await createAdmin(to);
  const remove = (rest: Omit<Call, 'method' | 'url'>, query = '') =>
    call(to, { method: 'DELETE', url: TOKEN + query, token, ...rest });
  for (const given of [
    { query: '?token_name=ci', rest: {} },
    { query: '', rest: { body: { token_name: 'ci' } } },
    { query: '?token_name=ci', rest: { body: { token_name: 'ci' } } },
  ]) {
    const body = { token_name: 'ci' };
    const named = (await call(to, { method: 'POST', url: NAMED, token, body })).token();
    const response = await remove(given.rest, given.query);
    assert.deepEqual([response.status, response.text], [200, '']);
    assert.equal(works(to, named.token), false);
  }
  await assertError(remove({}, '?token_name=ci'), 404, 'the requested resource was not found: ci');
  await assertError(remove({}), 400, 'serde error: missing field `token_name`');
  await assertError(
    remove({ body: { token_name: 'b' } }, '?token_name=a'),
    400,
    "conflicting values for 'token_name' and 'token_name'",
  );
  await assertError(remove({}, '?token_name=_admin'), 405, 'cannot delete operator token');
});

it('never reuses an id', async () => {
  await using to = await openTestIdentity();
  const { token } = await createAdmin(to);
  const create = async (name: string) =>
    (await call(to, { method: 'POST', url: NAMED, token, body: { token_name: name } })).token().id;
  assert.deepEqual([await create('a'), await create('b')], [1, 2]);
  await call(to, { method: 'DELETE', url: `${TOKEN}?token_name=b`, token });
  await using again = await to.restart();
  const body = { token_name: 'c' };
  assert.equal((await call(again, { method: 'POST', url: NAMED, token, body })).token().id, 3);
});

it('keeps tokens after a restart, and neither stores nor logs their text', async () => {
  await using to = await openTestIdentity();
  const { token } = await createAdmin(to);
  const body = { token_name: 'ci' };
  const named = (await call(to, { method: 'POST', url: NAMED, token, body })).token();
  await using again = await to.restart();
  assert.ok(works(again, token));
  assert.ok(works(again, named.token));
  const kept = JSON.stringify([to.logged, again.logged, again.identity.listTokens()]);
  for (const secret of [token, named.token]) assert.equal(kept.includes(secret), false);
});

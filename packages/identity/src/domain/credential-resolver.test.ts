// Source: rate-limits, section 3.1: every kind of credential that the server issues, in each form
// that clients send.
import assert from 'node:assert/strict';
import { createSign, generateKeyPairSync } from 'node:crypto';
import { it } from 'node:test';
import type { Principal } from '@plinth/kernel';
import { openTestIdentity, START_MS, type TestIdentity } from '../testing/open-test-identity.js';

/**
 * Opens a test identity that creates credentials as the operator and resolves `Authorization`
 * headers.
 */
async function open() {
  const test = await openTestIdentity();
  const made = await test.send({ method: 'POST', url: '/api/v3/configure/token/admin' });
  const { token } = JSON.parse(String(made.body)) as { token: string };
  const headers = { authorization: `Bearer ${token}` };
  const operate = async (method: 'POST' | 'DELETE' | 'PATCH', url: string, body: object = {}) => {
    const bytes = Buffer.from(JSON.stringify(body));
    const response = await test.send({ method, url: `/ops/v1/${url}`, headers, body: bytes });
    assert.ok(response.status < 300, String(response.body));
    return JSON.parse(String(response.body ?? '{}')) as Record<string, string>;
  };
  const userToken = async (more: object = {}) => {
    const { token: text = '' } = await operate('POST', 'credentials', {
      ...{ kind: 'personal', identity: 'user:7' },
      ...more,
    });
    return text;
  };
  await operate('POST', 'identities', { kind: 'user', id: 7 });
  return {
    test,
    token,
    operate,
    userToken,
    [Symbol.asyncDispose]: () => test[Symbol.asyncDispose](),
  };
}
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const kindOf = async (test: TestIdentity, authorization: string): Promise<Principal['kind']> =>
  (await test.identity.credentials.resolve(authorization)).kind;
async function refuses(test: TestIdentity, authorization: string): Promise<void> {
  await assert.rejects(
    async () => test.identity.credentials.resolve(authorization),
    { kind: 'not_authenticated' },
    authorization.slice(0, 50),
  );
}

/** Whether the result is available without a store look-up. */
async function isRemembered(test: TestIdentity, authorization: string): Promise<boolean> {
  const response = test.identity.credentials.resolve(authorization);
  await response;
  return !(response instanceof Promise);
}

it('accepts a token in each scheme and on both sides of a basic login', async () => {
  await using on = await open();
  const { test } = on;
  for (const text of [on.token, await on.userToken()]) {
    const kind = text === on.token ? 'admin' : 'user';
    for (const header of [
      `Bearer ${text}`,
      `token ${text}`,
      `BEARER  ${text}`,
      basic(`x:${text}`),
    ]) {
      assert.equal(await kindOf(test, header), kind, header);
    }
    assert.equal(await kindOf(test, basic(`${text}:`)), kind);
    for (const header of [
      text,
      `Digest ${text}`,
      `Bearer ${text} x`,
      `Bearer${text}`,
      basic(text),
    ]) {
      await refuses(test, header);
    }
    await refuses(test, `Bearer ${text.slice(0, -1)}`);
    await refuses(test, `Basic ${text}`);
  }
});

it('rejects a header that is too long without a look-up', async () => {
  await using on = await open();
  const text = await on.userToken();
  const padded = (length: number) => `Bearer ${' '.repeat(length - 7 - text.length)}${text}`;
  assert.equal(await kindOf(on.test, padded(8192)), 'user');
  await refuses(on.test, padded(8193));
});

it('caches a token until it expires or any record changes', async () => {
  await using on = await open();
  const { test } = on;
  const header = `Bearer ${await on.userToken({ expires_in: 60 })}`;
  assert.equal(await isRemembered(test, header), false);
  assert.equal(await isRemembered(test, header), true);
  await on.operate('POST', 'identities', { kind: 'user', id: 8 });
  assert.equal(await isRemembered(test, header), false);
  assert.equal(await isRemembered(test, header), true);
  await test.clock.advanceMs(59_000);
  assert.equal(await isRemembered(test, header), false);
  assert.equal(await isRemembered(test, header), true);
  await test.clock.advanceMs(1000);
  await refuses(test, header);
});

it('caches for half a minute, but not what is in memory anyway', async () => {
  await using on = await open();
  const { test } = on;
  const header = `Bearer ${await on.userToken()}`;
  await isRemembered(test, header);
  await test.clock.advanceMs(29_999);
  assert.equal(await isRemembered(test, header), true);
  await test.clock.advanceMs(1);
  assert.equal(await isRemembered(test, header), false);
  for (let i = 0; i < 2; i++) assert.equal(await isRemembered(test, `Bearer ${on.token}`), false);
});

it('rejects a credential after its record is deleted, and after it is revoked', async () => {
  await using on = await open();
  const { test } = on;
  const { id, token } = await on.operate('POST', 'credentials', {
    kind: 'personal',
    identity: 'user:7',
  });
  assert.equal(await kindOf(test, `Bearer ${token}`), 'user');
  await on.operate('DELETE', `credentials/${id}`);
  await refuses(test, `Bearer ${token}`);
});

it('accepts client id and secret of an OAuth app only together', async () => {
  await using on = await open();
  const { test } = on;
  const { id = '', secret = '' } = await on.operate('POST', 'identities', { kind: 'oauth_app' });
  assert.equal(await kindOf(test, basic(`${id}:${secret}`)), 'oauth_app');
  assert.equal(await isRemembered(test, basic(`${id}:${secret}`)), true);
  for (const text of [`${id}:${secret}x`, `${id}:`, `:${secret}`, `${id}`, `x:${secret}`]) {
    await refuses(test, basic(text));
  }
  // A user has no secret, so there is nothing to guess.
  for (const text of ['7:', 'user:7:', `${'x'.repeat(256)}:${secret}`])
    await refuses(test, basic(text));
});

it("accepts an app's JSON web token, and rejects one signed by another app", async () => {
  await using on = await open();
  const app = await on.operate('POST', 'apps', { name: 'one' });
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const nowSec = Math.floor(START_MS / 1000);
  const text = `${encode({ alg: 'RS256' })}.${encode({ iss: app['id'], iat: nowSec, exp: nowSec + 60 })}`;
  const signed = (pem: string) =>
    `Bearer ${text}.${createSign('RSA-SHA256').update(text).sign(pem, 'base64url')}`;
  assert.equal(await kindOf(on.test, signed(app['pem'] ?? '')), 'app');
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  await assert.rejects(async () => on.test.identity.credentials.resolve(signed(privateKey)), {
    name: 'AppJwtRefused',
  });
});

it('accepts platform keys until they are revoked', async () => {
  await using on = await open();
  const { platformKeys } = on.test.identity;
  const wanted = { platform: 'shop', kind: 'publishable', livemode: true, expiresMs: undefined };
  const [made] = await platformKeys.create([wanted as never]); // `kind` is a valid key kind
  const header = `Bearer ${made?.text}`;
  assert.deepEqual(await on.test.identity.credentials.resolve(header), {
    ...{ kind: 'platform_key', platform: 'shop', keyKind: 'publishable', livemode: true },
  });
  await platformKeys.revoke('shop', made?.key.id ?? '');
  await refuses(on.test, header);
});

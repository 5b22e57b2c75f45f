// Source: webhooks, section 10.
import assert from 'node:assert/strict';
import { createHash, createPublicKey, randomBytes } from 'node:crypto';
import { after, before, it } from 'node:test';
import type { RouteMethod } from '@plinth/kernel';
import { openTestIdentity, type TestIdentity } from '../testing/open-test-identity.js';

let test: TestIdentity;
let authorization: string;
before(async () => {
  test = await openTestIdentity();
  const made = await test.send({ method: 'POST', url: '/api/v3/configure/token/admin' });
  authorization = `Bearer ${JSON.parse(String(made.body)).token}`;
});
after(() => test[Symbol.asyncDispose]());

async function call(method: RouteMethod, path: string, body?: object) {
  const response = await test.send({
    ...{ method, url: `/ops/v1/apps${path}`, headers: { authorization } },
    ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)) }),
  });
  const text = String(response.body ?? '');
  return { status: response.status, text, json: text === '' ? undefined : JSON.parse(text) };
}

/** Generates a public key without a private key, which is fast. */
function publicKey(bits = 2048): string {
  const modulus = randomBytes(bits / 8).map((byte, index) => (index === 0 ? byte | 0x80 : byte));
  const jwk = { kty: 'RSA', n: Buffer.from(modulus).toString('base64url'), e: 'AQAB' };
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

it('registers an app with a public key, or generates a pair and shows the private half once', async () => {
  const own = publicKey();
  const { status, json } = await call('POST', '', { name: 'brought', public_key: own });
  assert.equal(status, 201);
  assert.equal(json.pem, undefined);
  const der = createPublicKey(own).export({ type: 'spki', format: 'der' });
  const fingerprint = createHash('sha256').update(der).digest('base64');
  assert.equal(json.public_keys[0].fingerprint, fingerprint);
  const made = await call('POST', '?format=pkcs1', { name: 'generated' });
  assert.match(made.json.pem, /^-----BEGIN RSA PRIVATE KEY-----/);
  const shown = await call('GET', `/${made.json.id}`);
  assert.equal(shown.text.includes('pem'), false);
});

it('keeps at most 25 keys of an app, and at least one', async () => {
  const { id, public_keys } = (await call('POST', '', { name: 'keys', public_key: publicKey() }))
    .json;
  const first = `/${id}/keys/${public_keys[0].id}`;
  assert.equal((await call('DELETE', first)).status, 422);
  const another = publicKey();
  const add = async (key: string) =>
    (await call('POST', `/${id}/keys`, { public_key: key })).status;
  assert.deepEqual([await add(another), await add(another)], [201, 422]);
  for (let count = 2; count < 25; count += 1) assert.equal(await add(publicKey()), 201);
  assert.equal(await add(publicKey()), 422);
  assert.equal((await call('POST', `/${id}/keys`)).status, 422);
  assert.equal((await call('DELETE', first)).status, 204);
  assert.equal((await call('DELETE', first)).status, 404);
  assert.equal((await call('GET', `/${id}`)).json.public_keys.length, 24);
  assert.equal((await call('POST', `/${id}/keys`, { publickey: another })).status, 422);
});

it('refuses invalid members, names them and changes nothing', async () => {
  const taken = (await call('POST', '', { name: 'Taken', public_key: publicKey() })).json;
  const before = (await call('GET', '?per_page=100')).text;
  for (const [body, field, code] of [
    [{}, 'name', 'missing_field'],
    [{ name: '' }, 'name', 'custom'],
    [{ name: 'x'.repeat(65) }, 'name', 'custom'],
    [{ name: 'Taken' }, 'name', 'already_exists'],
    [{ name: 'y', slug: 'taken' }, 'slug', 'already_exists'],
    [{ name: 'y', slug: 'No Slug' }, 'slug', 'invalid'],
    [{ name: 'y', owner: { login: 'o', id: 0 } }, 'owner.id', 'invalid'],
    [{ name: 'y', public_key: 'no key' }, 'public_key', 'custom'],
    [{ name: 'y', public_key: publicKey(1024) }, 'public_key', 'custom'],
    [{ name: 'y', pem: 'x' }, 'pem', 'invalid'],
  ] as const) {
    const { status, json } = await call('POST', '', body);
    assert.equal(status, 422, JSON.stringify(body));
    const errors = json.errors as { field: string; code: string }[];
    assert.ok(
      errors.some((error) => error.field === field && error.code === code),
      json,
    );
  }
  assert.equal((await call('PATCH', `/${taken.id}`, { name: 'brought' })).status, 422);
  assert.equal((await call('GET', '?per_page=100')).text, before);
  for (const [method, path] of [
    ...[
      ['GET', '/99999'],
      ['DELETE', '/99999'],
      ['GET', '/Iv23none'],
    ],
    ...[
      ['POST', '/99999/keys'],
      ['POST', '/99999/suspend'],
    ],
  ] as const) {
    assert.equal((await call(method as RouteMethod, path ?? '')).status, 404, path);
  }
});

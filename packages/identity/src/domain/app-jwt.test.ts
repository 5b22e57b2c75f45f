import assert from 'node:assert/strict';
import { createPrivateKey, createSign, generateKeyPairSync } from 'node:crypto';
import { describe, it } from 'node:test';
import { openTestIdentity, START_MS, type TestIdentity } from '../testing/open-test-identity.js';

const NOW_SEC = START_MS / 1000;
const UNDECODABLE = 'A JSON web token could not be decoded';
const BAD_IAT =
  "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued";
const BAD_NBF =
  "'Not before' claim ('nbf') must be a numeric value representing a time that has passed";
const BAD_EXP =
  "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires";
const FAR_EXP = "'Expiration time' claim ('exp') is too far in the future";

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

function makeJwt(pem: string, claims: object, header: object = { alg: 'RS256', typ: 'JWT' }) {
  const text = `${encode(header)}.${encode(claims)}`;
  const signature = createSign('RSA-SHA256').update(text).sign(createPrivateKey(pem), 'base64url');
  return `${text}.${signature}`;
}

async function createApp(test: TestIdentity, body: object) {
  const token = await operatorToken(test);
  const response = await test.send({
    method: 'POST',
    url: '/ops/v1/apps',
    headers: { authorization: `Bearer ${token}` },
    body: Buffer.from(JSON.stringify(body)),
  });
  assert.equal(response.status, 201, String(response.body));
  return JSON.parse(String(response.body)) as {
    id: number;
    client_id: string;
    pem: string;
    public_keys: object[];
  };
}

let operator: { of: TestIdentity; token: string } | undefined;
async function operatorToken(test: TestIdentity): Promise<string> {
  if (operator?.of === test) return operator.token;
  const made = await test.send({ method: 'POST', url: '/api/v3/configure/token/admin' });
  operator = { of: test, token: (JSON.parse(String(made.body)) as { token: string }).token };
  return operator.token;
}

describe("an app's JSON web token", () => {
  it('authenticates the app by id and by client id', async () => {
    await using test = await openTestIdentity();
    const app = await createApp(test, { name: 'one' });
    const good = { iat: NOW_SEC - 30, exp: NOW_SEC + 570 };
    for (const iss of [app.id, String(app.id), app.client_id]) {
      const jwt = makeJwt(app.pem, { ...good, iss });
      for (const scheme of ['Bearer', 'bearer']) {
        const principal = await test.identity.authenticateApp(`${scheme} ${jwt}`);
        assert.deepEqual(principal, { kind: 'app', appId: app.id });
      }
    }
  });

  it('carries the limits of an enterprise if the app belongs to one', async () => {
    await using test = await openTestIdentity();
    const owner = { login: 'octo', id: 1, type: 'Organization', plan: 'enterprise' };
    const app = await createApp(test, { name: 'one', owner });
    const jwt = makeJwt(app.pem, { iss: app.id, iat: NOW_SEC, exp: NOW_SEC + 60 });
    for (let turn = 0; turn < 2; turn++) {
      const principal = await test.identity.authenticateApp(`Bearer ${jwt}`);
      assert.equal(principal.limits?.isEnterprise, true);
    }
  });

  it('is rejected in the documented order with the documented messages', async () => {
    await using test = await openTestIdentity();
    const app = await createApp(test, { name: 'one' });
    const stranger = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    }).privateKey;
    const good = { iss: app.id, iat: NOW_SEC - 30, exp: NOW_SEC + 570 };
    const check = async (authorization: string | undefined, message: string, status = 401) =>
      await assert.rejects(test.identity.authenticateApp(authorization), { message, status });
    const checkClaims = async (claims: object, message: string, status = 401) =>
      await check(`Bearer ${makeJwt(app.pem, { ...good, ...claims })}`, message, status);

    for (const other of [
      undefined,
      '',
      'Basic eDp5',
      'Bearer ghp_abc',
      'token a.b.c',
      'Bearer a.b',
    ]) {
      await check(other, UNDECODABLE);
    }
    const jwt = makeJwt(app.pem, good);
    await check(`token ${jwt}`, UNDECODABLE);
    await check(`Bearer ${makeJwt(app.pem, good, { alg: 'none' })}`, UNDECODABLE);
    await check(`Bearer ${makeJwt(app.pem, good, { alg: 'HS256' })}`, UNDECODABLE);
    await check(`Bearer ${makeJwt(stranger, good)}`, UNDECODABLE);
    await check(`Bearer ${jwt.slice(0, -6)}AAAAAA`, UNDECODABLE);
    await check(`Bearer ${jwt}==`, UNDECODABLE);
    await check(`Bearer ${jwt.replace(/\./g, '=.')}`, UNDECODABLE);
    // The issuer is checked before the signature, the timestamps after it.
    await check(
      `Bearer ${makeJwt(stranger, { ...good, iss: undefined })}`,
      "Missing 'issuer' claim ('iss') in assertion",
    );
    await check(`Bearer ${makeJwt(stranger, { ...good, iss: 99 })}`, 'Integration not found', 404);
    // None of these is a valid id or client id, even after conversion to a string.
    for (const iss of [{}, [app.id], [app.client_id], true, '0', -1, 1.5]) {
      await checkClaims({ iss }, 'Integration not found', 404);
    }
    for (const claims of [null, 5, 'text', [good]]) {
      await check(`Bearer ${makeJwt(app.pem, claims as object)}`, UNDECODABLE);
      await check(`Bearer ${makeJwt(app.pem, good, claims as object)}`, UNDECODABLE);
    }
    await check(`Bearer ${makeJwt(stranger, { ...good, exp: 1 })}`, UNDECODABLE);
    await checkClaims({ iat: NOW_SEC + 6 }, BAD_IAT);
    await checkClaims({ iat: undefined }, BAD_IAT);
    await checkClaims({ iat: '1' }, BAD_IAT);
    await checkClaims({ iat: NOW_SEC + 6, exp: 1 }, BAD_IAT);
    await checkClaims({ nbf: NOW_SEC + 6 }, BAD_NBF);
    await checkClaims({ nbf: 'soon' }, BAD_NBF);
    await checkClaims({ nbf: null }, BAD_NBF);
    await checkClaims({ exp: NOW_SEC }, BAD_EXP);
    await checkClaims({ exp: undefined }, BAD_EXP);
    await checkClaims({ exp: NOW_SEC + 601 }, FAR_EXP);
    await test.identity.authenticateApp(
      `Bearer ${makeJwt(app.pem, { ...good, iat: NOW_SEC + 5, exp: NOW_SEC + 600 })}`,
    );
  });

  it('becomes invalid when it expires, its key is removed or the app is suspended', async () => {
    await using test = await openTestIdentity();
    const app = await createApp(test, { name: 'one' });
    const authorization = `Bearer ${await operatorToken(test)}`;
    const call = async (method: 'POST' | 'DELETE', path: string) =>
      await test.send({
        method,
        url: `/ops/v1/apps/${app.id}${path}`,
        headers: { authorization },
      });
    const bearer = `Bearer ${makeJwt(app.pem, { iss: app.id, iat: NOW_SEC, exp: NOW_SEC + 60 })}`;
    await test.identity.authenticateApp(bearer);
    assert.equal((await call('POST', '/suspend')).status, 202);
    await assert.rejects(test.identity.authenticateApp(bearer), {
      message: 'This application has been suspended',
      status: 403,
    });
    assert.equal((await call('POST', '/unsuspend')).status, 202);
    await test.identity.authenticateApp(bearer);
    assert.equal((await call('DELETE', '/keys/1')).status, 422);
    assert.equal((await call('POST', '/keys')).status, 201);
    assert.equal((await call('DELETE', '/keys/1')).status, 204);
    await assert.rejects(test.identity.authenticateApp(bearer), { message: UNDECODABLE });
    const other = await createApp(test, { name: 'two' });
    const soon = `Bearer ${makeJwt(other.pem, { iss: other.id, iat: NOW_SEC, exp: NOW_SEC + 2 })}`;
    await test.identity.authenticateApp(soon);
    await test.clock.advanceMs(2000);
    await assert.rejects(test.identity.authenticateApp(soon), { message: BAD_EXP });
  });
});

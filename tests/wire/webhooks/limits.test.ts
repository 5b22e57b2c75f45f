// Source: webhooks, sections 2.1 and 3.2 (failed tokens count against the address); rate-limits, sections 3.1, 4.1 and 10.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { makeJwt, nowSec, ServerInProcess, WebhookApp } from '../../harness/index.js';

const CONFIG = '/api/v3/app/hook/config';
let server: ServerInProcess;
let admin: Record<string, string>;
before(async () => {
  server = await ServerInProcess.start({ flags: ['--services=webhooks,ratelimit'] });
  const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  admin = { authorization: `Bearer ${JSON.parse(made.text).token}` };
});
after(async () => await server.close());

describe('limits of apps', () => {
  it("failed tokens are charged to the address they come from, not to the app's limit", async () => {
    const app = await WebhookApp.register(server, undefined, admin);
    const bucketOf = (headers: Readonly<Record<string, unknown>>) =>
      ['resource', 'limit', 'used'].map((name) => String(headers[`x-ratelimit-${name}`])).join(' ');
    const own = await app.call(CONFIG);
    assert.equal(own.status, 200);
    assert.equal(bucketOf(own.headers), 'core 5000 1');
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    const claims = { iss: app.id, iat: nowSec() - 30, exp: nowSec() + 300 };
    const forged = { authorization: `Bearer ${makeJwt(privateKey, claims)}` };
    for (let used = 1; used <= 51; used++) {
      const response = await server.http.send(CONFIG, { headers: forged });
      assert.equal(response.status, 401, response.text);
      assert.equal(bucketOf(response.headers), `core 60 ${used}`);
    }
    // More than fifty attempts within ten minutes: the address is locked.
    const locked = await server.http.send(CONFIG, { headers: forged });
    assert.equal(locked.status, 403, locked.text);
  });
});

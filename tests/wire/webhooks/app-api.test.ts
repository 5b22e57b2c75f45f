// Source: webhooks, sections 2 to 4.
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  type HttpResponse,
  makeJwt,
  nowSec,
  ServerInProcess,
  WebhookApp,
} from '../../harness/index.js';

const CONFIG = '/api/v3/app/hook/config';
const URL_TEXT = 'https://example.com/hook';

let server: ServerInProcess;
let app: WebhookApp;
before(async () => {
  server = await ServerInProcess.start({ flags: ['--without-auth', '--services=webhooks'] });
  const webhook = { url: URL_TEXT, active: false, events: ['*'], secret: 'one' };
  app = await WebhookApp.register(server, webhook);
});
after(() => server.close());

function assertFailure(response: HttpResponse, status: number, message: string, more = {}): void {
  assert.equal(response.status, status, response.text);
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
  const operation = 'get-a-webhook-configuration-for-an-app';
  assert.deepEqual(JSON.parse(response.text), {
    message,
    documentation_url: `${server.url}/docs/rest/apps/webhooks#${operation}`,
    status: String(status),
    ...more,
  });
}

describe('the webhook configuration', () => {
  it('is read and changed by its app', async () => {
    const { status, headers, text } = await app.call(CONFIG);
    const shown = `{"content_type":"json","insecure_ssl":"0","secret":"********","url":"${URL_TEXT}"}`;
    assert.deepEqual([status, text], [200, shown]);
    assert.equal(headers['content-type'], 'application/json; charset=utf-8');
    const changed = await app.call('/app/hook/config', {
      method: 'PATCH',
      body: '{"content_type":"form"}',
      headers: { 'content-type': 'text/plain' },
    });
    assert.deepEqual([changed.status, changed.text], [200, shown.replace('json', 'form')]);
    const operation = 'update-a-webhook-configuration-for-an-app';
    const documentation_url = `${server.url}/docs/rest/apps/webhooks#${operation}`;
    const error = { resource: 'Hook', field: 'content_type', code: 'invalid', value: 'xml' };
    assertFailure(await app.patch({ content_type: 'xml' }), 422, 'Validation Failed', {
      ...{ errors: [error], documentation_url },
    });
    const large = await app.patch({ x: 'y'.repeat(65_536) });
    assertFailure(large, 413, 'Request body too large', { documentation_url });
    assert.equal((await app.call(CONFIG)).text, changed.text);
  });
});

describe("the app's JSON web token", () => {
  it('is accepted by client id, and refused when it is missing, forged or of a suspended app', async () => {
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    const forged = makeJwt(privateKey, { iss: app.id, iat: nowSec() - 30, exp: nowSec() + 300 });
    for (const headers of [{}, { authorization: `Bearer ${forged}` }]) {
      const response = await server.http.send(CONFIG, { headers });
      assertFailure(response, 401, 'A JSON web token could not be decoded');
      assert.equal(response.headers['www-authenticate'], undefined);
      assert.ok(response.headers['date']);
    }
    const headers = { authorization: `bearer ${app.jwt({ iss: app.clientId })}` };
    assert.equal((await server.http.send(CONFIG, { headers })).status, 200);
    const other = await WebhookApp.register(server, undefined);
    assert.equal((await other.operate('POST', '/suspend')).status, 202);
    assertFailure(await other.call(CONFIG), 403, 'This application has been suspended');
    assert.equal((await other.operate('POST', '/unsuspend')).status, 202);
    assert.equal((await other.call(CONFIG)).status, 200);
  });

  it('is required even to learn which paths exist', async () => {
    for (const [method, path] of [
      ['GET', '/api/v3/app/nowhere'],
      ['PUT', CONFIG],
    ] as const) {
      assert.equal((await server.http.send(path, { method })).status, 401, path);
      assert.equal((await app.call(path, { method })).status, 404, path);
    }
    assert.equal((await server.http.send('/api/v3/meta')).status, 200);
  });
});

describe('every response', () => {
  it('has the documented headers', async () => {
    const response = await app.call(CONFIG);
    const { headers } = response;
    assert.equal(headers['x-vendor-media-type'], 'vendor.v3; format=json');
    assert.equal(headers['x-vendor-api-version-selected'], '2022-11-28');
    assert.match(
      String(headers['x-vendor-request-id']),
      /^[0-9A-F]{4}:[0-9A-F]{5}:[0-9A-F]{6}:[0-9A-F]{6}:[0-9A-F]{8}$/,
    );
    assert.equal(headers['cache-control'], 'private, max-age=0, must-revalidate');
    assert.equal(headers['vary'], 'Accept, Authorization, Accept-Encoding');
    assert.equal(headers['access-control-allow-origin'], '*');
    assert.match(String(headers['access-control-expose-headers']), /ETag, Link, Location/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['x-frame-options'], 'deny');
    assert.equal(headers['content-security-policy'], "default-src 'none'");
    const digest = createHash('sha256').update(response.bytes).digest('hex');
    assert.equal(headers['etag'], `W/"${digest}"`);
    const head = await app.call(CONFIG, { method: 'HEAD' });
    assert.deepEqual([head.status, head.text], [200, '']);
    const preflight = await server.http.send(CONFIG, { method: 'OPTIONS' });
    assert.equal(preflight.status, 204);
    assert.match(String(preflight.headers['access-control-allow-methods']), /PATCH/);
  });
});

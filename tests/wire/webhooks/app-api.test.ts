// Source: webhooks, sections 2 to 4.
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  type HttpAnswer,
  makeJwt,
  nowSec,
  ServerInProcess,
  WebhookApp,
  WebhookReceiver,
} from '../../harness/index.js';

const CONFIG = '/api/v3/app/hook/config';
const DELIVERIES = '/api/v3/app/hook/deliveries';
const UNDECODABLE = 'A JSON web token could not be decoded';

let server: ServerInProcess;
let receiver: WebhookReceiver;
let app: WebhookApp;
before(async () => {
  server = await ServerInProcess.start({
    flags: [
      '--without-auth',
      '--services=webhooks',
      '--webhooks-allow-private-targets=127.0.0.0/8',
    ],
  });
  receiver = await WebhookReceiver.start();
  app = await WebhookApp.register(server, { url: receiver.url, events: ['*'], secret: 'one' });
});
after(async () => {
  await receiver.close();
  await server.close();
});

const anchor = (name: string) => `${server.url}/docs/rest/apps/webhooks#${name}`;
const UPDATE = 'update-a-webhook-configuration-for-an-app';

function assertFailure(
  answer: HttpAnswer,
  status: number,
  message: string,
  more: { readonly errors?: unknown; readonly docs?: string } = {},
): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
  assert.deepEqual(JSON.parse(answer.text), {
    message,
    ...(more.errors !== undefined && { errors: more.errors }),
    documentation_url: more.docs ?? `${server.url}/docs/rest`,
    status: String(status),
  });
}

describe('the webhook configuration', () => {
  it('has four members in their order, the secret masked', async () => {
    for (const path of [CONFIG, '/app/hook/config']) {
      const answer = await app.call(path);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
      assert.equal(
        answer.text,
        `{"content_type":"json","insecure_ssl":"0","secret":"********","url":"${receiver.url}"}`,
      );
    }
  });

  it('changes only what is given, by any content type, and nothing with an empty body', async () => {
    const other = await WebhookApp.register(server, { url: receiver.url, active: false });
    const unchanged = `{"content_type":"json","insecure_ssl":"0","url":"${receiver.url}"}`;
    const empty = await other.call(CONFIG, { method: 'PATCH' });
    assert.deepEqual([empty.status, empty.text], [200, unchanged]);
    const ignored = await other.patch({ unknown: 1 });
    assert.deepEqual([ignored.status, ignored.text], [200, unchanged]);
    const form = await other.call(CONFIG, {
      method: 'PATCH',
      body: '{"content_type":"form","insecure_ssl":1}',
      headers: { 'content-type': 'text/plain' },
    });
    assert.equal(form.text, `{"content_type":"form","insecure_ssl":"1","url":"${receiver.url}"}`);
    for (const [given, shown] of [
      [0, '0'],
      ['1', '1'],
      ['0', '0'],
    ]) {
      const answer = await other.patch({ insecure_ssl: given });
      assert.equal((JSON.parse(answer.text) as { insecure_ssl: unknown }).insecure_ssl, shown);
    }
    const bad = await other.patch({ content_type: 'json', insecure_ssl: '2' });
    assert.equal(bad.status, 422);
    assert.match((await other.call(CONFIG)).text, /"content_type":"form"/);
  });

  it('keeps the secret when its mask comes back, and drops it for "" or null', async () => {
    const other = await WebhookApp.register(server, { url: receiver.url, active: false });
    const hasSecret = async (secret: unknown) =>
      Object.hasOwn(JSON.parse((await other.patch({ secret })).text) as object, 'secret');
    assert.equal(await hasSecret('********'), false);
    assert.equal(await hasSecret('x'), true);
    assert.equal(await hasSecret('********'), true);
    assert.equal(await hasSecret(''), false);
    assert.equal(await hasSecret('y'), true);
    assert.equal(await hasSecret(null), false);
    const half = await other.patch({ secret: '\ud800' });
    assert.equal(half.status, 422, half.text);
    const long = await other.patch({ secret: 'x'.repeat(1025) });
    assertFailure(long, 422, 'Validation Failed', {
      errors: [
        {
          resource: 'Hook',
          field: 'secret',
          code: 'custom',
          message: 'secret must be a string of at most 1024 bytes',
        },
      ],
      docs: anchor(UPDATE),
    });
  });

  it('refuses values with their errors, and changes nothing', async () => {
    const before = (await app.call(CONFIG)).text;
    const custom = (message: string) => [
      { resource: 'Hook', field: 'url', code: 'custom', message },
    ];
    const unreachable = (host: string) =>
      custom(`url is not supported because it isn't reachable over the public Internet (${host})`);
    const cases: readonly (readonly [object, unknown])[] = [
      [
        { content_type: 'xml' },
        [{ resource: 'Hook', field: 'content_type', code: 'invalid', value: 'xml' }],
      ],
      [
        { insecure_ssl: 2 },
        [{ resource: 'Hook', field: 'insecure_ssl', code: 'invalid', value: 2 }],
      ],
      [{ url: '' }, custom('url cannot be blank')],
      [{ url: null }, custom('url cannot be blank')],
      [{ url: 'example.com' }, custom('url is malformed')],
      [{ url: 'ftp://example.com/' }, custom('url is malformed')],
      [{ url: 'http://' }, custom('url is malformed')],
      [{ url: 'http://a b/' }, custom('url is malformed')],
      [{ url: `http://example.com/${'x'.repeat(2050)}` }, custom('url is malformed')],
      [{ url: 'http://10.1.2.3/' }, unreachable('10.1.2.3')],
      [{ url: 'http://0xa.1/' }, unreachable('10.0.0.1')],
      [{ url: 'http://[::1]/' }, unreachable('::1')],
      [{ url: 'http://[::ffff:192.168.0.1]/' }, unreachable('::ffff:c0a8:1')],
      [{ url: 'https://169.254.169.254/latest' }, unreachable('169.254.169.254')],
    ];
    for (const [change, errors] of cases) {
      const answer = await app.patch({ secret: 'other', ...change });
      assertFailure(answer, 422, 'Validation Failed', { errors, docs: anchor(UPDATE) });
    }
    const wrongType = await app.patch({ url: 123 });
    assertFailure(
      wrongType,
      422,
      "Invalid request.\n\nFor 'properties/url', 123 is not a string.",
      { docs: anchor(UPDATE) },
    );
    assert.equal((await app.call(CONFIG)).text, before);
  });

  it('refuses a body that is no JSON object, or too large', async () => {
    const docs = anchor(UPDATE);
    assertFailure(await app.patch('{'), 400, 'Problems parsing JSON', { docs });
    for (const body of ['[]', '1', 'null', '"x"']) {
      assertFailure(await app.patch(body), 400, 'Body should be a JSON object', { docs });
    }
    const large = await app.patch(JSON.stringify({ x: 'y'.repeat(65_536) }));
    assertFailure(large, 413, 'Request body too large', { docs });
  });

  it('keeps credentials of the URL to itself and sends them to the receiver', async () => {
    const url = receiver.url.replace('http://', 'http://user:pass@');
    const other = await WebhookApp.register(server, { url, events: ['*'] });
    const masked = receiver.url.replace('http://', 'http://***:***@');
    assert.match((await other.call(CONFIG)).text, /\*\*\*:\*\*\*@127\.0\.0\.1/);
    // A configuration that was read can be written back.
    assert.equal((await other.patch({ url: masked })).status, 200);
    const count = receiver.of('basic').length;
    await other.publish('basic');
    const received = (await receiver.until('basic', count + 1)).at(-1);
    assert.equal(received?.headers.authorization, `Basic ${btoa('user:pass')}`);
    const [record] = await other.untilRecorded('?event=basic', 1);
    const detail = (await other.call(`${DELIVERIES}/${record?.id}`)).text;
    assert.equal(detail.includes(btoa('user:pass')), false);
    assert.equal(detail.includes('user:pass'), false);
  });

  it('takes masked credentials of the URL for the stored ones on the same host, and nowhere else', async () => {
    const url = receiver.url.replace('http://', 'http://us%40er:p%3Ass@');
    const other = await WebhookApp.register(server, { url, events: ['*'] });
    const moved = `${receiver.url.replace('http://', 'http://***:***@')}moved?x=1`;
    assert.equal((await other.patch({ url: moved })).status, 200);
    assert.equal(JSON.parse((await other.call(CONFIG)).text).url, moved);
    const count = receiver.of('moved').length;
    await other.publish('moved');
    const received = (await receiver.until('moved', count + 1)).at(-1);
    assert.equal(received?.headers.authorization, `Basic ${btoa('us@er:p:ss')}`);

    const message = 'url contains masked credentials (***:***); send the real values or omit them';
    const errors = [{ resource: 'Hook', field: 'url', code: 'custom', message }];
    const before = (await other.call(CONFIG)).text;
    for (const elsewhere of [
      'https://***:***@example.com/',
      moved.replace('127.0.0.1', '127.0.0.2'),
    ]) {
      const answer = await other.patch({ url: elsewhere, content_type: 'form' });
      assertFailure(answer, 422, 'Validation Failed', { errors, docs: anchor(UPDATE) });
    }
    assert.equal((await other.call(CONFIG)).text, before);
    // A URL without a secret contains nothing that the mask could replace.
    assertFailure(await app.patch({ url: moved }), 422, 'Validation Failed', {
      errors,
      docs: anchor(UPDATE),
    });
    const made = await server.http.send('/ops/v1/apps', {
      body: JSON.stringify({ name: 'masked from the start', webhook: { url: moved } }),
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(made.status, 422, made.text);
    // An update without the credentials removes them.
    assert.equal((await other.patch({ url: receiver.url })).status, 200);
    await other.publish('moved');
    const bare = (await receiver.until('moved', count + 2)).at(-1);
    assert.equal(bare?.headers.authorization, undefined);
  });
});

describe("the app's JSON web token", () => {
  it('is refused in the documented order with the exact words', async () => {
    const good = { iss: app.id, iat: nowSec() - 30, exp: nowSec() + 300 };
    const stranger = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    }).privateKey;
    const badIat =
      "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued";
    const badExp =
      "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires";
    const farExp = "'Expiration time' claim ('exp') is too far in the future";
    const noIss = "Missing 'issuer' claim ('iss') in assertion";
    const signed = (claims: object) => `Bearer ${makeJwt(app.pem, { ...good, ...claims })}`;
    const cases: readonly (readonly [string | undefined, number, string])[] = [
      [undefined, 401, UNDECODABLE],
      ['Basic eDp5', 401, UNDECODABLE],
      ['Bearer ghp_0123456789', 401, UNDECODABLE],
      [`token ${makeJwt(app.pem, good)}`, 401, UNDECODABLE],
      [`Bearer ${makeJwt(app.pem, good, { alg: 'HS256' })}`, 401, UNDECODABLE],
      [`Bearer ${makeJwt(app.pem, good, { alg: 'none' })}`, 401, UNDECODABLE],
      [signed({ iss: undefined }), 401, noIss],
      [signed({ iss: 999_999 }), 404, 'Integration not found'],
      [`Bearer ${makeJwt(stranger, good)}`, 401, UNDECODABLE],
      [signed({ iat: nowSec() + 100 }), 401, badIat],
      [signed({ iat: 'x' }), 401, badIat],
      [signed({ exp: nowSec() - 1 }), 401, badExp],
      [signed({ exp: undefined }), 401, badExp],
      [signed({ exp: nowSec() + 700 }), 401, farExp],
    ];
    for (const [authorization, status, message] of cases) {
      const headers = authorization === undefined ? {} : { authorization };
      const answer = await server.http.send(CONFIG, { headers });
      assertFailure(answer, status, message, {
        docs: anchor('get-a-webhook-configuration-for-an-app'),
      });
      assert.equal(answer.headers['www-authenticate'], undefined);
      assert.ok(answer.headers['date']);
    }
  });

  it('does not show without a token which paths there are', async () => {
    for (const [method, path] of [
      ['GET', '/api/v3/app/nowhere'],
      ['GET', '/app/hook/nowhere'],
      ['PUT', CONFIG],
    ] as const) {
      const refused = await server.http.send(path, { method });
      assert.equal(refused.status, 401, path);
      assert.equal((JSON.parse(refused.text) as { message: string }).message, UNDECODABLE);
      assert.equal((await app.call(path, { method })).status, 404, path);
    }
  });

  it('names the app by id, text or client id', async () => {
    for (const iss of [app.id, String(app.id), app.clientId]) {
      const headers = { authorization: `bearer ${app.jwt({ iss })}` };
      assert.equal((await server.http.send(CONFIG, { headers })).status, 200);
    }
  });

  it('is worth nothing while the app is suspended', async () => {
    const other = await WebhookApp.register(server, undefined);
    assert.equal((await other.operate('POST', '/suspend')).status, 202);
    assertFailure(await other.call(CONFIG), 403, 'This application has been suspended', {
      docs: anchor('get-a-webhook-configuration-for-an-app'),
    });
    assert.equal((await other.operate('POST', '/unsuspend')).status, 202);
    assert.equal((await other.call(CONFIG)).status, 200);
  });
});

describe('every answer', () => {
  it('has the documented headers', async () => {
    const answer = await app.call(CONFIG);
    const { headers } = answer;
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
    const digest = createHash('sha256').update(answer.bytes).digest('hex');
    assert.equal(headers['etag'], `W/"${digest}"`);
    const again = await app.call(CONFIG, { headers: { 'if-none-match': String(headers['etag']) } });
    assert.deepEqual([again.status, again.text], [304, '']);
    assert.equal(again.headers['etag'], headers['etag']);
  });

  it('is negotiated: media type, version, HEAD, preflight', async () => {
    for (const accept of [
      'application/vnd.vendor+json',
      'application/vnd.github.v3+json',
      'application/vnd.github+json',
      'application/json',
      '*/*',
    ]) {
      assert.equal((await app.call(CONFIG, { headers: { accept } })).status, 200, accept);
    }
    const xml = await app.call(CONFIG, { headers: { accept: 'application/xml' } });
    assertFailure(
      xml,
      415,
      "Unsupported 'Accept' header: 'application/xml'. Must accept 'application/json'.",
      { docs: anchor('get-a-webhook-configuration-for-an-app') },
    );
    const newer = await app.call(CONFIG, { headers: { 'x-github-api-version': '2026-03-10' } });
    assert.equal(newer.headers['x-vendor-api-version-selected'], '2026-03-10');
    const old = await app.call(CONFIG, { headers: { 'x-vendor-api-version': '2020-01-01' } });
    assertFailure(old, 400, '"2020-01-01" is not a supported version.', {
      docs: anchor('get-a-webhook-configuration-for-an-app'),
    });
    const head = await app.call(CONFIG, { method: 'HEAD' });
    assert.deepEqual([head.status, head.text], [200, '']);
    const preflight = await server.http.send(CONFIG, { method: 'OPTIONS' });
    assert.equal(preflight.status, 204);
    assert.match(String(preflight.headers['access-control-allow-methods']), /PATCH/);
  });

  it('is 404 for what does not exist', async () => {
    for (const [method, path] of [
      ['GET', `${CONFIG}/`],
      ['DELETE', CONFIG],
      ['GET', '/api/v3/app/hooks'],
      ['PUT', DELIVERIES],
    ] as const) {
      const answer = await app.call(path, { method });
      assert.equal(answer.status, 404, path);
      assert.equal((JSON.parse(answer.text) as { message: string }).message, 'Not Found');
    }
  });

  it('tells an unknown delivery from one that cannot be', async () => {
    const docs = anchor('get-a-delivery-for-an-app-webhook');
    assertFailure(await app.call(`${DELIVERIES}/1`), 404, 'Not Found', { docs });
    const beyond = await app.call(`${DELIVERIES}/99999999999999999`);
    assertFailure(beyond, 404, 'Not Found', { docs });
    assert.equal((await app.call(`${DELIVERIES}/`)).status, 404);
    for (const id of ['0', '-1', 'abc', '1.5', '1e3']) {
      assertFailure(await app.call(`${DELIVERIES}/${id}`), 400, 'Invalid delivery id', { docs });
    }
    const attempts = `${DELIVERIES}/1/attempts`;
    assertFailure(await app.call(attempts, { method: 'POST' }), 404, 'Not Found', {
      docs: anchor('redeliver-a-delivery-for-an-app-webhook'),
    });
  });

  it('shows the app, the addresses of deliveries and the versions', async () => {
    const shown = JSON.parse((await app.call('/api/v3/app')).text) as Record<string, unknown>;
    assert.deepEqual(Object.keys(shown), [
      'id',
      'client_id',
      'slug',
      'name',
      'owner',
      'events',
      'permissions',
      'created_at',
      'updated_at',
      // Members that GitHub's published description requires in addition.
      'node_id',
      'description',
      'external_url',
      'html_url',
    ]);
    assert.equal(shown['html_url'], `${server.url}/apps/${shown['slug']}`);
    assert.deepEqual([shown['id'], shown['events']], [app.id, ['*']]);
    const meta = await server.http.send('/api/v3/meta');
    assert.deepEqual((JSON.parse(meta.text) as { hooks: unknown }).hooks, []);
    const versions = await server.http.send('/api/v3/versions');
    assert.deepEqual(JSON.parse(versions.text), ['2022-11-28', '2026-03-10']);
  });

  it('has no other methods and no paths below what everybody may see', async () => {
    for (const [method, path] of [
      ['POST', '/api/v3/meta'],
      ['DELETE', '/meta'],
      ['PUT', '/api/v3/versions'],
      ['GET', '/api/v3/meta/'],
      ['GET', '/versions/2022-11-28'],
    ] as const) {
      const { status, text } = await server.http.send(path, { method });
      const { message } = JSON.parse(text) as { readonly message: string };
      assert.deepEqual([status, message], [404, 'Not Found'], path);
    }
  });
});

// Source: webhooks, sections 2 to 5.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { TestResponse } from '@plinth/kernel/testing';
import { BASE, type TestApp, TestWebhooks } from '../testing/test-webhooks.js';

const DOCS = `${BASE}/docs/rest`;
const OPERATION = `${DOCS}/apps/webhooks#`;
const GET_CONFIG = `${OPERATION}get-a-webhook-configuration-for-an-app`;
const UPDATE = `${OPERATION}update-a-webhook-configuration-for-an-app`;
const GET_DELIVERY = `${OPERATION}get-a-delivery-for-an-app-webhook`;
const URL_TEXT = 'https://example.com/hook';

function assertFailure(response: TestResponse, status: number, message: string, docs = DOCS): void {
  assert.equal(response.status, status, response.text);
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
  const { errors: _, ...body } = JSON.parse(response.text);
  assert.deepEqual(body, { message, documentation_url: docs, status: String(status) });
}

let test: TestWebhooks;
let app: TestApp;
before(async () => {
  test = await TestWebhooks.start();
  app = await test.register({ url: URL_TEXT, active: false, events: ['*'] });
});
after(() => test[Symbol.asyncDispose]());

describe('the webhook configuration', () => {
  it('has four members in their order, the secret masked, at both paths', async () => {
    const secret = await test.register({ url: URL_TEXT, active: false, secret: 'one' });
    const expected = `{"content_type":"json","insecure_ssl":"0","secret":"********","url":"${URL_TEXT}"}`;
    assert.equal((await secret.call('GET', '/hook/config')).text, expected);
    const headers = { authorization: `Bearer app ${secret.id}` };
    assert.equal((await test.send('GET', '/app/hook/config', undefined, headers)).text, expected);
    // The mask changes nothing; an empty secret removes it.
    for (const [given, hasSecret] of [
      ['********', true],
      ['', false],
      ['********', false],
      ['x', true],
      [null, false],
    ] as const) {
      const shown = JSON.parse((await secret.patch({ secret: given })).text);
      assert.equal(Object.hasOwn(shown, 'secret'), hasSecret, String(given));
    }
  });

  it('changes only what is given, and nothing with an empty or invalid body', async () => {
    const other = await test.register({ url: URL_TEXT, active: false });
    const unchanged = `{"content_type":"json","insecure_ssl":"0","url":"${URL_TEXT}"}`;
    for (const body of [undefined, '', {}, { unknown: 1 }]) {
      const { status, text } = await other.patch(body);
      assert.deepEqual([status, text], [200, unchanged]);
    }
    const changed = await other.patch({ content_type: 'form', insecure_ssl: 1 });
    const expected = `{"content_type":"form","insecure_ssl":"1","url":"${URL_TEXT}"}`;
    assert.equal(changed.text, expected);
    const refused = await other.patch({ content_type: 'json', insecure_ssl: '2' });
    assertFailure(refused, 422, 'Validation Failed', UPDATE);
    const wrongType = await other.patch({ content_type: 'json', url: 123 });
    const message = "Invalid request.\n\nFor 'properties/url', 123 is not a string.";
    assertFailure(wrongType, 422, message, UPDATE);
    assertFailure(await other.patch('{'), 400, 'Problems parsing JSON', UPDATE);
    for (const body of ['[]', '1', 'null', '"x"']) {
      assertFailure(await other.patch(body), 400, 'Body should be a JSON object', UPDATE);
    }
    assert.equal((await other.call('GET', '/hook/config')).text, expected);
  });

  it('can be sent back as it was shown, and refuses masks of nothing', async () => {
    const receiver = await test.receive();
    const url = `${receiver.url.replace('//', '//u:p@')}?key=q`;
    const other = await test.register({ url, events: ['*'], custom_headers: { 'X-Key': 'k' } });
    const shown = await other.shown();
    const masked = url.replace('u:p', '***:***');
    assert.equal((await other.config()).url, masked);
    assert.equal(shown.config.url, masked.replace('key=q', 'key=***'));
    assert.deepEqual(shown.custom_headers, { 'X-Key': '********' });
    assert.equal((await other.patch({ url: masked })).status, 200);
    await other.change({ url: shown.config.url, custom_headers: shown.custom_headers });
    await other.publish('same');
    const [delivery] = await receiver.until('same', 1);
    assert.equal(delivery?.path, '/hook?key=q');
    assert.equal(delivery?.headers.authorization, `Basic ${btoa('u:p')}`);
    assert.equal(delivery?.headers['x-key'], 'k');
    for (const [change, field, message] of [
      [
        { url: masked.replace('127.0.0.1', '127.0.0.2') },
        'url',
        'url contains masked credentials (***:***); send the real values or omit them',
      ],
      [
        { url: `${receiver.url}?other=***` },
        'url',
        'url contains masked query values (***); send the real values or omit them',
      ],
      [
        { custom_headers: { 'X-Other': '********' } },
        'custom_headers',
        'custom_headers contains a masked value (X-Other: ********); send the real value or omit the header',
      ],
    ] as const) {
      const errors = [{ resource: 'Hook', field, code: 'custom', message }];
      const both = { ...change, content_type: 'form' };
      await assert.rejects(other.change(both), { errors });
      await assert.rejects(test.register(both), { errors });
    }
    assert.equal((await other.patch({ url: `${receiver.url}?other=***` })).status, 422);
    const { last_hour, history } = await other.shown(); // the event above was delivered meanwhile
    assert.deepEqual(await other.shown(), { ...shown, last_hour, history });
  });

  it('is listed with figures that are at most 15 seconds old', async () => {
    const receiver = await test.receive();
    const [one, two] = [
      await test.register({ url: receiver.url, events: ['*'] }),
      await test.register({ url: receiver.url, events: ['*'] }),
    ];
    await one.untilRecorded('event=ping', 1);
    const listed = async () => (await test.describe([one, two]))[0].last_hour.deliveries;
    assert.equal(await listed(), 1);
    await one.publish('counted');
    await one.untilRecorded('event=counted', 1);
    await test.clock.advanceMs(14_999);
    assert.equal(await listed(), 1);
    // A single app is read again, and the list then contains its new figures.
    assert.equal((await one.shown()).last_hour.deliveries, 2);
    assert.equal(await listed(), 2);
    await one.publish('counted');
    await one.untilRecorded('event=counted', 2);
    await test.clock.advanceMs(15_000);
    assert.equal(await listed(), 3);
  });
});

describe('every response', () => {
  it('is negotiated by media type and version', async () => {
    const get = (headers: object) => app.call('GET', '/hook/config', undefined, headers);
    for (const accept of [
      ...['application/vnd.vendor+json', 'application/vnd.github.v3+json', 'text/html, */*'],
      ...['application/vnd.github+json', 'application/json;q=0.5', 'application/*'],
    ]) {
      assert.equal((await get({ accept })).status, 200, accept);
    }
    const unsupported =
      "Unsupported 'Accept' header: 'application/xml'. Must accept 'application/json'.";
    assertFailure(await get({ accept: 'application/xml' }), 415, unsupported, GET_CONFIG);
    for (const [name, value, selected] of [
      ['x-github-api-version', '2026-03-10', '2026-03-10'],
      ['x-vendor-api-version', '', '2022-11-28'],
      ['accept', '*/*', '2022-11-28'],
    ] as const) {
      const { headers } = await get({ [name]: value });
      assert.equal(headers['x-vendor-api-version-selected'], selected);
    }
    const old = await get({ 'x-vendor-api-version': '2020-01-01' });
    assertFailure(old, 400, '"2020-01-01" is not a supported version.', GET_CONFIG);
  });

  it('has an ETag, with which it is 304', async () => {
    const first = await app.call('GET', '/hook/config');
    const etag = `W/"${createHash('sha256').update(first.bytes).digest('hex')}"`;
    assert.equal(first.headers['etag'], etag);
    const headers = { 'if-none-match': etag };
    const again = await app.call('GET', '/hook/config', undefined, headers);
    assert.deepEqual([again.status, again.text, again.headers['etag']], [304, '', etag]);
  });

  it('is 404 for unknown paths, methods and deliveries, and 400 for an invalid delivery id', async () => {
    for (const [method, path] of [
      ...[
        ['GET', '/hook/config/'],
        ['DELETE', '/hook/config'],
        ['GET', '/hooks'],
      ],
      ...[
        ['PUT', '/hook/deliveries'],
        ['GET', '/hook/deliveries/'],
      ],
    ] as const) {
      assertFailure(await app.call(method ?? '', path ?? ''), 404, 'Not Found');
    }
    for (const id of ['1', '99999999999999999']) {
      const response = await app.call('GET', `/hook/deliveries/${id}`);
      assertFailure(response, 404, 'Not Found', GET_DELIVERY);
    }
    for (const id of ['0', '-1', 'abc', '1.5', '1e3']) {
      const response = await app.call('GET', `/hook/deliveries/${id}`);
      assertFailure(response, 400, 'Invalid delivery id', GET_DELIVERY);
    }
    const redelivery = `${OPERATION}redeliver-a-delivery-for-an-app-webhook`;
    const attempts = await app.call('POST', '/hook/deliveries/1/attempts');
    assertFailure(attempts, 404, 'Not Found', redelivery);
    assert.equal((await app.call('GET', '/hook/deliveries?cursor=x')).status, 400);
  });

  it('is 401 without a token, except for what anyone may see', async () => {
    assert.equal((await test.send('GET', '/api/v3/app/nowhere')).status, 401);
    assert.deepEqual(JSON.parse((await test.send('GET', '/api/v3/meta')).text).hooks, []);
    const versions = await test.send('GET', '/versions');
    assert.deepEqual(JSON.parse(versions.text), ['2022-11-28', '2026-03-10']);
    for (const [method, path] of [
      ...[
        ['POST', '/api/v3/meta'],
        ['DELETE', '/meta'],
        ['PUT', '/api/v3/versions'],
      ],
      ...[
        ['GET', '/api/v3/meta/'],
        ['GET', '/versions/2022-11-28'],
      ],
    ] as const) {
      assertFailure(await test.send(method ?? '', path ?? ''), 404, 'Not Found');
    }
  });

  it('shows the app', async () => {
    const { id } = app;
    assert.deepEqual(JSON.parse((await app.call('GET', '')).text), {
      ...{ id, client_id: `client${id}`, slug: `app-${id}`, name: 'App', owner: null },
      ...{ events: ['*'], permissions: {}, created_at: '1970-01-01T00:00:00Z' },
      updated_at: '1970-01-01T00:00:00Z',
      // Members that GitHub's published description requires in addition.
      ...{ node_id: btoa(`03:App${id}`), description: null, external_url: BASE },
      html_url: `${BASE}/apps/app-${id}`,
    });
  });
});

it('follows its settings', async () => {
  await using other = await TestWebhooks.start({
    'webhooks-docs-base': 'https://docs.example/',
    'webhooks-strict-query': 'true',
    'webhooks-redeliver-body': 'object',
    'webhooks-require-user-agent': 'true',
    'webhooks-root-alias': 'false',
    'webhooks-enterprise-headers': 'true',
  });
  const receiver = await other.receive();
  const own = await other.register({ url: receiver.url, events: ['x'] });
  const headers = { 'user-agent': 'test' };
  const response = await own.call('GET', '/hook/deliveries?per_page=101', undefined, headers);
  const docs = 'https://docs.example/rest/apps/webhooks#list-deliveries-for-an-app-webhook';
  assertFailure(response, 422, 'Validation Failed', docs);
  assert.equal((await own.call('GET', '/hook/config')).status, 403);
  const authorization = `Bearer app ${own.id}`;
  const alias = await other.send('GET', '/app', undefined, { ...headers, authorization });
  assert.equal(alias.status, 404);
  await own.publish('x');
  const [delivery] = await receiver.until('x', 1);
  assert.equal(delivery?.headers['x-vendor-enterprise-host'], 'hooks.example:8443');
  assert.equal(delivery?.headers['x-vendor-enterprise-version'], '1.2.3');
  for (;;) {
    const listed = await own.call('GET', '/hook/deliveries?event=x', undefined, headers);
    const [record] = JSON.parse(listed.text);
    if (record === undefined) continue;
    const path = `/hook/deliveries/${record.id}/attempts`;
    const { status, text } = await own.call('POST', path, undefined, headers);
    assert.deepEqual([status, text], [202, '{}']);
    break;
  }
});

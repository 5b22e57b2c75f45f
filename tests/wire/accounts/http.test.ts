// Source: accounts, sections 2.1 to 2.5 and 3.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { AccountsServer, type Json, KEYS, type KeyName } from '../../harness/index.js';

let server: AccountsServer;
let accountId: string;
before(async () => {
  server = await AccountsServer.start();
  accountId = (await server.create({})).id;
});
after(async () => await server.close());

const ACCOUNTS = '/v2/core/accounts';

describe('versions', () => {
  const versions = async (headers: Record<string, string>) => {
    const { status, headers: answered, text } = await server.send(ACCOUNTS, { headers });
    return [
      status,
      answered['api-version'],
      answered['stripe-version'],
      JSON.parse(text).error?.code,
    ];
  };

  it('both headers work, the first goes before the second, and both are echoed', async () => {
    const check = async (headers: Record<string, string>, effective: string) =>
      assert.deepEqual(await versions(headers), [200, effective, effective, undefined]);
    await check({}, '2026-10-28.endive');
    await check({ 'api-version': '2025-12-15.clover' }, '2025-12-15.clover');
    await check({ 'stripe-version': '2026-08-26.preview' }, '2026-08-26.preview');
    await check(
      { 'stripe-version': '2025-12-15.clover', 'api-version': '2026-10-28.endive' },
      '2026-10-28.endive',
    );
    await check(
      { 'api-version': '2031-01-01.private_preview; some_beta=v1' },
      '2031-01-01.private_preview',
    );
  });

  it('malformed and too old ones are refused', async () => {
    const check = async (version: string, code: string) =>
      assert.equal((await versions({ 'api-version': version }))[3], code, version);
    await check('2026-10-28', 'invalid_api_version');
    await check('latest', 'invalid_api_version');
    await check('2026-02-30.endive', 'invalid_api_version');
    await check('2026-10-28.Endive', 'invalid_api_version');
    await check('2024-09-29.acacia', 'unsupported_api_version');
    await check('2024-09-30.acacia', undefined as never);
    await server.withSettings({ require_version_header: true }, async () => {
      assert.equal((await versions({}))[3], 'api_version_required');
    });
  });
});

describe('answers', () => {
  it('have an id of their own, and are never kept', async () => {
    const one = await server.send(ACCOUNTS);
    const two = await server.send(ACCOUNTS);
    assert.match(String(one.headers['request-id']), /^req_[0-9A-Za-z]{14}$/);
    assert.notEqual(one.headers['request-id'], two.headers['request-id']);
    assert.equal(one.headers['cache-control'], 'no-store');
    assert.equal(one.headers['content-type'], 'application/json');
  });

  it('name what is wrong with the request line, the body and its type', async () => {
    const check = async (
      method: string,
      path: string,
      status: number,
      code: string,
      more: { body?: string; headers?: Record<string, string> } = {},
    ) => await server.refused(path, { method, ...more }, { status, code });
    await check('GET', '/v2/core/nothing', 404, 'unrecognized_url');
    await check('GET', '/v2', 404, 'unrecognized_url');
    await check('GET', '/v1/customers', 404, 'unrecognized_url');
    await check('POST', '/v1', 404, 'unrecognized_url');
    // Outside of every service a client of this one is answered in its words, by its secret key.
    await check('GET', '/oauth/token', 404, 'unrecognized_url');
    await check('GET', `${ACCOUNTS}/`, 404, 'unrecognized_url');
    await check('GET', `${ACCOUNTS}/%zz`, 404, 'unrecognized_url');
    // An id of any length is one that nobody has.
    for (const length of [1025, 8000]) {
      const path = `${ACCOUNTS}/acct_${'x'.repeat(length)}`;
      await check('GET', path, 404, 'not_found');
      await check('POST', path, 404, 'not_found');
      await check('POST', `${path}/close`, 404, 'not_found');
      await check('GET', `${path}/persons/person_1`, 404, 'not_found');
      await check('GET', `/v2/core/account_tokens/${'x'.repeat(length)}`, 404, 'not_found');
    }
    await check('PUT', ACCOUNTS, 405, 'method_not_allowed');
    await check('PATCH', `${ACCOUNTS}/${accountId}`, 405, 'method_not_allowed');
    await check('POST', ACCOUNTS, 400, 'invalid_json', { body: '{' });
    await check('POST', ACCOUNTS, 400, 'invalid_json', { body: '[]' });
    await check('POST', ACCOUNTS, 400, 'invalid_json', { body: '"x"' });
    await check('POST', ACCOUNTS, 415, 'unsupported_media_type', {
      body: 'a=b',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    const { allow } = (await server.send(`${ACCOUNTS}/${accountId}/close`)).headers;
    assert.equal(allow, 'POST');
    const tokens = await server.send('/v2/core/account_tokens', { method: 'PUT' });
    assert.deepEqual([tokens.status, tokens.headers['allow']], [405, 'POST, OPTIONS']);
    const head = await server.send(ACCOUNTS, { method: 'HEAD' });
    assert.equal(head.status, 405);
    await server.ok(ACCOUNTS, {
      body: '',
      headers: { 'content-type': 'application/json; charset=utf-8' },
    });
  });

  it('name an unknown path or method without a key', async () => {
    const check = async (method: string, path: string, code: string, key: string | null = null) =>
      await server.refused(
        path,
        { method, key },
        { status: code === 'method_not_allowed' ? 405 : 404, code },
      );
    await check('POST', '/v2/core/nothing', 'unrecognized_url');
    await check('PATCH', ACCOUNTS, 'method_not_allowed');
    await check('POST', `${ACCOUNTS}/`, 'unrecognized_url', 'sk_test_nobody');
  });

  it('refuse bodies that are too large or too deep', async () => {
    const large = JSON.stringify({ display_name: 'x'.repeat(1_100_000) });
    await server.refused(ACCOUNTS, { body: large }, { status: 413, code: 'request_too_large' });
    const nested = (depth: number) => `{"metadata":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    for (const body of [nested(127), nested(200_000), '['.repeat(1_000_000)]) {
      const { message } = await server.refused(ACCOUNTS, { body }, { code: 'invalid_json' });
      assert.equal(message, 'The body is nested deeper than 127 levels.');
    }
    const shallow = { code: 'invalid_fields', param: 'metadata' };
    await server.refused(ACCOUNTS, { body: nested(126) }, shallow);
    // Brackets in texts are letters.
    const display_name = '["\\'.repeat(70);
    assert.equal((await server.create({ display_name })).display_name, display_name);
    const many = `{"metadata":{${Array.from({ length: 30_000 }, (_, i) => `"${i}":1`).join()}}}`;
    await server.refused(ACCOUNTS, { body: many }, { code: 'invalid_json' });
    // A number that JSON can say and a double cannot is refused, not rounded.
    for (const number of ['12345678901234567890', '1e400', '9007199254740993']) {
      const body = `{"metadata":{"order":${number}}}`;
      const expected = { code: 'invalid_fields', param: 'metadata.order' };
      await server.refused(ACCOUNTS, { body }, expected);
    }
    const unknown = `{"x":${'{"a":'.repeat(100)}1${'}'.repeat(100)}}`;
    await server.refused(ACCOUNTS, { body: unknown }, { code: 'invalid_fields', param: 'x' });
  });

  it('refuse bodies that are not UTF-8, and texts that no store holds', async () => {
    const count = async () => (await server.ok(`${ACCOUNTS}?limit=100`)).data.length;
    const before = await count();
    const answer = await fetch(new URL(ACCOUNTS, server.process.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${KEYS.sk_test}`, 'content-type': 'application/json' },
      body: Buffer.concat([
        Buffer.from('{"display_name":"'),
        Buffer.from([0xff, 0xfe]),
        Buffer.from('"}'),
      ]),
    });
    assert.equal(answer.status, 400);
    assert.equal(((await answer.json()) as Json).error.code, 'invalid_json');
    const refused = { code: 'invalid_fields', param: 'display_name' };
    await server.refused(ACCOUNTS, { body: { display_name: 'a\u0000b' } }, refused);
    const nobody = { code: 'unrecognized_url', status: 404 };
    await server.refused(`${ACCOUNTS}/acct_%00`, {}, nobody);
    assert.equal(await count(), before);
  });

  it('list every field that is not what it should be, in order', async () => {
    const error = await server.refused(
      ACCOUNTS,
      {
        body: {
          planet: 1,
          display_name: 'x'.repeat(301),
          dashboard: 'huge',
          contact_email: 7,
          configuration: { merchant: { capabilities: { card_payments: {} } }, customer: null },
          identity: {
            country: 'xx',
            business_details: { estimated_worker_count: -1, id_numbers: [{ type: 'us_ein' }] },
          },
          metadata: { 'a[b]': 'x' },
        },
      },
      { code: 'invalid_fields', param: 'planet' },
    );
    assert.deepEqual(
      error.invalid_fields.map(({ field, code }: Json) => [field, code]),
      [
        ['planet', 'unknown_field'],
        ['display_name', 'too_long'],
        ['dashboard', 'invalid_enum'],
        ['contact_email', 'wrong_type'],
        ['configuration.merchant.capabilities.card_payments.requested', 'missing_field'],
        ['configuration.customer', 'not_nullable'],
        ['identity.country', 'invalid_enum'],
        ['identity.business_details.estimated_worker_count', 'out_of_range'],
        ['identity.business_details.id_numbers.0.value', 'missing_field'],
        ['metadata.a[b]', 'bad_format'],
      ],
    );
    await server.refused(`${ACCOUNTS}?colour=red`, {}, { code: 'invalid_fields', param: 'colour' });
    await server.refused(`${ACCOUNTS}?limit=0`, {}, { code: 'invalid_fields', param: 'limit' });
    await server.refused(`${ACCOUNTS}?closed=yes`, {}, { code: 'invalid_fields', param: 'closed' });
  });

  it('answer preflights of the two calls that browsers make', async () => {
    const check = async (path: string, status: number) => {
      const answer = await server.send(path, { method: 'OPTIONS', key: null });
      assert.equal(answer.status, status, path);
      if (status !== 204) return;
      assert.equal(answer.headers['access-control-allow-origin'], '*');
      assert.equal(answer.headers['access-control-allow-methods'], 'POST');
      assert.equal(
        answer.headers['access-control-allow-headers'],
        'Authorization, Content-Type, Idempotency-Key, Api-Version, Stripe-Version',
      );
    };
    await check('/v2/core/account_tokens', 204);
    await check(`${ACCOUNTS}/${accountId}/person_tokens`, 204);
    await check(ACCOUNTS, 405);
  });
});

describe('keys', () => {
  it('what is missing, unknown or ended is told apart', async () => {
    const check = async (authorization: string | undefined, code: string) => {
      const headers = authorization === undefined ? {} : { authorization };
      const error = await server.refused(ACCOUNTS, { key: null, headers }, { status: 401, code });
      assert.equal(error.type, 'authentication_error');
    };
    await check(undefined, 'api_key_missing');
    await check('', 'api_key_missing');
    await check('Bearer ', 'api_key_missing');
    await check('bearer', 'api_key_missing');
    await check(`BEARER   ${KEYS.sk_test}x`, 'api_key_invalid');
    await check('Digest abc', 'api_key_invalid');
    await check('Bearer sk_test_unknown', 'api_key_invalid');
    await check(`Bearer ${KEYS.sk_test}x`, 'api_key_invalid');
    await check(KEYS.sk_test, 'api_key_invalid');
    const basic = Buffer.from(`${KEYS.sk_test}:`).toString('base64');
    const answer = await server.send(ACCOUNTS, {
      key: null,
      headers: { authorization: `Basic ${basic}` },
    });
    assert.equal(answer.status, 200);
    const { id, value } = await server.operate('/platforms/plat_default/keys', {
      kind: 'secret',
      livemode: false,
    });
    await server.ok(ACCOUNTS, { key: value });
    await server.operate(`/platforms/plat_default/keys/${id}`, undefined, 'DELETE');
    await check(`Bearer ${value}`, 'api_key_expired');
  });

  it('four kinds at every endpoint', async () => {
    const liveId = (await server.create({}, { key: 'sk_live' })).id;
    const ids = { test: accountId, live: liveId };
    const endpoints: [string, (id: string) => string, unknown][] = [
      ['POST', () => ACCOUNTS, {}],
      ['GET', () => ACCOUNTS, undefined],
      ['GET', (id) => `${ACCOUNTS}/${id}`, undefined],
      ['POST', (id) => `${ACCOUNTS}/${id}`, {}],
      ['GET', (id) => `${ACCOUNTS}/${id}/persons`, undefined],
      ['POST', (id) => `${ACCOUNTS}/${id}/persons`, {}],
      ['GET', () => '/v2/core/events', undefined],
      ['GET', () => '/v2/core/event_destinations', undefined],
    ];
    for (const [method, path, body] of endpoints) {
      for (const mode of ['test', 'live'] as const) {
        const secret: KeyName = `sk_${mode}`;
        const at = path(ids[mode]);
        await server.ok(at, { method, body, key: secret });
        const error = await server.refused(
          at,
          { method, body, key: `pk_${mode}` },
          { status: 403, code: 'secret_key_required' },
        );
        assert.equal(error.type, 'permission_error');
      }
    }
    await server.refused(
      '/v2/core/nothing',
      { key: 'pk_test' },
      { status: 404, code: 'unrecognized_url' },
    );
    await server.refused(
      `${ACCOUNTS}/acct_x`,
      { key: 'pk_test' },
      { status: 403, code: 'secret_key_required' },
    );
  });

  it('tokens are made with publishable keys, and with the secret one in test mode', async () => {
    const live = (await server.create({}, { key: 'sk_live' })).id;
    const paths = (id: string) => [`${ACCOUNTS}/${id}/person_tokens`, '/v2/core/account_tokens'];
    for (const key of ['sk_test', 'pk_test'] as const) {
      for (const path of paths(accountId)) await server.ok(path, { body: {}, key });
    }
    for (const path of paths(live)) {
      await server.ok(path, { body: {}, key: 'pk_live' });
      const expected = { code: 'token_must_be_created_with_publishable_key' };
      await server.refused(path, { body: {}, key: 'sk_live' }, expected);
    }
    const unknown = `${ACCOUNTS}/acct_unknown/person_tokens`;
    await server.refused(unknown, { body: {}, key: 'pk_test' }, { status: 404, code: 'not_found' });
  });

  it('live and test do not see each other', async () => {
    const person = await server.ok(`${ACCOUNTS}/${accountId}/persons`, { body: {} });
    const notFound = { status: 404, code: 'not_found' };
    const key = 'sk_live';
    await server.refused(`${ACCOUNTS}/${accountId}`, { key }, notFound);
    await server.refused(`${ACCOUNTS}/${accountId}`, { key, body: {} }, notFound);
    await server.refused(`${ACCOUNTS}/${accountId}/close`, { key, body: {} }, notFound);
    await server.refused(`${ACCOUNTS}/${accountId}/persons/${person.id}`, { key }, notFound);
    const listed = await server.ok(`${ACCOUNTS}?limit=100`, { key });
    assert.ok(!listed.data.some(({ id }: Json) => id === accountId));
    assert.ok(listed.data.every(({ livemode }: Json) => livemode));
    const token = await server.ok('/v2/core/account_tokens', { body: {} });
    await server.refused(
      ACCOUNTS,
      { key, body: { account_token: token.id } },
      { status: 403, code: 'invalid_account_token' },
    );
  });

  it('keep platforms apart', async () => {
    const { id } = await server.operate('/platforms', { name: 'Other' });
    const { value } = await server.operate(`/platforms/${id}/keys`, {
      kind: 'secret',
      livemode: false,
    });
    await server.refused(
      `${ACCOUNTS}/${accountId}`,
      { key: value },
      { status: 404, code: 'not_found' },
    );
    assert.deepEqual((await server.ok(ACCOUNTS, { key: value })).data, []);
  });
});

describe('limits on requests', () => {
  it('creates and updates of accounts are content, where the operator limits the service', async () => {
    const limited = await AccountsServer.start({
      flags: [
        '--services=accounts,ratelimit',
        '--rate-limit-services={"accounts":{"enabled":true}}',
        '--rate-limit-secondary-content-minute=2',
      ],
    });
    try {
      const { id } = await limited.create({});
      await limited.ok(`${ACCOUNTS}/${id}`, { body: { display_name: 'x' } });
      const refused = await limited.send(ACCOUNTS, { body: {} });
      assert.equal(refused.status, 429, refused.text);
      const { error } = JSON.parse(refused.text);
      assert.equal(error.type, 'rate_limit');
      assert.match(error.message, /content creation/);
      assert.match(String(refused.headers['retry-after']), /^\d+$/);
      await limited.ok(`${ACCOUNTS}/${id}`);
      await limited.ok(`${ACCOUNTS}/${id}/close`, { body: {} });
    } finally {
      await limited.close();
    }
  });
});

// Source: accounts, sections 2.1 to 2.5, 3, 7, 9, 13 and 14.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { AccountsServer, type Json, KEYS } from '../../harness/index.js';

let server: AccountsServer;
let accountId: string;
before(async () => {
  server = await AccountsServer.start();
  accountId = (await server.create({})).id;
});
after(async () => await server.close());

const ACCOUNTS = '/v2/core/accounts';
const MERCHANT = {
  identity: { country: 'us', entity_type: 'company' },
  configuration: { merchant: { capabilities: { card_payments: { requested: true } } } },
};

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

  it('accepts both version headers, prefers the first and returns both', async () => {
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
});

describe('answers', () => {
  it('have a unique id and are never cached', async () => {
    const one = await server.send(ACCOUNTS);
    const two = await server.send(ACCOUNTS);
    assert.match(String(one.headers['request-id']), /^req_[0-9A-Za-z]{14}$/);
    assert.notEqual(one.headers['request-id'], two.headers['request-id']);
    assert.equal(one.headers['cache-control'], 'no-store');
    assert.equal(one.headers['content-type'], 'application/json');
  });

  it('describe faults in the request line, the body and its type', async () => {
    const check = async (
      method: string,
      path: string,
      status: number,
      code: string,
      more: { body?: string; headers?: Record<string, string> } = {},
    ) => await server.refused(path, { method, ...more }, { status, code });
    await check('GET', '/v2/core/nothing', 404, 'unrecognized_url');
    await check('GET', '/v2', 404, 'unrecognized_url');
    // Client libraries of /v1 choose the class of an error by its type.
    const customers = await check('GET', '/v1/customers', 404, 'unrecognized_url');
    assert.equal(customers.type, 'invalid_request_error');
    const inQuery = await check('GET', `${ACCOUNTS}?x=/v1/test_helpers/`, 400, 'invalid_fields');
    assert.equal(inQuery.type, undefined);
    await check('POST', '/v1', 404, 'unrecognized_url');
    // Outside every service, a client with a secret key of this service receives errors in the format of this service.
    await check('GET', '/oauth/token', 404, 'unrecognized_url');
    await check('GET', `${ACCOUNTS}/`, 404, 'unrecognized_url');
    await check('GET', `${ACCOUNTS}/%zz`, 404, 'unrecognized_url');
    // An id of any length is valid but unknown.
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

  it('report an unknown path or method without a key, and with every key', async () => {
    const check = async (method: string, path: string, code: string, key: string | null = null) =>
      await server.refused(
        path,
        { method, key },
        { status: code === 'method_not_allowed' ? 405 : 404, code },
      );
    await check('POST', '/v2/core/nothing', 'unrecognized_url');
    await check('PATCH', ACCOUNTS, 'method_not_allowed');
    await check('POST', `${ACCOUNTS}/`, 'unrecognized_url', 'sk_test_nobody');
    await check('GET', '/v2/core/nothing', 'unrecognized_url', 'pk_test');
  });

  it('reject bodies that are too large', async () => {
    const body = JSON.stringify({ display_name: 'x'.repeat(1_100_000) });
    await server.refused(ACCOUNTS, { body }, { status: 413, code: 'request_too_large' });
  });

  it('reject bodies that are not UTF-8 and strings that no store accepts', async () => {
    const count = async () => (await server.ok(`${ACCOUNTS}?limit=100`)).data.length;
    const before = await count();
    const response = await fetch(new URL(ACCOUNTS, server.process.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${KEYS.sk_test}`, 'content-type': 'application/json' },
      body: Buffer.concat([
        Buffer.from('{"display_name":"'),
        Buffer.from([0xff, 0xfe]),
        Buffer.from('"}'),
      ]),
    });
    assert.equal(response.status, 400);
    assert.equal(((await response.json()) as Json).error.code, 'invalid_json');
    const refused = { code: 'invalid_fields', param: 'display_name' };
    await server.refused(ACCOUNTS, { body: { display_name: 'a\u0000b' } }, refused);
    const nobody = { code: 'unrecognized_url', status: 404 };
    await server.refused(`${ACCOUNTS}/acct_%00`, {}, nobody);
    assert.equal(await count(), before);
  });

  it('respond to preflights of the two calls that browsers make', async () => {
    const check = async (path: string, status: number) => {
      const response = await server.send(path, { method: 'OPTIONS', key: null });
      assert.equal(response.status, status, path);
      if (status !== 204) return;
      assert.equal(response.headers['access-control-allow-origin'], '*');
      assert.equal(response.headers['access-control-allow-methods'], 'POST');
      assert.equal(
        response.headers['access-control-allow-headers'],
        'Authorization, Content-Type, Idempotency-Key, Api-Version, Stripe-Version',
      );
    };
    await check('/v2/core/account_tokens', 204);
    await check(`${ACCOUNTS}/${accountId}/person_tokens`, 204);
    await check(ACCOUNTS, 405);
  });
});

describe('keys', () => {
  it('distinguishes missing, unknown and expired keys', async () => {
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
    const response = await server.send(ACCOUNTS, {
      key: null,
      headers: { authorization: `Basic ${basic}` },
    });
    assert.equal(response.status, 200);
    const { id, value } = await server.operate('/platforms/plat_default/keys', {
      kind: 'secret',
      livemode: false,
    });
    await server.ok(ACCOUNTS, { key: value });
    await server.operate(`/platforms/plat_default/keys/${id}`, undefined, 'DELETE');
    await check(`Bearer ${value}`, 'api_key_expired');
  });
});

describe('limits on requests', () => {
  it('count creates and updates of accounts as content if the operator limits the service', async () => {
    // Separate server: the limiter is on, and content is limited to two requests.
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

interface Refusal {
  readonly status?: number;
  readonly code: string;
  readonly param?: string;
}

/** @returns names of the error members besides code, message and param. */
async function refused(path: string, body: Json, expected: Refusal): Promise<string[]> {
  const error = await server.refused(path, { body }, expected);
  assert.equal(error.param, expected.param);
  return Object.keys(error).filter((name) => !['code', 'message', 'param'].includes(name));
}

describe('a request rejected by a rule', () => {
  it('returns a user message when creating an account', async () => {
    const list = `${ACCOUNTS}?limit=100`;
    const before = await server.ok(list);
    const body = { ...MERCHANT, contact_phone: '+1 12' };
    const expected = { code: 'phone_invalid', param: 'contact_phone' };
    assert.deepEqual(await refused(ACCOUNTS, body, expected), ['user_message']);
    assert.deepEqual(await server.ok(list), before, 'nothing was created');
  });

  it('links the page of the error code when the platform does not qualify', async () => {
    await server.withSettings({ state: 'invalid' }, async () => {
      const code = 'cannot_create_connected_account';
      const error = await server.refused(ACCOUNTS, { body: MERCHANT }, { code });
      const page = await fetch(error.doc_url);
      assert.equal(page.status, 200);
      assert.match(String(page.headers.get('content-type')), /^text\/html/);
      assert.equal(new URL(error.doc_url).hash, `#${code}`);
      assert.match(await page.text(), new RegExp(`<h2 id="${code}">${code}</h2>`));
    });
  });

  it('leaves the account unchanged when updating or closing it', async () => {
    const path = `${ACCOUNTS}/${(await server.create(MERCHANT)).id}`;
    const shown = `${path}?include=identity&include=configuration.merchant&include=requirements`;
    const before = await server.ok(shown);
    const country = { code: 'immutable_identity_param', param: 'identity.country' };
    const moved = await refused(path, { identity: { country: 'ca' } }, country);
    assert.deepEqual(moved, ['user_message']);
    const closing = { applied_configurations: ['customer'] };
    const match = { code: 'configs_must_match_to_close', param: 'applied_configurations' };
    const members = ['applied_configurations', 'user_message'];
    assert.deepEqual((await refused(`${path}/close`, closing, match)).sort(), members);
    assert.deepEqual(await server.ok(shown), before);
  });

  it('fails when creating and updating a person', async () => {
    const path = `${ACCOUNTS}/${(await server.create(MERCHANT)).id}/persons`;
    const wrong = { code: 'email_invalid', param: 'email' };
    assert.deepEqual(await refused(path, { email: 'jenny@' }, wrong), ['user_message']);
    const person = await server.ok(path, { body: { given_name: 'Jenny' } });
    const double = { relationship: { legal_guardian: true, representative: true } };
    const param = 'relationship.legal_guardian';
    const code = 'legal_guardian_representative_not_allowed';
    assert.deepEqual(await refused(`${path}/${person.id}`, double, { code, param }), []);
    assert.deepEqual((await server.ok(path)).data, [person]);
  });

  it('fails when using a token', async () => {
    const person_token = (await server.ok('/v2/core/account_tokens', { body: {} })).id;
    const path = `${ACCOUNTS}/${(await server.create({})).id}/persons`;
    const wrong = { code: 'incorrect_token_wrong_type', param: 'person_token' };
    assert.deepEqual(await refused(path, { person_token }, wrong), []);
    const account_token = 'accttok_1';
    const unknown = { status: 403, code: 'invalid_account_token', param: 'account_token' };
    assert.deepEqual(await refused(ACCOUNTS, { account_token }, unknown), []);
  });
});

// Source: accounts, sections 2.1 to 2.5 and 3.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type AnyJson, type KeyName, testAccounts } from '../testing/test-accounts.js';

const server = testAccounts();

const ACCOUNTS = '/v2/core/accounts';

describe('versions', () => {
  const versions = async (headers: Record<string, string>) => {
    const { status, headers: answered, text } = await server.call(ACCOUNTS, { headers });
    return [
      status,
      answered['api-version'],
      answered['stripe-version'],
      JSON.parse(text).error?.code,
    ];
  };

  it('malformed and outdated versions are rejected', async () => {
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

describe('bodies', () => {
  it('reject bodies that are too large or too deeply nested', async () => {
    const large = JSON.stringify({ display_name: 'x'.repeat(1_100_000) });
    await server.refused(ACCOUNTS, { body: large }, { status: 413, code: 'request_too_large' });
    const nested = (depth: number) => `{"metadata":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    for (const body of [nested(127), nested(200_000), '['.repeat(1_000_000)]) {
      const { message } = await server.refused(ACCOUNTS, { body }, { code: 'invalid_json' });
      assert.equal(message, 'The body is nested deeper than 127 levels.');
    }
    const shallow = { code: 'invalid_fields', param: 'metadata' };
    await server.refused(ACCOUNTS, { body: nested(126) }, shallow);
    // Brackets inside strings do not count.
    const display_name = '["\\'.repeat(70);
    assert.equal((await server.create({ display_name })).display_name, display_name);
    const many = `{"metadata":{${Array.from({ length: 30_000 }, (_, i) => `"${i}":1`).join()}}}`;
    await server.refused(ACCOUNTS, { body: many }, { code: 'invalid_json' });
    // A number that JSON allows but a double cannot represent is rejected, not rounded.
    for (const number of ['12345678901234567890', '1e400', '9007199254740993']) {
      const body = `{"metadata":{"order":${number}}}`;
      const expected = { code: 'invalid_fields', param: 'metadata.order' };
      await server.refused(ACCOUNTS, { body }, expected);
    }
    const unknown = `{"x":${'{"a":'.repeat(100)}1${'}'.repeat(100)}}`;
    await server.refused(ACCOUNTS, { body: unknown }, { code: 'invalid_fields', param: 'x' });
  });

  it('list every invalid field in order', async () => {
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
      error.invalid_fields.map(({ field, code }: AnyJson) => [field, code]),
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
});

describe('keys', () => {
  let accountId: string;
  before(async () => {
    accountId = (await server.create({})).id;
  });

  it('may call every endpoint only if they are secret', async () => {
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
      `${ACCOUNTS}/acct_x`,
      { key: 'pk_test' },
      { status: 403, code: 'secret_key_required' },
    );
  });

  it('tokens are created with publishable keys, and in test mode with the secret one too', async () => {
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

  it('live and test mode are isolated', async () => {
    const person = await server.ok(`${ACCOUNTS}/${accountId}/persons`, { body: {} });
    const notFound = { status: 404, code: 'not_found' };
    const key = 'sk_live';
    await server.refused(`${ACCOUNTS}/${accountId}`, { key }, notFound);
    await server.refused(`${ACCOUNTS}/${accountId}`, { key, body: {} }, notFound);
    await server.refused(`${ACCOUNTS}/${accountId}/close`, { key, body: {} }, notFound);
    await server.refused(`${ACCOUNTS}/${accountId}/persons/${person.id}`, { key }, notFound);
    const listed = await server.ok(`${ACCOUNTS}?limit=100`, { key });
    assert.ok(!listed.data.some(({ id }: AnyJson) => id === accountId));
    assert.ok(listed.data.every(({ livemode }: AnyJson) => livemode));
    const token = await server.ok('/v2/core/account_tokens', { body: {} });
    await server.refused(
      ACCOUNTS,
      { key, body: { account_token: token.id } },
      { status: 403, code: 'invalid_account_token' },
    );
  });

  it('isolate platforms', async () => {
    const { id } = await server.operate('platforms', { name: 'Other' });
    const { value } = await server.operate(`platforms/${id}/keys`, {
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

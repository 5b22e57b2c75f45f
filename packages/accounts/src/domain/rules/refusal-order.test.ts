// Source: accounts, section 12. If a request breaks two rules, the response reports the earlier
// step.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { at, merchant } from '../../testing/account-bodies.js';
import type { Json } from '../../testing/test-platform.js';
import { testServer } from '../../testing/test-server.js';

const server = testServer();

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Returns the error code for a minimal request with the given parts. */
async function codeOf({ method = 'POST', path = 'accounts', headers = {}, body = '{}' }: Sent) {
  const response = await server.send(`/v2/core/${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(method === 'GET' ? {} : { body }),
  });
  return (JSON.parse(response.text) as { error?: { code: string } }).error?.code;
}

describe('without a known key', () => {
  it('step 2 is before step 3: a malformed version is reported without a key', async () => {
    assert.equal(await codeOf({ headers: { 'api-version': 'soon' } }), 'invalid_api_version');
    const old = { 'api-version': '2024-09-29.acacia' };
    assert.equal(await codeOf({ headers: old }), 'unsupported_api_version');
  });

  it('step 3 is before step 4: a body is not read without a key', async () => {
    assert.equal(await codeOf({ body: '{' }), 'api_key_missing');
    const headers = { authorization: 'Bearer sk_test_nobody' };
    assert.equal(await codeOf({ headers, body: '{' }), 'api_key_invalid');
  });
});

describe('with a key', () => {
  const check = async (
    expected: string,
    options: {
      readonly settings: Json;
      readonly path?: string;
      readonly body: unknown;
      readonly idempotencyKey?: string;
      readonly first?: unknown;
    },
  ): Promise<void> => {
    const platform = await server.platform();
    const { path = 'accounts', body, idempotencyKey } = options;
    const callOptions = idempotencyKey === undefined ? {} : { idempotencyKey };
    if (options.first !== undefined) await platform.make(path, options.first, callOptions);
    await platform.ops('PATCH', '', options.settings);
    const response = await platform.call(path, body, callOptions);
    const { error } = JSON.parse(response.text) as { error: { code: string } };
    assert.equal(error.code, expected, response.text);
  };
  const UNKNOWN = 'accounts/acct_0000000000000000';

  it('step 3 is before step 4: the kind of key is checked before the body', async () => {
    const platform = await server.platform();
    const response = await platform.call('accounts', { planet: 'Mars' }, { kind: 'publishable' });
    assert.match(response.text, /"code":"secret_key_required"/);
  });

  it('step 4 is before step 6: an invalid shape does not count against a limit', async () => {
    await check('invalid_fields', {
      settings: { update_concurrency_limit: 0 },
      body: { planet: 'Mars' },
    });
  });

  it('step 5 is before step 6: a key used with other parameters is reported even at the limit', async () => {
    await check('idempotency_error', {
      settings: { update_concurrency_limit: 0 },
      idempotencyKey: 'once',
      first: { display_name: 'One' },
      body: { display_name: 'Two' },
    });
  });

  it('step 6 is before step 7', async () => {
    await check('account_rate_limit_exceeded', {
      settings: { update_concurrency_limit: 0, accounts_v2_enabled: false },
      body: {},
    });
  });

  it('step 7 is before step 8, and row 17 before row 66', async () => {
    const settings = { accounts_v2_enabled: false, connect_registered: false };
    await check('accounts_v2_access_blocked', { settings, path: UNKNOWN, body: {} });
  });

  it('step 8 is before step 9', async () => {
    await check('not_found', { settings: {}, path: UNKNOWN, body: { account_token: 'ct_1' } });
  });

  it('step 9 is before step 10', async () => {
    const settings = { state: 'rejected' };
    await check('v1_token_invalid_in_v2', { settings, body: { account_token: 'ct_1' } });
  });

  it('step 10 is before step 11, and starts with a rejection', async () => {
    const settings = {
      state: 'rejected',
      profile_submitted: false,
      disabled_capabilities: ['card_payments'],
    };
    await check('cannot_create_new_account_rejected', { settings, body: merchant() });
    const { state: _, ...others } = settings;
    await check('connect_profile_not_submitted', { settings: others, body: merchant() });
  });

  it('step 11 is before step 12', async () => {
    await check('account_capability_not_supported', {
      settings: {
        disabled_capabilities: ['card_payments'],
        losses_collector_available: { vendor: false },
      },
      body: merchant(),
    });
  });

  it('step 17 is before step 18', async () => {
    await check('capability_not_available_in_country', {
      settings: { merchant_requires_terms: true },
      body: merchant(
        { identity: { country: 'de' } },
        at('configuration.merchant.capabilities.affirm_payments.requested', true),
      ),
    });
  });
});

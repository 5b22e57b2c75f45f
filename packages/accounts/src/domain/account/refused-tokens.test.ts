// Source: accounts, sections 3, 5, 6, 9 and rows 56, 69, 87, 88, 94 to 97 of section 13.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { customer, merchant } from '../../testing/account-bodies.js';
import { assertRefused } from '../../testing/refusal.js';
import type { TestPlatform } from '../../testing/test-platform.js';
import { testServer } from '../../testing/test-server.js';

const server = testServer();

/** Default of `accounts-token-ttl-sec`. */
const TOKEN_TTL_MS = 600_000;
const JENNY = { given_name: 'Jenny' };
const accountToken = async (platform: TestPlatform, live = false): Promise<string> =>
  await platform.make('account_tokens', { display_name: 'Furever' }, { kind: 'publishable', live });
const personToken = async (platform: TestPlatform, account: string): Promise<string> =>
  await platform.make(`accounts/${account}/person_tokens`, JENNY);

describe('a rejected account token', () => {
  it('row 94: v1_token_invalid_in_v2 for every prefix of the older API', async () => {
    const platform = await server.platform();
    for (const prefix of ['ct_', 'cpt_', 'tok_', 'btok_', 'pii_', 'cvctok_']) {
      assertRefused(await platform.call('accounts', { account_token: `${prefix}1` }), {
        code: 'v1_token_invalid_in_v2',
        param: 'account_token',
      });
    }
  });

  it('row 56: incorrect_token_wrong_type', async () => {
    const platform = await server.platform();
    const account = await platform.make('accounts', {});
    const expected = { code: 'incorrect_token_wrong_type', param: 'account_token' };
    for (const account_token of ['perstok_1', await personToken(platform, account)]) {
      assertRefused(await platform.call('accounts', { account_token }), expected);
    }
  });

  it('row 95: invalid_account_token, also for the other mode', async () => {
    const platform = await server.platform();
    const expected = { code: 'invalid_account_token', status: 403, param: 'account_token' };
    assertRefused(await platform.call('accounts', { account_token: 'accttok_1' }), expected);
    const live = await accountToken(platform, true);
    assertRefused(await platform.call('accounts', { account_token: live }), expected);
  });

  it('row 69: param_alongside_account_token', async () => {
    const platform = await server.platform();
    const account_token = await accountToken(platform);
    for (const body of [customer(), { dashboard: 'full' }]) {
      assertRefused(await platform.call('accounts', { ...body, account_token }), {
        code: 'param_alongside_account_token',
        param: Object.keys(body)[0] ?? '',
      });
    }
    await platform.make('accounts', { account_token, include: ['identity'] });
  });

  it('row 87: token_already_used with another idempotency key', async () => {
    const platform = await server.platform();
    const body = { account_token: await accountToken(platform) };
    await platform.make('accounts', body, { idempotencyKey: 'one' });
    assertRefused(await platform.call('accounts', body, { idempotencyKey: 'two' }), {
      code: 'token_already_used',
      param: 'account_token',
    });
  });

  it('row 88: token_expired', async () => {
    const platform = await server.platform();
    const account_token = await accountToken(platform);
    await server.clock.advanceMs(TOKEN_TTL_MS);
    assertRefused(await platform.call('accounts', { account_token }), {
      code: 'token_expired',
      param: 'account_token',
    });
  });
});

describe('a rejected person token', () => {
  it('row 56: incorrect_token_wrong_type', async () => {
    const platform = await server.platform();
    const account = await platform.make('accounts', merchant());
    const expected = { code: 'incorrect_token_wrong_type', param: 'person_token' };
    for (const person_token of ['accttok_1', await accountToken(platform)]) {
      const response = await platform.call(`accounts/${account}/persons`, { person_token });
      assertRefused(response, expected);
    }
  });

  it('row 94: v1_token_invalid_in_v2', async () => {
    const platform = await server.platform();
    const account = await platform.make('accounts', merchant());
    const body = { person_token: 'cpt_1' };
    assertRefused(await platform.call(`accounts/${account}/persons`, body), {
      code: 'v1_token_invalid_in_v2',
      param: 'person_token',
    });
  });

  it('section 9.2: invalid_person_token', async () => {
    const platform = await server.platform();
    const account = await platform.make('accounts', merchant());
    const expected = { code: 'invalid_person_token', status: 403, param: 'person_token' };
    for (const person_token of ['perstok_1', 'nonsense']) {
      const response = await platform.call(`accounts/${account}/persons`, { person_token });
      assertRefused(response, expected);
    }
  });

  it('section 9.2: incorrect_account_for_person_token', async () => {
    const platform = await server.platform();
    const account = await platform.make('accounts', merchant());
    const other = await platform.make('accounts', merchant());
    const body = { person_token: await personToken(platform, other) };
    assertRefused(await platform.call(`accounts/${account}/persons`, body), {
      code: 'incorrect_account_for_person_token',
      param: 'person_token',
    });
  });

  it('section 14: param_alongside_person_token', async () => {
    const platform = await server.platform();
    const account = await platform.make('accounts', merchant());
    const body = { person_token: await personToken(platform, account), surname: 'Rosen' };
    assertRefused(await platform.call(`accounts/${account}/persons`, body), {
      code: 'param_alongside_person_token',
      param: 'surname',
    });
  });

  it('row 87: token_already_used', async () => {
    const platform = await server.platform();
    const account = await platform.make('accounts', merchant());
    const body = { person_token: await personToken(platform, account) };
    await platform.make(`accounts/${account}/persons`, body);
    assertRefused(await platform.call(`accounts/${account}/persons`, body), {
      code: 'token_already_used',
      param: 'person_token',
    });
  });
});

describe('rules for the content of a token', () => {
  it('leave a person token unused after a rejected use', async () => {
    const platform = await server.platform();
    const account = await platform.make('accounts', merchant());
    const path = `accounts/${account}/persons`;
    const given = { email: 'nobody@', given_name: 'Jenny' };
    const token = await platform.make(`accounts/${account}/person_tokens`, given);
    const expected = { code: 'email_invalid', ex: 'U', param: 'email' } as const;
    for (let use = 0; use < 2; use++) {
      assertRefused(await platform.call(path, { person_token: token }), expected);
    }
    const state = await platform.call(`accounts/${account}/person_tokens/${token}`);
    assert.equal(JSON.parse(state.text).used, false);
    assert.ok(!state.text.includes('nobody'), state.text);
    const listed = await platform.call(path);
    assert.deepEqual(JSON.parse(listed.text).data, []);
  });

  it('apply to an account token as well', async () => {
    const platform = await server.platform();
    const identity = { business_details: { address: { country: 'us', postal_code: 'nowhere' } } };
    const token = await platform.make('account_tokens', { identity }, { kind: 'publishable' });
    assertRefused(await platform.call('accounts', { account_token: token }), {
      code: 'address_postal_code_invalid',
      ex: 'U',
      param: 'identity.business_details.address.postal_code',
    });
    const state = await platform.call(`account_tokens/${token}`);
    assert.equal(JSON.parse(state.text).used, false);
  });
});

describe('a rejected token creation', () => {
  it('section 14: token_must_be_created_with_publishable_key', async () => {
    const platform = await server.platform();
    const account = await platform.make('accounts', {}, { live: true });
    const expected = { code: 'token_must_be_created_with_publishable_key' };
    for (const path of ['account_tokens', `accounts/${account}/person_tokens`]) {
      assertRefused(await platform.call(path, {}, { live: true }), expected);
    }
  });

  it('row 66: non_connect_platform_accounts_v2_access_blocked', async () => {
    const platform = await server.platform();
    const account = await platform.make('accounts', {});
    await platform.ops('PATCH', '', { connect_registered: false });
    for (const path of ['account_tokens', `accounts/${account}/person_tokens`]) {
      assertRefused(await platform.call(path, {}, { version: '2025-12-14.clover' }), {
        code: 'non_connect_platform_accounts_v2_access_blocked',
      });
    }
  });

  it('row 97: account_rate_limit_exceeded', async () => {
    const platform = await server.platform();
    const account = await platform.make('accounts', {});
    await platform.ops('PATCH', '', { update_concurrency_limit: 0 });
    for (const path of ['account_tokens', `accounts/${account}/person_tokens`]) {
      assertRefused(await platform.call(path, {}), {
        code: 'account_rate_limit_exceeded',
        status: 429,
        type: 'rate_limit',
      });
    }
  });

  it('row 72: platform_registration_required', async () => {
    const platform = await server.platform();
    const account = await platform.make('accounts', {});
    await platform.ops('PATCH', '', { connect_registered: false });
    for (const path of ['account_tokens', `accounts/${account}/person_tokens`]) {
      assertRefused(await platform.call(path, {}), { code: 'platform_registration_required' });
    }
  });
});

describe('rejected repeated and concurrent writes', () => {
  it('row 96: idempotency_error', async () => {
    const platform = await server.platform();
    const options = { idempotencyKey: 'once' };
    await platform.make('accounts', { display_name: 'One' }, options);
    assertRefused(await platform.call('accounts', { display_name: 'Two' }, options), {
      code: 'idempotency_error',
      status: 409,
      type: 'idempotency_error',
    });
  });

  it('row 97: account_rate_limit_exceeded', async () => {
    const platform = await server.platform({ update_concurrency_limit: 0 });
    assertRefused(await platform.call('accounts', {}), {
      code: 'account_rate_limit_exceeded',
      status: 429,
      type: 'rate_limit',
    });
  });
});

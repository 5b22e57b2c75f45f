// Source: accounts, sections 2, 4, 8, 11, 13, 16.5 and 17.3. Covers limits of accepted values.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { at, customer, deepMerge, merchant, SELF_COLLECTED } from '../testing/account-bodies.js';
import { assertRefused } from '../testing/refusal.js';
import { type Json, TestPlatform, textOf } from '../testing/test-platform.js';
import { testServer } from '../testing/test-server.js';

const server = testServer();
const platform = new TestPlatform(server, 'plat_default');

interface FieldFailure {
  readonly field: string;
  readonly code: string;
}

/** Returns the fields listed in `invalid_fields`. */
function failuresOf(text: string): FieldFailure[] {
  const { error } = JSON.parse(text) as {
    error: { code: string; invalid_fields: readonly FieldFailure[] };
  };
  assert.equal(error.code, 'invalid_fields', text);
  return error.invalid_fields.map(({ field, code }) => ({ field, code }));
}

const keys = (count: number, value: string | null, prefix = 'k'): Json =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, value]));

describe('metadata', () => {
  const metadataOf = (text: string): Json => (JSON.parse(text) as { metadata: Json }).metadata;

  for (const [what, make] of [
    ['an account', async () => `accounts/${await platform.make('accounts', {})}`],
    [
      'a person',
      async () => {
        const path = `accounts/${await platform.make('accounts', {})}/persons`;
        return `${path}/${await platform.make(path, {})}`;
      },
    ],
  ] as const) {
    it(`allows 50 keys of ${what} in total, over any number of requests`, async () => {
      const path = await make();
      assert.equal((await platform.call(path, { metadata: keys(50, 'v') })).status, 200);
      const one = await platform.call(path, { metadata: { another: 'v' } });
      assert.deepEqual(failuresOf(one.text), [{ field: 'metadata', code: 'too_long' }]);
      assert.deepEqual(metadataOf((await platform.call(path)).text), keys(50, 'v'));
      const swap = { ...keys(50, null), ...keys(50, 'w', 'n') };
      const swapped = await platform.call(path, { metadata: swap });
      assert.deepEqual(metadataOf(swapped.text), keys(50, 'w', 'n'), swapped.text);
    });
  }

  it('counts characters rather than UTF-16 code units', async () => {
    const metadata = { ['😀'.repeat(40)]: '😀'.repeat(500) };
    assert.deepEqual(metadataOf((await platform.call('accounts', { metadata })).text), metadata);
    for (const wrong of [{ ['😀'.repeat(41)]: 'v' }, { k: '😀'.repeat(501) }]) {
      const [failure] = failuresOf((await platform.call('accounts', { metadata: wrong })).text);
      assert.match(String(failure?.field), /^metadata\./);
    }
  });
});

describe('fields of a request', () => {
  const business = (details: Json): Json => merchant(at('identity.business_details', details));

  it('row 23: accepts a town of up to 100 characters in any script', async () => {
    const town = (name: string) => business({ address: { country: 'us', town: name } });
    await platform.make('accounts', town('𠮷'.repeat(100)));
    const response = await platform.call('accounts', town('𠮷'.repeat(101)));
    const param = 'identity.business_details.address.town';
    assertRefused(response, { code: 'address_town_invalid', ex: 'U', param });
  });

  it('accepts only valid calendar dates', async () => {
    const year = (fiscal_year_end: string) =>
      business({ annual_revenue: { amount: { value: 1, currency: 'usd' }, fiscal_year_end } });
    await platform.make('accounts', year('2024-02-29'));
    for (const day of ['2023-02-29', '2024-13-01', '2024-2-9', '20240229']) {
      const field = 'identity.business_details.annual_revenue.fiscal_year_end';
      const response = await platform.call('accounts', year(day));
      assert.deepEqual(failuresOf(response.text), [{ field, code: 'bad_format' }], day);
    }
  });

  it('accepts only timestamps and returns them in the common format', async () => {
    const path = 'identity.attestations.terms_of_service.account';
    const accepted = (date: string) =>
      merchant(SELF_COLLECTED, at(path, { date, ip: '198.51.100.7' }), { include: ['identity'] });
    for (const date of [
      'yesterday',
      '2026-02-30T00:00:00Z',
      '2026-01-01',
      '2026-01-01T00:00:00',
      '2026-01-01T25:00:00Z',
    ]) {
      const response = await platform.call('accounts', accepted(date));
      assert.deepEqual(failuresOf(response.text), [{ field: `${path}.date`, code: 'bad_format' }]);
    }
    for (const [sent, answered] of [
      ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000Z'],
      ['2026-01-01T01:30:00.123456+01:00', '2026-01-01T00:30:00.123Z'],
    ] as const) {
      const response = await platform.call('accounts', accepted(sent));
      const { identity } = JSON.parse(response.text) as {
        identity: { attestations: { terms_of_service: { account: { date: string } } } };
      };
      assert.equal(identity.attestations.terms_of_service.account.date, answered);
    }
  });

  it('row 22: knows unsupported states by name even if it knows no other state of the country', async () => {
    const state = (name: string) =>
      customer(
        at('identity', {
          country: 'ua',
          business_details: { address: { country: 'ua', state: name } },
        }),
      );
    for (const name of ['43', 'UA-43', 'Crimea', 'Avtonomna Respublika Krym', 'Крим']) {
      const response = await platform.call('accounts', state(name));
      const param = 'identity.business_details.address.state';
      assertRefused(response, { code: 'unsupported_state', ex: 'U', param });
    }
    await platform.make('accounts', state('Kyiv'));
  });

  it('distinguishes a number out of range from an invalid number', async () => {
    const sequence = (next_sequence: unknown) =>
      customer(at('configuration.customer.billing.invoice', { next_sequence }));
    const field = 'configuration.customer.billing.invoice.next_sequence';
    for (const [value, code] of [
      [1e20, 'out_of_range'],
      [1.5, 'wrong_type'],
      ['1', 'wrong_type'],
    ] as const) {
      const response = await platform.call('accounts', sequence(value));
      assert.deepEqual(failuresOf(response.text), [{ field, code }]);
    }
  });

  it('lists a hundred failures of a body with more, without delaying others', async () => {
    const withFields = (length: number) =>
      Object.fromEntries(Array.from({ length }, (_, i) => [`x${i}`, i]));
    const response = await platform.call('accounts', withFields(15_000));
    const failures = failuresOf(response.text);
    assert.equal(failures.length, 100);
    assert.deepEqual(failures[99], { field: 'x99', code: 'unknown_field' });
    const { status, text } = await platform.call('accounts', withFields(50_000));
    assert.equal(status, 400);
    assert.equal(JSON.parse(text).error.code, 'invalid_json');
  });

  it('section 14: treats names as equal regardless of case and Unicode form', async () => {
    const path = `accounts/${await platform.make('accounts', {})}/persons`;
    const date_of_birth = { day: 1, month: 2, year: 1990 };
    const first = { given_name: 'Zoe\u0301', surname: 'Strauß', date_of_birth };
    const duplicate_person_id = await platform.make(path, first);
    const response = await platform.call(path, {
      given_name: 'ZO\u00c9',
      surname: 'STRAUSS',
      date_of_birth,
    });
    const extra = { duplicate_person_id };
    const param = 'given_name';
    assertRefused(response, { code: 'duplicate_person_not_allowed', ex: 'U', param, extra });
  });
});

describe('section 11: include', () => {
  const path = 'configuration.storer';

  it('accepts the storer configuration only with its preview', async () => {
    const id = await platform.make('accounts', {});
    for (const response of [
      await platform.call(`accounts/${id}?include[0]=${path}`),
      await platform.call('accounts', { include: ['identity', path] }),
      await platform.call(`accounts/${id}`, { include: [path] }),
    ]) {
      const [failure] = failuresOf(response.text);
      assert.equal(failure?.code, 'invalid_enum');
      assert.match(String(failure?.field), /^include/);
    }
    const previewing = await server.platform({ storer_preview: true });
    const body = { ...at(path, { purpose_of_funds: 'payroll' }), include: [path] };
    const response = await previewing.call('accounts', body);
    const { configuration } = JSON.parse(response.text) as {
      configuration: { storer: { purpose_of_funds: string } };
    };
    assert.equal(configuration.storer.purpose_of_funds, 'payroll', response.text);
  });
});

describe('section 2: the head of a request', () => {
  it("responds in the platform's version if the requested one is not valid", async () => {
    const response = await platform.call('accounts', undefined, { version: 'soon' });
    assertRefused(response, { code: 'invalid_api_version' });
    for (const name of ['api-version', 'stripe-version']) {
      assert.equal(response.headers[name], '2026-10-28.endive');
    }
  });

  it('reports that a compressed body is not supported', async () => {
    const response = await server.send('/v2/core/accounts', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await platform.key()}`,
        'content-type': 'application/json',
        'content-encoding': 'gzip',
      },
      body: '{}',
    });
    assertRefused(response, { code: 'unsupported_media_type', status: 415 });
  });
});

describe('section 17.3: event destinations', () => {
  const destination: Json = {
    name: 'd',
    type: 'webhook_endpoint',
    event_payload: 'thin',
    enabled_events: ['*'],
    webhook_endpoint: { url: 'https://example.com/hook' },
  };

  it('require at least one event', async () => {
    const response = await platform.call('event_destinations', {
      ...destination,
      enabled_events: [],
    });
    assert.deepEqual(failuresOf(response.text), [
      { field: 'enabled_events', code: 'out_of_range' },
    ]);
  });

  it('return their secret only when they are created', async () => {
    const id = await platform.make('event_destinations', destination);
    const query = 'include[0]=webhook_endpoint.signing_secret';
    for (const path of [`event_destinations/${id}?${query}`, `event_destinations?${query}`]) {
      const response = await platform.call(path);
      assert.deepEqual(failuresOf(response.text), [{ field: 'include', code: 'invalid_enum' }]);
    }
  });
});

describe('section 18: test clocks', () => {
  it('except for row 85, distinguish an invalid time from one too far away', async () => {
    for (const [frozen_time, code] of [
      ['-1', 'out_of_range'],
      ['99999999999999', 'out_of_range'],
      ['1.5', 'wrong_type'],
      ['noon', 'wrong_type'],
    ] as const) {
      const response = await server.send('/v1/test_helpers/test_clocks', {
        method: 'POST',
        headers: {
          authorization: `Bearer ${await platform.key()}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: `frozen_time=${frozen_time}`,
      });
      assert.deepEqual(failuresOf(response.text), [{ field: 'frozen_time', code }], frozen_time);
    }
  });
});

describe("section 4: the operator's mistakes", () => {
  const refused = async (
    path: string,
    { method = 'PATCH', body }: { readonly method?: string; readonly body: Json },
  ) => await server.sendOps(method, `platforms/${platform.id}${path}`, body);

  it('settings refer only to existing values, and the error lists them', async () => {
    const unchanged = (await platform.ops('GET', '')).text;
    for (const [body, field, named] of [
      [{ cross_border: { allow: [['US']] } }, 'cross_border.allow.0', '2'],
      [{ cross_border: { deny: [['US', 'CA', 'MX']] } }, 'cross_border.deny.0', '2'],
      [{ cross_border: { allow: [['US', 'xx']] } }, 'cross_border.allow.0.1', 'xx'],
      [{ disabled_capabilities: ['cards', 'magic'] }, 'disabled_capabilities.1', 'card_payments'],
      [{ disabled_configurations: ['payer'] }, 'disabled_configurations.0', 'recipient'],
      [
        { private_preview_combinations: [['full', 'vendor']] },
        'private_preview_combinations.0',
        '3',
      ],
      [
        { private_preview_combinations: [['full', 'bank', 'vendor']] },
        'private_preview_combinations.0.1',
        'application_express',
      ],
      [
        { platform_country_capabilities_denied: { magic: ['US'] } },
        'platform_country_capabilities_denied.magic',
        'bank_accounts.local',
      ],
      [
        { platform_country_capabilities_denied: { cards: ['xx'] } },
        'platform_country_capabilities_denied.cards.0',
        'xx',
      ],
      [{ unsupported_states: { xx: ['1'] } }, 'unsupported_states.xx', 'xx'],
      [{ unsupported_postal_codes: { xx: ['1'] } }, 'unsupported_postal_codes.xx', 'xx'],
      [{ direct_min_api_version: '2025-13-01' }, 'direct_min_api_version', '2026-12-31'],
      [{ default_api_version: '2026-02-30.endive' }, 'default_api_version', '<YYYY-MM-DD>'],
      [{ default_api_version: '2020-01-01.endive' }, 'default_api_version', '2024-09-30'],
      [{ name: '' }, 'name', 'empty'],
    ] as const) {
      const response = await refused('', { body });
      assert.deepEqual(
        failuresOf(response.text).map((failure) => failure.field),
        [field],
      );
      const { message } = (JSON.parse(response.text) as { error: { message: string } }).error;
      assert.ok(message.includes(named), message);
    }
    assert.equal((await platform.ops('GET', '')).text, unchanged);
  });

  it('settings accept the same aliases as requests', async () => {
    const body = { disabled_capabilities: ['stripe_balance.stripe_transfers'] };
    const own = await server.platform(body);
    const request: Json = {
      identity: { country: 'us', entity_type: 'company' },
      ...at('configuration.recipient.capabilities.vendor_balance.vendor_transfers', {
        requested: true,
      }),
    };
    const response = await own.call('accounts', request);
    const param = 'configuration.recipient.capabilities.vendor_balance.vendor_transfers';
    assertRefused(response, { code: 'account_capability_not_supported', param });
    const { default_responsibilities: defaults } = JSON.parse(
      (await own.ops('PATCH', '', { default_responsibilities: { fees: 'stripe' } })).text,
    ) as { default_responsibilities: Json };
    assert.deepEqual(defaults, { fees: 'vendor', losses: 'vendor' });
  });

  it('facts about an account refer only to its own objects', async () => {
    const id = await platform.make('accounts', merchant());
    const state = `/accounts/${id}/state`;
    const restrict = { configuration: 'merchant', capability: 'magic', status: 'past_due' };
    const entry = { description: 'x', awaiting_action_from: 'user', restricts: [restrict] };
    const method = { id: 'ba', currency: 'zzz', type: 'bank_account' };
    for (const [path, body, field] of [
      [state, { cash_balance: { zzz: 1 } }, 'cash_balance.zzz'],
      [state, { payout_methods: [method] }, 'payout_methods.0.currency'],
      [state, { verify: { target: 'nobody', outcome: 'success' } }, 'verify.target'],
      [`/accounts/${id}/requirements`, entry, 'restricts.0.capability'],
    ] as const) {
      const response = await refused(path, { method: path === state ? 'PATCH' : 'POST', body });
      assert.deepEqual(failuresOf(response.text), [{ field, code: 'invalid_enum' }], response.text);
    }
    const known = deepMerge(entry, { restricts: [{ ...restrict, capability: 'card_payments' }] });
    textOf(await platform.ops('POST', `/accounts/${id}/requirements`, known), 'id');
  });
});

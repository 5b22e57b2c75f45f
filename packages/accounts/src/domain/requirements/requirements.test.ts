// Source: accounts, section 16.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { at, customer, deepMerge, merchant } from '../../testing/account-bodies.js';
import type { Json, TestPlatform } from '../../testing/test-platform.js';
import { testServer } from '../../testing/test-server.js';

const DAY_MS = 86_400_000;

const server = testServer();

interface Entry {
  readonly id: string;
  readonly awaiting_action_from: string;
  readonly description: string;
  readonly errors: readonly { readonly code: string; readonly description: string }[];
  readonly impact: {
    readonly restricts_capabilities: readonly {
      readonly capability: string;
      readonly configuration: string;
      readonly deadline: { readonly status: string };
    }[];
  };
  readonly minimum_deadline: { readonly status: string };
  readonly reference?: { readonly type: string; readonly resource: string };
  readonly requested_reasons: readonly { readonly code: string }[];
}

interface Capabilities {
  readonly card_payments?: unknown;
  readonly affirm_payments?: unknown;
  readonly automatic_indirect_tax?: unknown;
  readonly vendor_balance?: { readonly payouts?: unknown };
}

interface Account {
  readonly id: string;
  readonly created: string;
  readonly requirements: {
    readonly collector: string;
    readonly entries: readonly Entry[];
    readonly alternatives: readonly unknown[];
    readonly summary?: {
      readonly minimum_deadline: { readonly status: string; readonly time?: string };
    };
  };
  readonly future_requirements: Account['requirements'] & {
    readonly minimum_transition_date?: string;
  };
  readonly configuration: Readonly<
    Record<'customer' | 'merchant' | 'recipient', { readonly capabilities: Capabilities } | null>
  >;
}

const INCLUDE = [
  'configuration.merchant',
  'configuration.customer',
  'requirements',
  'future_requirements',
];
const QUERY = INCLUDE.map((name) => `include=${name}`).join('&');

async function create(platform: TestPlatform, body: Json, live = false): Promise<Account> {
  const response = await platform.call('accounts', { ...body, include: INCLUDE }, { live });
  assert.equal(response.status, 200, response.text);
  return JSON.parse(response.text) as Account;
}

async function update(platform: TestPlatform, id: string, body: Json): Promise<Account> {
  const response = await platform.call(`accounts/${id}`, { ...body, include: INCLUDE });
  assert.equal(response.status, 200, response.text);
  return JSON.parse(response.text) as Account;
}

async function read(platform: TestPlatform, id: string): Promise<Account> {
  const response = await platform.call(`accounts/${id}?${QUERY}`);
  assert.equal(response.status, 200, response.text);
  return JSON.parse(response.text) as Account;
}

const descriptions = ({ requirements }: Account): string[] =>
  requirements.entries.map(({ description }) => description);

function entryOf(account: Account, description: string): Entry {
  const entry = account.requirements.entries.find((one) => one.description === description);
  assert.ok(entry, `${description} is not among ${descriptions(account).join(', ')}`);
  return entry;
}

const ACTIVE = { status: 'active', status_details: [] };
const because = (status: string, code: string, resolution: string): Json => ({
  status,
  status_details: [{ code, resolution }],
});
const cardsOf = (account: Account): unknown =>
  account.configuration.merchant?.capabilities.card_payments;
const payoutsOf = (account: Account): unknown =>
  account.configuration.merchant?.capabilities.vendor_balance?.payouts;

const BUSINESS: Json = {
  registered_name: 'Furever',
  address: { country: 'us', line1: '1 Main St', city: 'Boston', state: 'MA', postal_code: '02108' },
  phone: '+16175551234',
  structure: 'private_corporation',
  id_numbers: [{ type: 'us_ein', value: '123456789' }],
};
/** A company whose data is complete except for a representative. */
const WHOLE = merchant(
  {
    identity: { business_details: BUSINESS, attestations: { persons_provided: { owners: true } } },
    configuration: { merchant: { mcc: '5734', statement_descriptor: { descriptor: 'FUREVER' } } },
  },
  at('defaults.profile.business_url', 'https://furever.example.com'),
);
const JENNY: Json = {
  given_name: 'Jenny',
  surname: 'Rosen',
  date_of_birth: { day: 1, month: 2, year: 1980 },
  email: 'jenny@example.com',
  phone: '+16175551234',
  address: { country: 'us', line1: '1 Main St', city: 'Boston', state: 'MA', postal_code: '02108' },
  id_numbers: [{ type: 'us_ssn_last_4', value: '4321' }],
  relationship: { representative: true, title: 'CEO' },
};
const IMMEDIATE = { requirements_enforcement: { test: 'immediate' } };

async function wholeAccount(
  platform: TestPlatform,
  over: { readonly account?: Json; readonly person?: Json } = {},
): Promise<Account> {
  const { id } = await create(platform, deepMerge(WHOLE, over.account ?? {}));
  await platform.make(`accounts/${id}/persons`, deepMerge(JENNY, over.person ?? {}));
  return await read(platform, id);
}

describe('requirements', () => {
  it('are eventually due for a new test account, whose capabilities are active', async () => {
    const account = await create(await server.platform(), merchant());
    assert.deepEqual(cardsOf(account), ACTIVE);
    assert.deepEqual(payoutsOf(account), ACTIVE);
    assert.equal(account.requirements.collector, 'vendor');
    const dueMs = Date.parse(account.created) + 7 * DAY_MS;
    assert.deepEqual(account.requirements.summary?.minimum_deadline, {
      status: 'eventually_due',
      time: new Date(dueMs).toISOString(),
    });
    const { id, ...entry } = entryOf(account, 'identity.business_details.address.line1');
    assert.match(id, /^reqent_[0-9A-Za-z]+$/);
    assert.deepEqual(entry, {
      awaiting_action_from: 'user',
      description: 'identity.business_details.address.line1',
      errors: [],
      impact: {
        restricts_capabilities: ['card_payments', 'vendor_balance.payouts'].map((capability) => ({
          capability,
          configuration: 'merchant',
          deadline: { status: 'eventually_due' },
        })),
      },
      minimum_deadline: { status: 'eventually_due' },
      requested_reasons: [{ code: 'routine_onboarding' }],
    });
  });

  it('are past due from the start in live mode, with restricted capabilities', async () => {
    const account = await create(await server.platform(), merchant(), true);
    const restricted = because('restricted', 'requirements_past_due', 'provide_info');
    assert.deepEqual(cardsOf(account), restricted);
    assert.deepEqual(account.requirements.summary, { minimum_deadline: { status: 'past_due' } });
  });

  it('disappear one by one as fields are added, until the account is complete', async () => {
    const platform = await server.platform(IMMEDIATE);
    const { id } = await create(platform, merchant());
    const named = await update(platform, id, at('identity.business_details', BUSINESS));
    assert.ok(!descriptions(named).some((path) => path.startsWith('identity.business_details')));
    assert.deepEqual(
      cardsOf(named),
      because('restricted', 'requirements_past_due', 'provide_info'),
    );
    await update(platform, id, WHOLE);
    await platform.make(`accounts/${id}/persons`, JENNY);
    const whole = await read(platform, id);
    assert.deepEqual(whole.requirements, { collector: 'vendor', entries: [], alternatives: [] });
    assert.deepEqual(cardsOf(whole), ACTIVE);
    const back = await update(platform, id, at('configuration.merchant.mcc', null));
    assert.deepEqual(descriptions(back), ['configuration.merchant.mcc']);
    assert.deepEqual(payoutsOf(back), ACTIVE);
  });

  it('name the person with a missing field', async () => {
    const platform = await server.platform();
    const { id } = await create(platform, WHOLE);
    const missing = { ...JENNY, email: null, relationship: { representative: true } };
    const person = await platform.make(`accounts/${id}/persons`, missing);
    const account = await read(platform, id);
    assert.deepEqual(descriptions(account), ['email', 'relationship.title']);
    const reference = { type: 'person', resource: person };
    assert.deepEqual(entryOf(account, 'email').reference, reference);
  });

  it('offer alternatives', async () => {
    const account = await create(await server.platform(), merchant());
    const option = {
      awaiting_action_from: 'user',
      description: 'defaults.profile.product_description',
      errors: [],
    };
    assert.deepEqual(account.requirements.alternatives[0], {
      options: [{ entries: [option] }],
      original_entries: [{ description: 'defaults.profile.business_url' }],
    });
    const platform = await server.platform();
    const described = deepMerge(WHOLE, {
      defaults: { profile: { business_url: null, product_description: 'Pet furniture' } },
    });
    assert.deepEqual(descriptions(await create(platform, described)), [
      'relationship.representative',
    ]);
  });

  it('keep their ids while they remain', async () => {
    const platform = await server.platform();
    const first = await create(platform, merchant());
    const second = await update(platform, first.id, { display_name: 'Furever & Co.' });
    assert.deepEqual(second.requirements, first.requirements);
  });

  it('become due with time, which a tick can simulate', async () => {
    const platform = await server.platform();
    const { id, created } = await create(platform, merchant());
    const startMs = Date.parse(created);
    const tick = async (days: number): Promise<Account> => {
      const now = new Date(startMs + days * DAY_MS).toISOString();
      await platform.ops('POST', '/tick', { now });
      return await read(platform, id);
    };
    assert.equal((await tick(5)).requirements.summary?.minimum_deadline.status, 'eventually_due');
    const lastDay = await tick(6.5);
    assert.equal(lastDay.requirements.summary?.minimum_deadline.status, 'currently_due');
    assert.deepEqual(cardsOf(lastDay), ACTIVE);
    const late = await tick(7);
    assert.deepEqual(late.requirements.summary, { minimum_deadline: { status: 'past_due' } });
    assert.deepEqual(cardsOf(late), because('restricted', 'requirements_past_due', 'provide_info'));
  });

  it('request the tax location of customers', async () => {
    const platform = await server.platform();
    const tax = at('configuration.customer.capabilities.automatic_indirect_tax.requested', true);
    const nowhere = await create(platform, customer(tax));
    const pending = because('pending', 'determining_status', 'provide_info');
    assert.deepEqual(nowhere.configuration.customer?.capabilities.automatic_indirect_tax, pending);
    assert.deepEqual(descriptions(nowhere), ['identity.country']);
    const somewhere = await update(platform, nowhere.id, at('identity.country', 'de'));
    assert.deepEqual(somewhere.configuration.customer?.capabilities.automatic_indirect_tax, ACTIVE);
    assert.deepEqual(descriptions(somewhere), []);
  });
});

describe('magic values of test mode', () => {
  const number = (value: string): Json => ({
    identity: { business_details: { id_numbers: [{ type: 'us_ein', value }] } },
  });
  const failing: readonly (readonly [name: string, over: object, path: string, code: string])[] = [
    [
      'a tax id that does not match',
      { account: number('111111111') },
      'identity.business_details.id_numbers.us_ein',
      'verification_failed_tax_id_match',
    ],
    [
      'a keyed identity that does not match',
      { account: number('111111112') },
      'identity.business_details.id_numbers.us_ein',
      'verification_failed_keyed_identity',
    ],
    [
      'an address of the business',
      { account: at('identity.business_details.address.line1', 'address_no_match') },
      'identity.business_details.address.line1',
      'verification_failed_address_match',
    ],
    [
      'an address of a person',
      { person: { address: { line1: 'address_line1_no_match' } } },
      'address.line1',
      'verification_failed_address_match',
    ],
    [
      'last digits of a person',
      { person: { id_numbers: [{ type: 'us_ssn_last_4', value: '1111' }] } },
      'id_numbers.us_ssn_last_4',
      'verification_failed_id_number_match',
    ],
    [
      'a document',
      {
        account: at('identity.business_details.documents.proof_of_address', {
          type: 'files',
          files: ['file_address_fail'],
        }),
      },
      'identity.business_details.documents.proof_of_address',
      'verification_document_failed_test_mode',
    ],
  ];
  for (const [name, over, path, code] of failing) {
    it(`fail: ${name}`, async () => {
      const account = await wholeAccount(await server.platform(), over);
      assert.deepEqual(descriptions(account), [path]);
      const entry = entryOf(account, path);
      assert.equal(entry.errors[0]?.code, code);
      assert.equal(entry.awaiting_action_from, 'user');
      assert.equal(entry.minimum_deadline.status, 'past_due');
      assert.deepEqual(entry.requested_reasons, [{ code: 'routine_verification' }]);
      const restricted = because('restricted', 'requirements_past_due', 'provide_info');
      assert.deepEqual(payoutsOf(account), restricted);
    });
  }

  for (const value of ['000000000', '222222222', '987654321']) {
    it(`succeed: ${value}`, async () => {
      const account = await wholeAccount(await server.platform(), { account: number(value) });
      assert.deepEqual(descriptions(account), []);
      assert.deepEqual(payoutsOf(account), ACTIVE);
    });
  }

  it('succeed: an individual with magic values', async () => {
    const platform = await server.platform(IMMEDIATE);
    const individual = {
      given_name: 'Jenny',
      surname: 'Rosen',
      email: 'jenny@example.com',
      phone: '0000000000',
      date_of_birth: { day: 1, month: 1, year: 1901 },
      address: {
        country: 'us',
        line1: 'address_full_match',
        city: 'Boston',
        state: 'MA',
        postal_code: '02108',
      },
      id_numbers: [{ type: 'us_ssn', value: '000-00-0000' }],
      documents: {
        primary_verification: {
          type: 'front_back',
          front_back: { front: 'file_identity_document_success' },
        },
      },
    };
    const account = await create(
      platform,
      merchant(
        { identity: { entity_type: 'individual', individual } },
        {
          configuration: {
            merchant: { mcc: '5734', statement_descriptor: { descriptor: 'FUREVER' } },
          },
        },
        at('defaults.profile.product_description', 'Pet furniture'),
      ),
    );
    assert.deepEqual(descriptions(account), []);
    assert.deepEqual(cardsOf(account), ACTIVE);
    assert.deepEqual(payoutsOf(account), ACTIVE);
  });

  it('pending: 333333333, until the operator ticks', async () => {
    const platform = await server.platform();
    const account = await wholeAccount(platform, { account: number('333333333') });
    const pending = because('pending', 'requirements_pending_verification', 'no_resolution');
    assert.deepEqual(payoutsOf(account), pending);
    const entry = entryOf(account, 'identity.business_details.id_numbers.us_ein');
    assert.equal(entry.awaiting_action_from, 'vendor');
    assert.equal(entry.minimum_deadline.status, 'currently_due');
    await platform.ops('POST', '/tick', {});
    assert.deepEqual(payoutsOf(await read(platform, account.id)), ACTIVE);
  });

  it('reject: a person born on 1900-01-01', async () => {
    const birth = { date_of_birth: { day: 1, month: 1, year: 1900 } };
    const account = await wholeAccount(await server.platform(), { person: birth });
    assert.deepEqual(cardsOf(account), because('rejected', 'rejected_listed', 'contact_vendor'));
  });

  it('are fixed by other data', async () => {
    const platform = await server.platform();
    const { id } = await wholeAccount(platform, { account: number('111111111') });
    const mended = await update(platform, id, number('123456789'));
    assert.deepEqual(descriptions(mended), []);
    assert.deepEqual(payoutsOf(mended), ACTIVE);
  });
});

describe('operator actions', () => {
  it('decide pending verifications in manual mode', async () => {
    const platform = await server.platform({ verification_mode: 'manual' });
    const account = await wholeAccount(platform);
    const pending = because('pending', 'requirements_pending_verification', 'no_resolution');
    assert.deepEqual(payoutsOf(account), pending);
    const { text } = await platform.call(`accounts/${account.id}/persons`);
    const person = (JSON.parse(text) as { data: { id: string }[] }).data[0]?.id;
    await platform.state(account.id, {
      verify: { target: `person:${person}`, outcome: 'success' },
    });
    const outcome = 'verification_failed_tax_id_match';
    await platform.state(account.id, { verify: { target: 'business', outcome } });
    const decided = await read(platform, account.id);
    assert.deepEqual(descriptions(decided), ['identity.business_details.id_numbers.us_ein']);
    assert.equal(decided.requirements.entries[0]?.errors[0]?.code, outcome);
  });

  it('reject an account and revoke the rejection', async () => {
    const platform = await server.platform();
    const { id } = await create(platform, merchant());
    await platform.state(id, { reject: { reason: 'fraud' } });
    const rejected = because('rejected', 'rejected_fraud', 'contact_vendor');
    assert.deepEqual(cardsOf(await read(platform, id)), rejected);
    await platform.state(id, { reject: null });
    assert.deepEqual(cardsOf(await read(platform, id)), ACTIVE);
  });

  const requirement = (more: Json = {}): Json => ({
    description: 'identity.business_details.registered_name',
    awaiting_action_from: 'user',
    restricts: [{ configuration: 'merchant', capability: 'card_payments', status: 'past_due' }],
    errors: [{ code: 'invalid_url_format', description: 'Not what we meant.' }],
    ...more,
  });

  it('add an entry that stays until its path is written', async () => {
    const platform = await server.platform();
    const { id } = await wholeAccount(platform);
    await platform.ops('POST', `/accounts/${id}/requirements`, requirement());
    const restricted = await read(platform, id);
    const entry = entryOf(restricted, 'identity.business_details.registered_name');
    assert.equal(entry.errors[0]?.code, 'invalid_url_format');
    assert.deepEqual(
      cardsOf(restricted),
      because('restricted', 'requirements_past_due', 'provide_info'),
    );
    assert.deepEqual(payoutsOf(restricted), ACTIVE);
    const other = await update(platform, id, { display_name: 'Furever' });
    assert.equal(descriptions(other).length, 1);
    const written = await update(
      platform,
      id,
      at('identity.business_details.registered_name', 'Furever Inc.'),
    );
    assert.deepEqual(descriptions(written), []);
    assert.deepEqual(cardsOf(written), ACTIVE);
  });

  it('add a future entry', async () => {
    const platform = await server.platform();
    const { id } = await wholeAccount(platform);
    const transition = new Date(server.clock.nowMs() + DAY_MS).toISOString();
    await platform.ops(
      'POST',
      `/accounts/${id}/requirements`,
      requirement({ description: 'inquiry', future: true, transition }),
    );
    const before = await read(platform, id);
    assert.deepEqual(descriptions(before), []);
    assert.equal(before.future_requirements.entries[0]?.description, 'inquiry');
    assert.equal(before.future_requirements.minimum_transition_date, transition);
    assert.deepEqual(cardsOf(before), ACTIVE);
    const now = new Date(Date.parse(transition) + 1).toISOString();
    await platform.ops('POST', '/tick', { now });
    const then = await read(platform, id);
    assert.deepEqual(descriptions(then), ['inquiry']);
    assert.deepEqual(then.future_requirements.entries, []);
    const entry = entryOf(then, 'inquiry').id;
    await platform.ops('DELETE', `/accounts/${id}/requirements/${entry}`);
    assert.deepEqual(descriptions(await read(platform, id)), []);
  });
});

describe('a change of identity', () => {
  it('marks a capability that was never active as unsupported', async () => {
    const platform = await server.platform(IMMEDIATE);
    const affirm = at('configuration.merchant.capabilities.affirm_payments.requested', true);
    const { id } = await create(platform, merchant(affirm));
    const moved = await update(platform, id, at('identity.country', 'de'));
    const capability = moved.configuration.merchant?.capabilities.affirm_payments;
    assert.deepEqual(capability, because('unsupported', 'unsupported_country', 'no_resolution'));
    const back = await update(platform, id, {
      identity: { country: 'us', entity_type: 'non_profit' },
    });
    assert.deepEqual(
      back.configuration.merchant?.capabilities.affirm_payments,
      because('unsupported', 'unsupported_entity_type', 'no_resolution'),
    );
  });
});

// Source: accounts, sections 10, 13 and 14. Covers rules that only an update or a close can break,
// and rows that need a registered object.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  at,
  customer,
  merchant,
  recipient,
  responsibilities,
  SELF_COLLECTED,
} from '../../../testing/account-bodies.js';
import { assertRefused, type Refusal } from '../../../testing/refusal.js';
import type { Json, TestPlatform } from '../../../testing/test-platform.js';
import { testServer } from '../../../testing/test-server.js';

const CUSTOMER_AT = 'configuration.customer';
const MERCHANT_AT = 'configuration.merchant';
const capability = (id: string, isRequested = true): Json =>
  at(`${MERCHANT_AT}.capabilities.${id}.requested`, isRequested);

const server = testServer();

interface Case extends Refusal {
  readonly name: string;
  /** Platform settings before the account is created. */
  readonly settings?: Json;
  readonly live?: boolean;
  readonly create: Json;
  /** Facts that the operator sets before the account is updated. */
  readonly state?: Json;
  /** Platform settings after the account was created. */
  readonly later?: Json;
  /** Earlier updates that must succeed. */
  readonly steps?: readonly Json[];
  readonly body: Json;
}

function refuses(cases: readonly Case[]): void {
  for (const {
    name,
    settings,
    live = false,
    create,
    state,
    later,
    steps,
    body,
    ...refusal
  } of cases) {
    it(`${name}: ${refusal.code}`, async () => {
      const platform = await server.platform(settings);
      const id = await platform.make('accounts', create, { live });
      if (state) await platform.state(id, state);
      if (later) await platform.ops('PATCH', '', later);
      for (const step of steps ?? []) await platform.make(`accounts/${id}`, step, { live });
      const earlier = await platform.call(`accounts/${id}?${ALL}`, undefined, { live });
      assertRefused(await platform.call(`accounts/${id}`, body, { live }), refusal);
      const now = await platform.call(`accounts/${id}?${ALL}`, undefined, { live });
      assert.equal(now.text, earlier.text, 'a refused update changes nothing');
    });
  }
}

const ALL = [
  'configuration.customer',
  'configuration.merchant',
  'configuration.recipient',
  'defaults',
  'identity',
  'requirements',
]
  .map((name, index) => `include[${index}]=${name}`)
  .join('&');

const GBP_MERCHANT = merchant({ identity: { country: 'gb' } });
const payoutMethod = (id: string, more: Json = {}): Json => ({
  payout_methods: [{ id, currency: 'usd', type: 'bank_account', v1: false, ...more }],
});

describe('rejected updates', () => {
  refuses([
    {
      name: 'row 28, giving up what another capability needs',
      code: 'capability_cannot_be_unrequested_due_to_other_capability_requirement',
      ex: 'U',
      param: `${MERCHANT_AT}.capabilities.card_payments`,
      create: merchant(capability('link_payments')),
      body: capability('card_payments', false),
    },
    {
      name: 'row 43, another currency after a capability was active',
      code: 'default_currency_immutable',
      ex: 'UD',
      param: 'defaults.currency',
      create: GBP_MERCHANT,
      body: at('defaults.currency', 'eur'),
    },
    {
      name: 'section 10.3, another country after a capability was active',
      code: 'immutable_identity_param',
      ex: 'U',
      param: 'identity.country',
      create: merchant(),
      body: at('identity.country', 'ca'),
    },
    {
      name: 'section 10.3, a locked identity',
      code: 'immutable_identity_param',
      ex: 'U',
      param: 'identity.business_details',
      create: merchant(),
      state: { identity_locked: true },
      body: at('identity.business_details.registered_name', 'Furever'),
    },
    {
      name: 'row 6 stands for row 5',
      code: 'account_controller_unsupported_configuration',
      ex: 'UD',
      param: 'dashboard',
      extra: {
        invalid_permutation: {
          dashboard: 'full',
          fees_collector: 'application',
          losses_collector: 'vendor',
          requirements_collector: 'vendor',
        },
      },
      settings: { unified_accounts_beta: true },
      create: merchant({ dashboard: 'full' }, responsibilities('vendor', 'vendor')),
      body: at('defaults.responsibilities.fees_collector', 'application'),
    },
    {
      name: 'row 72, becoming a merchant on a platform that is not registered',
      code: 'platform_registration_required',
      settings: { connect_registered: false },
      create: customer({ identity: { country: 'us' } }),
      body: { configuration: { merchant: {} } },
    },
    {
      name: 'row 84, a clock for who is a customer already',
      code: 'test_clock_invalid',
      param: `${CUSTOMER_AT}.test_clock`,
      create: customer(),
      body: at(`${CUSTOMER_AT}.test_clock`, 'clock_nowhere'),
    },
    {
      name: 'section 8.2, a location that nothing tells',
      code: 'customer_invalid_tax_location',
      param: `${CUSTOMER_AT}.automatic_indirect_tax.validate_location`,
      extra: {
        incorrect_fields: [{ field: 'identity.country', type: 'missing' }],
        validate_location: 'immediately',
      },
      create: customer(),
      body: at(`${CUSTOMER_AT}.automatic_indirect_tax.validate_location`, 'immediately'),
    },
    {
      name: 'section 8.2, a location checked while becoming a customer',
      code: 'cannot_use_validate_location_on_customer_create',
      param: `${CUSTOMER_AT}.automatic_indirect_tax.validate_location`,
      create: {},
      body: at(`${CUSTOMER_AT}.automatic_indirect_tax.validate_location`, 'auto'),
    },
    {
      name: 'section 8.4, a destination that the account does not have',
      code: 'default_outbound_destination_invalid',
      param: 'configuration.recipient.default_outbound_destination',
      create: recipient(),
      body: at('configuration.recipient.default_outbound_destination', 'outm_nowhere'),
    },
    {
      name: 'section 14, a payout method of the older kind',
      code: 'payout_method_incompatible_type',
      ex: 'UD',
      param: 'defaults.payout_methods.usd',
      create: merchant(),
      body: at('defaults.payout_methods.usd', 'ba_123'),
    },
    {
      name: 'section 14, a payout method that holds money',
      code: 'incompatible_default_payout_method',
      ex: 'U',
      param: 'defaults.payout_methods.usd',
      create: merchant(),
      state: payoutMethod('outm_1', { type: 'crypto_wallet' }),
      body: at('defaults.payout_methods.usd', 'outm_1'),
    },
    {
      name: 'section 10.4, deactivating a merchant that recipients are paid through',
      code: 'configuration_cannot_be_deactivated_due_to_other_capability_requirement',
      param: `${MERCHANT_AT}.applied`,
      create: merchant(
        at('configuration.recipient.capabilities.vendor_balance.vendor_transfers.requested', true),
      ),
      body: at(`${MERCHANT_AT}.applied`, false),
    },
    {
      name: 'section 10.4, deactivating a customer under unified accounts',
      code: 'configuration_cannot_be_deactivated_due_to_other_configuration',
      param: `${CUSTOMER_AT}.applied`,
      settings: { unified_accounts_beta: true },
      create: merchant(customer()),
      body: at(`${CUSTOMER_AT}.applied`, false),
    },
    {
      name: 'section 10.4, deactivating a merchant that is active in live mode',
      code: 'configuration_cannot_be_deactivated',
      param: `${MERCHANT_AT}.applied`,
      settings: { requirements_enforcement: { live: 'deferred' } },
      live: true,
      create: merchant(),
      body: at(`${MERCHANT_AT}.applied`, false),
    },
    {
      name: 'section 10.4, settings of a deactivated configuration',
      code: 'configuration_cannot_be_updated_while_deactivated',
      param: CUSTOMER_AT,
      create: merchant(customer()),
      steps: [at(`${CUSTOMER_AT}.applied`, false)],
      body: at(`${CUSTOMER_AT}.billing.invoice.footer`, 'Thanks'),
    },
    {
      name: 'section 10.4, deactivating what is not applied',
      code: 'invalid_fields',
      param: `${CUSTOMER_AT}.applied`,
      extra: {
        invalid_fields: [
          {
            field: `${CUSTOMER_AT}.applied`,
            code: 'bad_format',
            message: `${CUSTOMER_AT}.applied cannot be false: the configuration is not applied.`,
          },
        ],
      },
      create: merchant(),
      body: at(`${CUSTOMER_AT}.applied`, false),
    },
    {
      name: 'row 36 on what is applied already',
      code: 'invalid_fields',
      param: `${CUSTOMER_AT}.billing.invoice.next_sequence`,
      extra: {
        invalid_fields: [
          {
            field: `${CUSTOMER_AT}.billing.invoice.next_sequence`,
            code: 'out_of_range',
            message: `${CUSTOMER_AT}.billing.invoice.next_sequence must be at least 1, not 0.`,
          },
        ],
      },
      create: customer(),
      body: at(`${CUSTOMER_AT}.billing.invoice.next_sequence`, 0),
    },
    {
      name: 'row 19, another country than that of a stored address',
      code: 'address_country_identity_country_mismatch',
      ex: 'U',
      param: 'identity.business_details.address.country',
      create: customer({
        identity: {
          country: 'us',
          entity_type: 'company',
          business_details: { address: { country: 'us', line1: '1 Main St' } },
        },
      }),
      body: at('identity.country', 'ca'),
    },
    {
      name: 'row 29, a dashboard that a stored capability does not allow',
      code: 'capability_not_available_for_dashboard_type',
      param: 'configuration.recipient.capabilities.bank_accounts.local',
      create: recipient(),
      body: { dashboard: 'full' },
    },
  ]);

  it('section 14, becoming a merchant with an incompatible default', async () => {
    const platform = await server.platform();
    const id = await platform.make('accounts', customer({ identity: { country: 'us' } }));
    await platform.state(id, payoutMethod('outm_1'));
    await platform.make(`accounts/${id}`, at('defaults.payout_methods.usd', 'outm_1'));
    await platform.state(id, payoutMethod('outm_1', { type: 'financial_account' }));
    const response = await platform.call(`accounts/${id}`, { configuration: { merchant: {} } });
    assertRefused(response, {
      code: 'cannot_add_connect_due_to_incompatible_default_payout_method',
      ex: 'U',
      param: 'defaults.payout_methods.usd',
    });
  });
});

describe('rules that depend on objects that the operator has registered', () => {
  const methodAt = `${CUSTOMER_AT}.billing.default_payment_method`;
  const clockAt = `${CUSTOMER_AT}.test_clock`;
  const fileAt = 'identity.business_details.documents.proof_of_address';
  const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').toString('base64');
  const file = async (platform: TestPlatform, more: Json = {}): Promise<string> =>
    await platform.register('files', {
      purpose: 'account_requirement',
      filename: 'proof.png',
      content_base64: PNG,
      livemode: false,
      ...more,
    });
  const proof = (id: string): Json => at(fileAt, { type: 'files', files: [id] });

  it('row 45: default_payment_method_invalid_type', async () => {
    const platform = await server.platform();
    const id = await platform.register('payment_methods', { type: 'boleto', livemode: false });
    assertRefused(await platform.call('accounts', customer(at(methodAt, id))), {
      code: 'default_payment_method_invalid_type',
      param: methodAt,
    });
  });

  it('section 14: attach_payment_method_to_customer', async () => {
    const platform = await server.platform();
    const id = await platform.register('payment_methods', { type: 'card', livemode: false });
    const account = await platform.make('accounts', customer());
    assertRefused(await platform.call(`accounts/${account}`, at(methodAt, id)), {
      code: 'attach_payment_method_to_customer',
      ex: 'D',
      param: methodAt,
    });
  });

  it('row 44: default_payment_method_invalid for a detached method', async () => {
    const platform = await server.platform();
    const method = { type: 'card', livemode: false, detached: true };
    const id = await platform.register('payment_methods', method);
    assertRefused(await platform.call('accounts', customer(at(methodAt, id))), {
      code: 'default_payment_method_invalid',
      param: methodAt,
    });
  });

  it('row 48: document_purpose_invalid', async () => {
    const platform = await server.platform();
    const id = await file(platform, { purpose: 'identity_document' });
    assertRefused(await platform.call('accounts', merchant(proof(id))), {
      code: 'document_purpose_invalid',
      param: `${fileAt}.files.0`,
    });
  });

  it('row 47: document_invalid for a file of another account', async () => {
    const platform = await server.platform();
    const id = await file(platform);
    await platform.make('accounts', merchant(proof(id)));
    assertRefused(await platform.call('accounts', merchant(proof(id))), {
      code: 'document_invalid',
      param: `${fileAt}.files.0`,
    });
  });

  it('row 85: test_clocks_advance_in_progress', async () => {
    const platform = await server.platform();
    const nowSec = Math.floor(server.clock.nowMs() / 1000);
    const id = await platform.register('test_clocks', { frozen_time: nowSec });
    await platform.advanceClock(id, nowSec + 3600);
    assertRefused(await platform.call('accounts', customer(at(clockAt, id))), {
      code: 'test_clocks_advance_in_progress',
      param: clockAt,
    });
  });

  it('row 86: test_clocks_customer_limit_reached', async () => {
    const platform = await server.platform();
    const id = await platform.register('test_clocks', { frozen_time: 1_800_000_000 });
    for (let count = 0; count < 3; count++) {
      await platform.make('accounts', customer(at(clockAt, id)));
    }
    assertRefused(await platform.call('accounts', customer(at(clockAt, id))), {
      code: 'test_clocks_customer_limit_reached',
      param: clockAt,
    });
  });

  it('row 36: an invoice prefix is unique', async () => {
    const platform = await server.platform();
    const prefix = at(`${CUSTOMER_AT}.billing.invoice.prefix`, 'FUREVER');
    await platform.make('accounts', customer(prefix));
    assertRefused(await platform.call('accounts', customer(prefix)), {
      code: 'configuration_creation_invalid',
      ex: 'U',
      param: `${CUSTOMER_AT}.billing.invoice.prefix`,
    });
  });
});

describe('an unreachable account', () => {
  it('section 14: v1_customer_instead_of_v2_account', async () => {
    const platform = await server.platform();
    assertRefused(await platform.call('accounts/cus_123'), {
      code: 'v1_customer_instead_of_v2_account',
    });
  });

  it('section 14: v1_account_instead_of_v2_account', async () => {
    const platform = await server.platform();
    const id = await platform.make('accounts', {});
    await platform.state(id, { v1: true });
    assertRefused(await platform.call(`accounts/${id}`), {
      code: 'v1_account_instead_of_v2_account',
    });
  });

  it('section 14: account_not_yet_compatible_with_v2', async () => {
    const platform = await server.platform();
    const id = await platform.make('accounts', {});
    await platform.state(id, { incompatible_with_v2: true });
    assertRefused(await platform.call(`accounts/${id}`), {
      code: 'account_not_yet_compatible_with_v2',
    });
  });

  it('section 3: not_found for an unknown id, another platform and the other mode', async () => {
    const platform = await server.platform();
    const other = await server.platform();
    const id = await platform.make('accounts', {});
    const expected = { code: 'not_found', status: 404 };
    assertRefused(await platform.call('accounts/acct_0000000000000000'), expected);
    assertRefused(await other.call(`accounts/${id}`), expected);
    assertRefused(await platform.call(`accounts/${id}`, undefined, { live: true }), expected);
  });
});

describe('rejected closes', () => {
  interface CloseCase extends Refusal {
    readonly create: Json;
    readonly live?: boolean;
    readonly state?: Json;
    readonly later?: Json;
    readonly body?: Json;
  }
  const CASES: readonly CloseCase[] = [
    {
      code: 'configs_must_match_to_close',
      ex: 'U',
      param: 'applied_configurations',
      extra: { applied_configurations: ['customer', 'merchant'] },
      create: merchant(customer()),
      body: { applied_configurations: ['merchant'] },
    },
    {
      code: 'vendor_loss_liable_cannot_be_deleted',
      ex: 'U',
      live: true,
      create: merchant({ dashboard: 'full' }, responsibilities('vendor', 'vendor')),
    },
    {
      code: 'cannot_delete_account_with_balance',
      ex: 'U',
      create: merchant(),
      state: { cash_balance: { usd: 100 } },
    },
    {
      code: 'cannot_delete_customer_with_available_cash_balance',
      ex: 'UD',
      create: customer(),
      state: { customer_cash_balance: { usd: 100 } },
    },
    {
      code: 'pending_transactions_cannot_be_deleted',
      ex: 'U',
      create: customer(),
      state: { pending_transactions: true },
    },
    {
      code: 'platform_registration_required',
      create: merchant(SELF_COLLECTED),
      later: { connect_registered: false },
    },
  ];
  for (const { create, live = false, state, later, body = {}, ...refusal } of CASES) {
    it(`section 7.2: ${refusal.code}`, async () => {
      const platform = await server.platform();
      const id = await platform.make('accounts', create, { live });
      if (state) await platform.state(id, state);
      if (later) await platform.ops('PATCH', '', later);
      assertRefused(await platform.call(`accounts/${id}/close`, body, { live }), refusal);
    });
  }
});

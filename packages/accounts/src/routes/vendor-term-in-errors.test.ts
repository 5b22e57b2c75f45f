// Source: accounts, section 1. Covers the operator's own word in codes, values and messages.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { at, merchant, recipient, responsibilities } from '../testing/account-bodies.js';
import { assertRefused, type Refusal } from '../testing/refusal.js';
import type { Json } from '../testing/test-platform.js';
import { testServer } from '../testing/test-server.js';

const server = testServer({ 'accounts-vendor-word': 'stripe' });

describe('a server with a configured vendor name', () => {
  interface Case extends Refusal {
    readonly live?: boolean;
    readonly body: Json;
  }
  const CASES: readonly Case[] = [
    {
      code: 'account_controller_stripe_pricing_platform_liable',
      ex: 'U',
      param: 'defaults.responsibilities.losses_collector',
      body: merchant({ dashboard: 'full' }, responsibilities('stripe', 'application')),
    },
    {
      code: 'sepa_debit_stripe_creditor_identifier',
      ex: 'U',
      param: 'configuration.merchant.sepa_debit_payments.creditor_id',
      body: merchant(at('configuration.merchant.sepa_debit_payments.creditor_id', 'IE16ZZZ900001')),
    },
    {
      code: 'account_controller_unsupported_configuration',
      ex: 'UD',
      param: 'dashboard',
      extra: {
        invalid_permutation: {
          dashboard: 'none',
          fees_collector: 'stripe',
          losses_collector: 'stripe',
          requirements_collector: 'stripe',
        },
      },
      body: merchant({ dashboard: 'none' }, responsibilities('vendor', 'stripe')),
    },
    {
      code: 'capability_not_available_in_country',
      ex: 'U',
      param: 'configuration.recipient.capabilities.stripe_balance.stripe_transfers',
      body: recipient({
        identity: { country: 'ru' },
        configuration: {
          recipient: {
            capabilities: {
              bank_accounts: { local: { requested: false } },
              stripe_balance: { stripe_transfers: { requested: true } },
            },
          },
        },
      }),
    },
  ];
  for (const { body, ...refusal } of CASES) {
    it(refusal.code, async () => {
      const platform = await server.platform();
      const response = await platform.call('accounts', body);
      assertRefused(response, refusal);
      assert.ok(!response.text.includes('vendor'), response.text);
    });
  }

  it('stripe_loss_liable_cannot_be_deleted', async () => {
    const platform = await server.platform();
    const body = merchant({ dashboard: 'full' }, responsibilities('stripe', 'vendor'));
    const id = await platform.make('accounts', body, { live: true });
    assertRefused(await platform.call(`accounts/${id}/close`, {}, { live: true }), {
      code: 'stripe_loss_liable_cannot_be_deleted',
      ex: 'U',
    });
  });
});

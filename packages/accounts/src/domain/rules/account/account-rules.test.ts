import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AccountFields } from '../../../model/account/account.js';
import { ProvidedFields } from '../../../model/account/provided-fields.js';
import {
  DEFAULT_PLATFORM_SETTINGS,
  type PlatformSettings,
} from '../../../model/platform/platform-settings.js';
import { START_MS, testAccount } from '../../../testing/test-account.js';
import { RULES } from '../index.js';

// Expected values: accounts, sections 8.5 and 12. The wire tests check each code over HTTP.

/** Returns the error code for creating an account with exactly these fields. */
function codeOf(fields: AccountFields, settings: Partial<PlatformSettings> = {}) {
  return RULES.checkAccount({
    operation: 'create',
    livemode: false,
    nowMs: START_MS,
    platform: { ...DEFAULT_PLATFORM_SETTINGS, ...settings },
    facts: {
      files: new Map(),
      paymentMethods: new Map(),
      invoiceTemplateIds: new Set(),
      testClocks: new Map(),
      isInvoicePrefixTaken: false,
      openAccountCount: 0,
    },
    requestFields: fields as Parameters<typeof RULES.checkAccount>[0]['requestFields'], // the request unsets no fields
    provided: new ProvidedFields(fields),
    hasAccountToken: false,
    tokenAcceptsTerms: false,
    stored: undefined,
    merged: testAccount(fields),
    persons: [],
  })?.code;
}

const MERCHANT: AccountFields = {
  identity: { country: 'US', entity_type: 'company' },
  configuration: { merchant: {} },
};

describe('combinations of dashboard, fees and losses', () => {
  const EXPRESS = 'account_controller_express_dash_without_application_losses_or_fees';
  const PRICING = 'account_controller_vendor_pricing_platform_liable';
  const PLAIN = 'account_controller_unsupported_configuration';
  const UNIFIED = 'account_controller_ua_unsupported_configuration';
  const TABLE = [
    ['full vendor vendor', undefined, undefined],
    ['full application vendor', undefined, UNIFIED],
    ['full application application', undefined, undefined],
    ['full vendor application', PRICING, PRICING],
    ['full application_custom application', PLAIN, UNIFIED],
    ['full application_express application', PLAIN, UNIFIED],
    ['express application application', undefined, undefined],
    ['express vendor vendor', EXPRESS, EXPRESS],
    ['express application vendor', EXPRESS, EXPRESS],
    ['express vendor application', EXPRESS, EXPRESS],
    ['express application_custom application', EXPRESS, EXPRESS],
    ['express application_express application', undefined, UNIFIED],
    ['none application application', undefined, undefined],
    ['none application vendor', undefined, UNIFIED],
    ['none vendor vendor', PLAIN, UNIFIED],
    ['none vendor application', PRICING, PRICING],
    ['none application_custom application', undefined, UNIFIED],
    ['none application_express application', PLAIN, UNIFIED],
    ['- vendor vendor', undefined, undefined],
    ['- application application', undefined, undefined],
    ['- application vendor', undefined, UNIFIED],
    ['- vendor application', PRICING, PRICING],
  ] as const;

  for (const [combination, plain, unified] of TABLE) {
    it(`${combination}: ${plain ?? 'offered'}, with unified accounts ${unified ?? 'offered'}`, () => {
      const [dashboard, fees, losses] = combination.split(' ');
      const fields = {
        ...MERCHANT,
        ...(dashboard !== '-' && { dashboard }),
        defaults: { responsibilities: { fees_collector: fees, losses_collector: losses } },
      } as AccountFields; // the table uses wire values
      assert.equal(codeOf(fields), plain);
      assert.equal(codeOf(fields, { unified_accounts_beta: true }), unified);
    });
  }
});

describe('the order of checks', () => {
  /** Violates a rule of every step. Fixing the violations one by one reveals the next violation. */
  const broken: AccountFields = {
    contact_email: 'nope',
    contact_phone: '12',
    dashboard: 'none',
    identity: {
      country: 'US',
      entity_type: 'company',
      business_details: { structure: 'free_zone_llc' },
      attestations: { ownership_declaration: { date: '2026-11-01T00:00:00.000Z' } },
    },
    configuration: {
      customer: { billing: { invoice: { prefix: 'x' } } },
      merchant: {
        mcc: '0000',
        capabilities: { affirm_payments: { requested: true }, link_payments: { requested: true } },
      },
      storer: {},
    },
    defaults: {
      currency: 'eur',
      timezone: 'Nowhere',
      responsibilities: { fees_collector: 'vendor', losses_collector: 'vendor' },
    },
  };
  const { storer: _, ...configuration } = broken.configuration ?? {};
  const { structure: __, ...business_details } = broken.identity?.business_details ?? {};
  const STEPS: readonly (readonly [code: string | undefined, mend: AccountFields])[] = [
    ['account_configuration_not_supported', { configuration }],
    ['account_controller_unsupported_configuration', { dashboard: 'full' }],
    [
      'structure_incompatible_for_entity_type_country',
      { identity: { ...broken.identity, business_details } },
    ],
    ['email_invalid', { contact_email: 'a@example.com' }],
    ['phone_invalid', { contact_phone: '+16175551234' }],
    ['configuration_creation_invalid', { configuration: { ...configuration, customer: {} } }],
    [
      'mcc_invalid',
      {
        configuration: {
          merchant: { capabilities: { link_payments: { requested: true } } },
        },
      },
    ],
    ['account_country_unsupported_currency', { defaults: { timezone: 'Nowhere' } }],
    ['invalid_timezone', { defaults: {} }],
    ['capability_not_available_without_other_capability', { configuration: { merchant: {} } }],
    [
      'ownership_declaration_not_allowed_during_account_creation',
      { identity: { country: 'US', entity_type: 'company' } },
    ],
    [undefined, {}],
  ];

  it('is the order of section 12', () => {
    let fields = broken;
    for (const [code, mend] of STEPS) {
      assert.equal(codeOf(fields), code);
      fields = { ...fields, ...mend };
    }
    assert.equal(codeOf(broken, { state: 'rejected' }), 'cannot_create_new_account_rejected');
  });
});

// Source: accounts, section 13. Covers every row that a create can break, by number.
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
import type { Json } from '../../../testing/test-platform.js';
import { testServer } from '../../../testing/test-server.js';

interface Case extends Refusal {
  readonly row: number;
  /** Platform settings, merged into the defaults. */
  readonly settings?: Json;
  readonly live?: boolean;
  readonly version?: string;
  readonly body: Json;
  /** Distinguishes cases of the same row. */
  readonly when?: string;
}

const row = (row: number, code: string, ex: Refusal['ex'] = '', param?: string) => ({
  ...{ row, code, ex },
  ...(param !== undefined && { param }),
});

const BUSINESS = 'identity.business_details';
const MERCHANT_AT = 'configuration.merchant';
const CUSTOMER_AT = 'configuration.customer';
const capability = (id: string, owner = 'merchant'): Json =>
  at(`configuration.${owner}.capabilities.${id}.requested`, true);
const address = (members: Json): Json => at(`${BUSINESS}.address`, { country: 'us', ...members });
const COMPANY_IN = (country: string): Json => ({ identity: { country, entity_type: 'company' } });
const individual = (members: Json, country = 'us'): Json => ({
  identity: { country, entity_type: 'individual', individual: members },
});

const PLATFORM_CASES: readonly Case[] = [
  {
    ...row(17, 'accounts_v2_access_blocked', 'U'),
    settings: { accounts_v2_enabled: false },
    body: {},
  },
  {
    ...row(66, 'non_connect_platform_accounts_v2_access_blocked'),
    settings: { connect_registered: false },
    version: '2025-12-14.clover',
    body: {},
  },
  {
    ...row(27, 'cannot_create_new_account_rejected'),
    settings: { state: 'rejected' },
    body: customer(),
  },
  {
    ...row(26, 'cannot_create_connected_account', 'D'),
    settings: { state: 'invalid' },
    body: merchant(),
  },
  {
    ...row(72, 'platform_registration_required'),
    settings: { connect_registered: false },
    body: merchant(),
  },
  {
    ...row(9, 'account_create_activation_required', 'D'),
    settings: { activated: { test: false } },
    body: merchant(),
  },
  {
    ...row(38, 'connect_profile_not_submitted', 'D'),
    settings: { profile_submitted: false },
    body: merchant(),
  },
  {
    ...row(37, 'connect_identity_not_verified', 'D'),
    settings: { identity_verified: false },
    live: true,
    body: merchant(),
  },
  {
    ...row(10, 'account_creation_invalid', 'U'),
    when: 'there are too many accounts',
    settings: { max_accounts: 0 },
    body: customer(),
  },
  {
    ...row(10, 'account_creation_invalid', 'U', 'contact_email'),
    when: 'a merchant cannot be reached',
    settings: { require_contact_email: true },
    body: merchant({ contact_email: null }),
  },
  {
    ...row(
      1,
      'account_capability_not_supported',
      '',
      `${MERCHANT_AT}.capabilities.affirm_payments`,
    ),
    settings: { disabled_capabilities: ['affirm_payments'] },
    body: merchant(capability('affirm_payments')),
  },
  {
    ...row(2, 'account_configuration_not_supported', 'U', 'configuration.recipient'),
    when: 'a configuration is disabled',
    settings: { disabled_configurations: ['recipient'] },
    body: recipient(),
  },
  {
    ...row(2, 'account_configuration_not_supported', 'U', 'configuration.storer'),
    when: 'the storer is not previewed',
    body: { configuration: { storer: {} } },
  },
  {
    ...row(
      52,
      'high_risk_activities_none_cant_be_combined_with_other_options',
      '',
      'configuration.storer.high_risk_activities',
    ),
    body: at('configuration.storer.high_risk_activities', ['none', 'gambling']),
  },
  {
    ...row(
      74,
      'purpose_of_funds_description_must_be_empty_for_non_other_purpose_of_funds',
      '',
      'configuration.storer.purpose_of_funds_description',
    ),
    body: at('configuration.storer', {
      purpose_of_funds: 'payroll',
      purpose_of_funds_description: 'Wages',
    }),
  },
];

const permutation = (
  dashboard: string,
  fees: string,
  losses: string,
  requirements: string,
): Json => ({
  invalid_permutation: {
    dashboard,
    fees_collector: fees,
    losses_collector: losses,
    requirements_collector: requirements,
  },
});

const RESPONSIBILITY_CASES: readonly Case[] = [
  {
    ...row(90, 'unsupported_field_for_configs', 'U', 'defaults.responsibilities'),
    body: customer(responsibilities('vendor', 'vendor')),
  },
  {
    ...row(
      3,
      'account_controller_express_dash_without_application_losses_or_fees',
      'U',
      'dashboard',
    ),
    body: merchant({ dashboard: 'express' }, responsibilities('vendor', 'vendor')),
  },
  {
    ...row(
      4,
      'account_controller_vendor_pricing_platform_liable',
      'U',
      'defaults.responsibilities.losses_collector',
    ),
    body: merchant({ dashboard: 'full' }, responsibilities('vendor', 'application')),
  },
  {
    ...row(5, 'account_controller_ua_unsupported_configuration', 'UD', 'dashboard'),
    extra: permutation('full', 'application', 'vendor', 'vendor'),
    settings: { unified_accounts_beta: true },
    body: merchant({ dashboard: 'full' }, responsibilities('application', 'vendor')),
  },
  {
    ...row(6, 'account_controller_unsupported_configuration', 'UD', 'dashboard'),
    extra: permutation('none', 'vendor', 'vendor', 'vendor'),
    body: merchant({ dashboard: 'none' }, responsibilities('vendor', 'vendor')),
  },
  {
    ...row(
      6,
      'account_controller_unsupported_configuration',
      'UD',
      'defaults.responsibilities.requirements_collector',
    ),
    when: 'the collector of requirements is another',
    extra: permutation('full', 'vendor', 'vendor', 'vendor'),
    body: merchant({ dashboard: 'full' }, responsibilities('vendor', 'vendor'), {
      defaults: { responsibilities: { requirements_collector: 'application' } },
    }),
  },
  {
    ...row(7, 'account_controller_unsupported_configuration_private_preview', 'U', 'dashboard'),
    settings: {
      responsibilities_private_preview: true,
      private_preview_combinations: [['none', 'application', 'application']],
    },
    body: merchant({ dashboard: 'full' }, responsibilities('vendor', 'vendor')),
  },
  {
    ...row(
      12,
      'account_creation_losses_collector_unavailable',
      'D',
      'defaults.responsibilities.losses_collector',
    ),
    settings: { losses_collector_available: { vendor: false } },
    body: merchant(),
  },
  {
    ...row(
      13,
      'account_creation_requirement_collection_and_liability_unacknowledged',
      'D',
      'defaults.responsibilities',
    ),
    settings: { acknowledged: { liability: false, requirement_collection: false } },
    body: merchant(SELF_COLLECTED),
  },
  {
    ...row(
      11,
      'account_creation_liability_unacknowledged',
      'D',
      'defaults.responsibilities.losses_collector',
    ),
    settings: { acknowledged: { liability: false } },
    body: merchant({ dashboard: 'full' }, responsibilities('application', 'application')),
  },
  {
    ...row(
      14,
      'account_creation_requirement_collection_unacknowledged',
      'D',
      'defaults.responsibilities',
    ),
    settings: { acknowledged: { requirement_collection: false } },
    body: merchant(SELF_COLLECTED),
  },
  {
    ...row(
      25,
      'can_create_platform_owned_onboarding_accounts_required',
      'U',
      'defaults.responsibilities',
    ),
    settings: { dormant: true },
    body: merchant(SELF_COLLECTED),
  },
  {
    ...row(40, 'custom_account_beta', 'U', 'identity.country'),
    settings: { country: 'BR' },
    body: merchant(SELF_COLLECTED, COMPANY_IN('br')),
  },
  {
    ...row(39, 'cross_border_connected_account_creation_not_allowed', 'UD', 'identity.country'),
    body: merchant(COMPANY_IN('br')),
  },
  {
    ...row(16, 'account_token_required', 'UD', BUSINESS),
    settings: { country: 'FR' },
    body: merchant(SELF_COLLECTED, COMPANY_IN('fr'), at(`${BUSINESS}.registered_name`, 'Furever')),
  },
];

const IDENTITY_CASES: readonly Case[] = [
  {
    ...row(91, 'unsupported_identity_field_for_configs', 'U', `${BUSINESS}.structure`),
    body: customer(COMPANY_IN('us'), at(`${BUSINESS}.structure`, 'llc')),
  },
  {
    ...row(54, 'identity_country_required', '', 'identity.country'),
    body: merchant({ identity: { country: null } }),
  },
  {
    ...row(51, 'entity_type_not_supported_in_country', 'D', 'identity.entity_type'),
    body: merchant({ identity: { country: 'ca', entity_type: 'government_entity' } }),
  },
  {
    ...row(82, 'structure_incompatible_for_entity_type_country', '', `${BUSINESS}.structure`),
    body: merchant(at(`${BUSINESS}.structure`, 'free_zone_llc')),
  },
];

const FIELD_CASES: readonly Case[] = [
  {
    ...row(49, 'email_domain_invalid_for_recipient', 'U', 'contact_email'),
    body: recipient({ contact_email: 'jenny@eu.mailinator.com' }),
  },
  {
    ...row(50, 'email_invalid', 'U', 'contact_email'),
    body: { contact_email: 'jenny.example.com' },
  },
  { ...row(71, 'phone_invalid', 'U', 'contact_phone'), body: { contact_phone: '+1 12' } },
  {
    ...row(93, 'url_invalid', 'U', 'defaults.profile.business_url'),
    body: at('defaults.profile.business_url', 'ftp://furever.example.com'),
  },
  {
    ...row(64, 'ip_address_invalid', '', `${CUSTOMER_AT}.automatic_indirect_tax.ip_address`),
    body: customer(at(`${CUSTOMER_AT}.automatic_indirect_tax.ip_address`, '300.1.1.1')),
  },
  {
    ...row(42, 'date_of_birth_invalid', 'U', 'identity.individual.date_of_birth'),
    body: merchant(individual({ date_of_birth: { day: 30, month: 2, year: 1990 } })),
  },
  {
    ...row(41, 'date_of_birth_age_restriction', 'U', 'identity.individual.date_of_birth'),
    extra: { age_limit: '13' },
    body: merchant(
      individual({ date_of_birth: { day: 1, month: 1, year: 2017 } }), // the test clock is in 2026
    ),
  },
  {
    ...row(75, 'registration_date_invalid', 'U', `${BUSINESS}.registration_date`),
    body: merchant(at(`${BUSINESS}.registration_date`, { day: 1, month: 1, year: 2999 })),
  },
  {
    ...row(18, 'address_characters_invalid', 'U', `${BUSINESS}.address.line1`),
    body: merchant(address({ line1: '1 Main <Street>' })),
  },
  {
    ...row(19, 'address_country_identity_country_mismatch', 'U', `${BUSINESS}.address.country`),
    body: merchant(address({ country: 'CA' })),
  },
  {
    ...row(67, 'non_jp_kana_kanji_address', 'U', `${BUSINESS}.script_addresses.kana.country`),
    body: merchant(at(`${BUSINESS}.script_addresses.kana`, { country: 'US' })),
  },
  {
    ...row(73, 'postal_code_required_for_jp_address', 'U', `${BUSINESS}.address.postal_code`),
    body: merchant(COMPANY_IN('jp'), address({ country: 'JP', line1: '1-1' })),
  },
  {
    ...row(20, 'address_postal_code_invalid', 'U', `${BUSINESS}.address.postal_code`),
    body: merchant(address({ postal_code: 'ABC 12' })),
  },
  {
    ...row(21, 'address_state_invalid', 'U', `${BUSINESS}.address.state`),
    body: merchant(address({ state: 'Bavaria' })),
  },
  {
    ...row(23, 'address_town_invalid', 'U', `${BUSINESS}.address.town`),
    body: merchant(address({ town: '!!' })),
  },
  {
    ...row(22, 'unsupported_state', 'U', `${BUSINESS}.address.state`),
    body: merchant(address({ state: 'AE' })),
  },
  {
    ...row(92, 'unsupported_postal_code', 'U', `${BUSINESS}.address.postal_code`),
    body: merchant(address({ postal_code: '09012' })),
  },
  {
    ...row(76, 'script_characters_invalid', 'U', `${BUSINESS}.script_names.kana.registered_name`),
    when: 'kana are not kana',
    body: merchant(
      COMPANY_IN('jp'),
      at(`${BUSINESS}.script_names.kana.registered_name`, '株式会社'),
    ),
  },
  {
    ...row(
      76,
      'script_characters_invalid',
      'U',
      `${MERCHANT_AT}.script_statement_descriptor.kanji.descriptor`,
    ),
    when: 'kanji are neither kanji nor kana',
    body: merchant(
      COMPANY_IN('jp'),
      at(`${MERCHANT_AT}.script_statement_descriptor.kanji.descriptor`, 'ФУР'),
    ),
  },
  {
    ...row(53, 'id_number_invalid', 'U', `${BUSINESS}.id_numbers.0.value`),
    body: merchant(at(`${BUSINESS}.id_numbers`, [{ type: 'us_ein', value: '12-34' }])),
  },
  {
    ...row(53, 'id_number_invalid', 'U', `${BUSINESS}.id_numbers.0.value`),
    when: 'a check digit is wrong and checked',
    settings: { id_number_checksums: true },
    body: merchant(
      COMPANY_IN('de'),
      at(`${BUSINESS}.id_numbers`, [{ type: 'de_vat', value: 'DE136695977' }]),
    ),
  },
  {
    ...row(55, 'incorrect_id_number_for_country', 'U', `${BUSINESS}.id_numbers.0.type`),
    body: merchant(at(`${BUSINESS}.id_numbers`, [{ type: 'de_vat', value: 'DE136695976' }])),
  },
  {
    ...row(55, 'incorrect_id_number_for_country', 'U', `${BUSINESS}.id_numbers.0.type`),
    when: 'the number has no form either',
    body: merchant(at(`${BUSINESS}.id_numbers`, [{ type: 'de_vat', value: 'DE1' }])),
  },
  {
    ...row(57, 'invalid_id_number_for_structure', 'U', `${BUSINESS}.id_numbers.0.type`),
    body: merchant(
      COMPANY_IN('fr'),
      at(`${BUSINESS}.id_numbers`, [{ type: 'fr_rna', value: 'W123456789' }]),
    ),
  },
  {
    ...row(58, 'invalid_id_number_registrar', 'D', `${BUSINESS}.id_numbers.0.registrar`),
    body: merchant(
      COMPANY_IN('de'),
      at(`${BUSINESS}.id_numbers`, [
        { type: 'de_hrn', value: 'HRB 1234', registrar: 'Springfield' },
      ]),
    ),
  },
  {
    ...row(47, 'document_invalid', '', `${BUSINESS}.documents.proof_of_address.files.0`),
    body: merchant(
      at(`${BUSINESS}.documents.proof_of_address`, { type: 'files', files: ['file_nowhere'] }),
    ),
  },
  {
    ...row(
      70,
      'person_percent_ownership_invalid',
      'U',
      'identity.individual.relationship.percent_ownership',
    ),
    body: merchant(individual({ relationship: { owner: true, percent_ownership: '0.00' } })),
  },
];

const SETTING_CASES: readonly Case[] = [
  {
    ...row(36, 'configuration_creation_invalid', 'U', `${CUSTOMER_AT}.billing.invoice.prefix`),
    when: 'an invoice prefix has another form',
    body: customer(at(`${CUSTOMER_AT}.billing.invoice.prefix`, 'ab')),
  },
  {
    ...row(
      36,
      'configuration_creation_invalid',
      'U',
      `${CUSTOMER_AT}.billing.invoice.custom_fields`,
    ),
    when: 'there are five custom fields',
    body: customer(
      at(
        `${CUSTOMER_AT}.billing.invoice.custom_fields`,
        ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, value: '1' })),
      ),
    ),
  },
  {
    ...row(36, 'configuration_creation_invalid', 'U', `${MERCHANT_AT}.branding.primary_color`),
    when: 'a colour is none',
    body: merchant(at(`${MERCHANT_AT}.branding.primary_color`, 'blue')),
  },
  {
    ...row(
      44,
      'default_payment_method_invalid',
      '',
      `${CUSTOMER_AT}.billing.default_payment_method`,
    ),
    body: customer(at(`${CUSTOMER_AT}.billing.default_payment_method`, 'pm_nowhere')),
  },
  {
    ...row(
      63,
      'invoice_rendering_template_invalid',
      '',
      `${CUSTOMER_AT}.billing.invoice.rendering.template`,
    ),
    body: customer(at(`${CUSTOMER_AT}.billing.invoice.rendering.template`, 'inrtem_nowhere')),
  },
  {
    ...row(79, 'shipping_address_required', '', `${CUSTOMER_AT}.shipping.address`),
    body: customer(at(`${CUSTOMER_AT}.shipping.name`, 'Jenny Rosen')),
  },
  {
    ...row(80, 'shipping_name_required', '', `${CUSTOMER_AT}.shipping.name`),
    body: customer(at(`${CUSTOMER_AT}.shipping.address`, { country: 'US', line1: '1 Main St' })),
  },
  {
    ...row(83, 'test_clock_disallowed_on_live_mode', '', `${CUSTOMER_AT}.test_clock`),
    live: true,
    body: customer(at(`${CUSTOMER_AT}.test_clock`, 'clock_nowhere')),
  },
  {
    ...row(84, 'test_clock_invalid', '', `${CUSTOMER_AT}.test_clock`),
    body: customer(at(`${CUSTOMER_AT}.test_clock`, 'clock_nowhere')),
  },
  {
    ...row(
      59,
      'invalid_konbini_payments_support_hours',
      '',
      `${MERCHANT_AT}.konbini_payments.support.hours.start_time`,
    ),
    when: 'an hour is none',
    body: merchant(
      at(`${MERCHANT_AT}.konbini_payments.support.hours`, {
        start_time: '25:00',
        end_time: '26:00',
      }),
    ),
  },
  {
    ...row(
      59,
      'invalid_konbini_payments_support_hours',
      '',
      `${MERCHANT_AT}.konbini_payments.support.hours.start_time`,
    ),
    when: 'the end comes first',
    body: merchant(
      at(`${MERCHANT_AT}.konbini_payments.support.hours`, {
        start_time: '18:00',
        end_time: '09:00',
      }),
    ),
  },
  {
    ...row(
      60,
      'invalid_konbini_payments_support_phone_number',
      'U',
      `${MERCHANT_AT}.konbini_payments.support.phone`,
    ),
    body: merchant(at(`${MERCHANT_AT}.konbini_payments.support.phone`, '+14155552671')),
  },
  {
    ...row(
      61,
      'invalid_sepa_creditor_id_format',
      'U',
      `${MERCHANT_AT}.sepa_debit_payments.creditor_id`,
    ),
    body: merchant(at(`${MERCHANT_AT}.sepa_debit_payments.creditor_id`, 'DE97ZZZ09999999999')),
  },
  {
    ...row(
      77,
      'sepa_debit_creditor_identifier_not_allowed',
      'U',
      `${MERCHANT_AT}.sepa_debit_payments.creditor_id`,
    ),
    body: merchant(at(`${MERCHANT_AT}.sepa_debit_payments.creditor_id`, 'ie06 zzz 900666')),
  },
  {
    ...row(
      78,
      'sepa_debit_vendor_creditor_identifier',
      'U',
      `${MERCHANT_AT}.sepa_debit_payments.creditor_id`,
    ),
    body: merchant(at(`${MERCHANT_AT}.sepa_debit_payments.creditor_id`, 'IE16ZZZ900001')),
  },
  {
    ...row(65, 'mcc_invalid', 'UD', `${MERCHANT_AT}.mcc`),
    body: merchant(at(`${MERCHANT_AT}.mcc`, '9999')),
  },
  {
    ...row(
      81,
      'statement_descriptor_invalid',
      'U',
      `${MERCHANT_AT}.statement_descriptor.descriptor`,
    ),
    when: 'a descriptor is too short',
    body: merchant(at(`${MERCHANT_AT}.statement_descriptor.descriptor`, 'FUR')),
  },
  {
    ...row(81, 'statement_descriptor_invalid', 'U', `${MERCHANT_AT}.statement_descriptor.prefix`),
    when: 'a prefix has a star',
    body: merchant(at(`${MERCHANT_AT}.statement_descriptor.prefix`, 'FUR*')),
  },
  {
    ...row(24, 'bgn_bank_accounts_unsupported', 'UD', 'defaults.currency'),
    body: merchant(COMPANY_IN('bg'), at('defaults.currency', 'BGN')),
  },
  {
    ...row(8, 'account_country_unsupported_currency', '', 'defaults.currency'),
    body: merchant(at('defaults.currency', 'eur')),
  },
  {
    ...row(62, 'invalid_timezone', '', 'defaults.timezone'),
    when: 'there is no such place',
    body: at('defaults.timezone', 'Mars/Olympus'),
  },
  {
    ...row(62, 'invalid_timezone', '', 'defaults.timezone'),
    when: 'it is an offset',
    body: at('defaults.timezone', '+01:00'),
  },
];

const CAPABILITY_CASES: readonly Case[] = [
  {
    ...row(
      33,
      'capability_not_available_in_platform_country',
      '',
      'configuration.recipient.capabilities.cards',
    ),
    settings: { country: 'JP' },
    body: recipient(capability('cards', 'recipient')),
  },
  {
    ...row(
      32,
      'capability_not_available_in_country',
      'U',
      `${MERCHANT_AT}.capabilities.affirm_payments`,
    ),
    body: merchant(COMPANY_IN('de'), capability('affirm_payments')),
  },
  {
    ...row(
      30,
      'capability_not_available_for_entity_type_in_country',
      'U',
      `${MERCHANT_AT}.capabilities.klarna_payments`,
    ),
    body: merchant({ identity: { entity_type: 'non_profit' } }, capability('klarna_payments')),
  },
  {
    ...row(
      29,
      'capability_not_available_for_dashboard_type',
      '',
      'configuration.recipient.capabilities.bank_accounts.local',
    ),
    body: recipient({ dashboard: 'full' }),
  },
  {
    ...row(
      31,
      'capability_not_available_for_loss_collector',
      'U',
      'configuration.recipient.capabilities.cards',
    ),
    body: recipient(capability('cards', 'recipient')),
  },
  {
    ...row(
      34,
      'capability_not_available_without_other_capability',
      'U',
      `${MERCHANT_AT}.capabilities.link_payments`,
    ),
    body: merchant(
      at(`${MERCHANT_AT}.capabilities.card_payments.requested`, false),
      capability('link_payments'),
    ),
  },
  {
    ...row(
      35,
      'capability_not_available_without_other_capability_in_country',
      'U',
      `${MERCHANT_AT}.capabilities.konbini_payments`,
    ),
    body: merchant(
      COMPANY_IN('jp'),
      at(`${MERCHANT_AT}.capabilities.card_payments.requested`, false),
      capability('konbini_payments'),
    ),
  },
];

const ACCEPTANCE = { date: '2026-11-01T00:00:00.000Z', ip: '127.0.0.1' };

const ATTESTATION_CASES: readonly Case[] = [
  {
    ...row(
      15,
      'account_terms_of_service_not_accepted',
      '',
      'identity.attestations.terms_of_service.account',
    ),
    settings: { merchant_requires_terms: true },
    body: merchant(),
  },
  {
    ...row(
      46,
      'directorship_declaration_not_allowed_during_account_creation',
      'U',
      'identity.attestations.directorship_declaration',
    ),
    body: merchant(at('identity.attestations.directorship_declaration', ACCEPTANCE)),
  },
  {
    ...row(
      68,
      'ownership_declaration_not_allowed_during_account_creation',
      'U',
      'identity.attestations.ownership_declaration',
    ),
    body: merchant(at('identity.attestations.ownership_declaration', ACCEPTANCE)),
  },
  {
    ...row(
      89,
      'tos_acceptance_on_behalf_not_allowed',
      'U',
      'identity.attestations.terms_of_service.account',
    ),
    body: merchant(at('identity.attestations.terms_of_service.account', ACCEPTANCE)),
  },
];

const server = testServer();

function refuses(cases: readonly Case[]): void {
  for (const { row, when, settings, live, version, body, ...refusal } of cases) {
    it(`row ${row}: ${refusal.code}${when ? ` when ${when}` : ''}`, async () => {
      const platform = await server.platform(settings);
      const options = { ...(live && { live }), ...(version !== undefined && { version }) };
      assertRefused(await platform.call('accounts', body, options), refusal);
    });
  }
}

describe('rejected creates: state of the platform', () => refuses(PLATFORM_CASES));
describe('rejected creates: responsibilities', () => refuses(RESPONSIBILITY_CASES));
describe('rejected creates: kind of entity', () => refuses(IDENTITY_CASES));
describe('rejected creates: fields', () => refuses(FIELD_CASES));
describe('rejected creates: settings', () => refuses(SETTING_CASES));
describe('rejected creates: capabilities', () => refuses(CAPABILITY_CASES));
describe('rejected creates: attestations', () => refuses(ATTESTATION_CASES));

describe('registrars', () => {
  for (const { type, registrar, problem } of [
    {
      type: 'us_ein',
      registrar: 'Amtsgericht München',
      problem: 'is allowed only with types that start with de_; omit it.',
    },
    {
      type: 'de_hrn',
      registrar: 'Springfield',
      problem:
        '"Springfield" is not a German register court; use a name such as "Amtsgericht München".',
    },
  ]) {
    it(`names the fix for "${registrar}" with the type ${type}`, async () => {
      const platform = await server.platform();
      const value = type === 'us_ein' ? '12-3456789' : 'HRB 1234';
      const body = merchant(
        COMPANY_IN(type.slice(0, 2)),
        at(`${BUSINESS}.id_numbers`, [{ type, value, registrar }]),
      );
      const { text } = await platform.call('accounts', body);
      const { error } = JSON.parse(text) as { error: { message: string } };
      assert.equal(error.message, `${BUSINESS}.id_numbers.0.registrar ${problem}`);
    });
  }
});

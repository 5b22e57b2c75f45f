// Source: accounts, section 13: every row that a create can break, by its number.
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
  /** Of the platform, merged into the defaults. */
  readonly settings?: Json;
  readonly live?: boolean;
  readonly version?: string;
  readonly body: Json;
  /** Told apart from others of its row. */
  readonly when?: string;
}

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
    row: 17,
    code: 'accounts_v2_access_blocked',
    ex: 'U',
    settings: { accounts_v2_enabled: false },
    body: {},
  },
  {
    row: 66,
    code: 'non_connect_platform_accounts_v2_access_blocked',
    settings: { connect_registered: false },
    version: '2025-12-14.clover',
    body: {},
  },
  {
    row: 27,
    code: 'cannot_create_new_account_rejected',
    settings: { state: 'rejected' },
    body: customer(),
  },
  {
    row: 26,
    code: 'cannot_create_connected_account',
    ex: 'D',
    settings: { state: 'invalid' },
    body: merchant(),
  },
  {
    row: 72,
    code: 'platform_registration_required',
    settings: { connect_registered: false },
    body: merchant(),
  },
  {
    row: 9,
    code: 'account_create_activation_required',
    ex: 'D',
    settings: { activated: { test: false } },
    body: merchant(),
  },
  {
    row: 38,
    code: 'connect_profile_not_submitted',
    ex: 'D',
    settings: { profile_submitted: false },
    body: merchant(),
  },
  {
    row: 37,
    code: 'connect_identity_not_verified',
    ex: 'D',
    settings: { identity_verified: false },
    live: true,
    body: merchant(),
  },
  {
    row: 10,
    when: 'there are too many accounts',
    code: 'account_creation_invalid',
    ex: 'U',
    settings: { max_accounts: 0 },
    body: customer(),
  },
  {
    row: 10,
    when: 'a merchant cannot be reached',
    code: 'account_creation_invalid',
    ex: 'U',
    param: 'contact_email',
    settings: { require_contact_email: true },
    body: merchant({ contact_email: null }),
  },
  {
    row: 1,
    code: 'account_capability_not_supported',
    param: `${MERCHANT_AT}.capabilities.affirm_payments`,
    settings: { disabled_capabilities: ['affirm_payments'] },
    body: merchant(capability('affirm_payments')),
  },
  {
    row: 2,
    when: 'a configuration is disabled',
    code: 'account_configuration_not_supported',
    ex: 'U',
    param: 'configuration.recipient',
    settings: { disabled_configurations: ['recipient'] },
    body: recipient(),
  },
  {
    row: 2,
    when: 'the storer is not previewed',
    code: 'account_configuration_not_supported',
    ex: 'U',
    param: 'configuration.storer',
    body: { configuration: { storer: {} } },
  },
  {
    row: 52,
    code: 'high_risk_activities_none_cant_be_combined_with_other_options',
    param: 'configuration.storer.high_risk_activities',
    body: at('configuration.storer.high_risk_activities', ['none', 'gambling']),
  },
  {
    row: 74,
    code: 'purpose_of_funds_description_must_be_empty_for_non_other_purpose_of_funds',
    param: 'configuration.storer.purpose_of_funds_description',
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
    row: 90,
    code: 'unsupported_field_for_configs',
    ex: 'U',
    param: 'defaults.responsibilities',
    body: customer(responsibilities('vendor', 'vendor')),
  },
  {
    row: 3,
    code: 'account_controller_express_dash_without_application_losses_or_fees',
    ex: 'U',
    param: 'dashboard',
    body: merchant({ dashboard: 'express' }, responsibilities('vendor', 'vendor')),
  },
  {
    row: 4,
    code: 'account_controller_vendor_pricing_platform_liable',
    ex: 'U',
    param: 'defaults.responsibilities.losses_collector',
    body: merchant({ dashboard: 'full' }, responsibilities('vendor', 'application')),
  },
  {
    row: 5,
    code: 'account_controller_ua_unsupported_configuration',
    ex: 'UD',
    param: 'dashboard',
    extra: permutation('full', 'application', 'vendor', 'vendor'),
    settings: { unified_accounts_beta: true },
    body: merchant({ dashboard: 'full' }, responsibilities('application', 'vendor')),
  },
  {
    row: 6,
    code: 'account_controller_unsupported_configuration',
    ex: 'UD',
    param: 'dashboard',
    extra: permutation('none', 'vendor', 'vendor', 'vendor'),
    body: merchant({ dashboard: 'none' }, responsibilities('vendor', 'vendor')),
  },
  {
    row: 6,
    when: 'the collector of requirements is another',
    code: 'account_controller_unsupported_configuration',
    ex: 'UD',
    param: 'defaults.responsibilities.requirements_collector',
    extra: permutation('full', 'vendor', 'vendor', 'vendor'),
    body: merchant({ dashboard: 'full' }, responsibilities('vendor', 'vendor'), {
      defaults: { responsibilities: { requirements_collector: 'application' } },
    }),
  },
  {
    row: 7,
    code: 'account_controller_unsupported_configuration_private_preview',
    ex: 'U',
    param: 'dashboard',
    settings: {
      responsibilities_private_preview: true,
      private_preview_combinations: [['none', 'application', 'application']],
    },
    body: merchant({ dashboard: 'full' }, responsibilities('vendor', 'vendor')),
  },
  {
    row: 12,
    code: 'account_creation_losses_collector_unavailable',
    ex: 'D',
    param: 'defaults.responsibilities.losses_collector',
    settings: { losses_collector_available: { vendor: false } },
    body: merchant(),
  },
  {
    row: 13,
    code: 'account_creation_requirement_collection_and_liability_unacknowledged',
    ex: 'D',
    param: 'defaults.responsibilities',
    settings: { acknowledged: { liability: false, requirement_collection: false } },
    body: merchant(SELF_COLLECTED),
  },
  {
    row: 11,
    code: 'account_creation_liability_unacknowledged',
    ex: 'D',
    param: 'defaults.responsibilities.losses_collector',
    settings: { acknowledged: { liability: false } },
    body: merchant({ dashboard: 'full' }, responsibilities('application', 'application')),
  },
  {
    row: 14,
    code: 'account_creation_requirement_collection_unacknowledged',
    ex: 'D',
    param: 'defaults.responsibilities',
    settings: { acknowledged: { requirement_collection: false } },
    body: merchant(SELF_COLLECTED),
  },
  {
    row: 25,
    code: 'can_create_platform_owned_onboarding_accounts_required',
    ex: 'U',
    param: 'defaults.responsibilities',
    settings: { dormant: true },
    body: merchant(SELF_COLLECTED),
  },
  {
    row: 40,
    code: 'custom_account_beta',
    ex: 'U',
    param: 'identity.country',
    settings: { country: 'BR' },
    body: merchant(SELF_COLLECTED, COMPANY_IN('br')),
  },
  {
    row: 39,
    code: 'cross_border_connected_account_creation_not_allowed',
    ex: 'UD',
    param: 'identity.country',
    body: merchant(COMPANY_IN('br')),
  },
  {
    row: 16,
    code: 'account_token_required',
    ex: 'UD',
    param: BUSINESS,
    settings: { country: 'FR' },
    body: merchant(SELF_COLLECTED, COMPANY_IN('fr'), at(`${BUSINESS}.registered_name`, 'Furever')),
  },
];

const IDENTITY_CASES: readonly Case[] = [
  {
    row: 91,
    code: 'unsupported_identity_field_for_configs',
    ex: 'U',
    param: `${BUSINESS}.structure`,
    body: customer(COMPANY_IN('us'), at(`${BUSINESS}.structure`, 'llc')),
  },
  {
    row: 54,
    code: 'identity_country_required',
    param: 'identity.country',
    body: merchant({ identity: { country: null } }),
  },
  {
    row: 51,
    code: 'entity_type_not_supported_in_country',
    ex: 'D',
    param: 'identity.entity_type',
    body: merchant({ identity: { country: 'ca', entity_type: 'government_entity' } }),
  },
  {
    row: 82,
    code: 'structure_incompatible_for_entity_type_country',
    param: `${BUSINESS}.structure`,
    body: merchant(at(`${BUSINESS}.structure`, 'free_zone_llc')),
  },
];

const FIELD_CASES: readonly Case[] = [
  {
    row: 49,
    code: 'email_domain_invalid_for_recipient',
    ex: 'U',
    param: 'contact_email',
    body: recipient({ contact_email: 'jenny@eu.mailinator.com' }),
  },
  {
    row: 50,
    code: 'email_invalid',
    ex: 'U',
    param: 'contact_email',
    body: { contact_email: 'jenny.example.com' },
  },
  {
    row: 71,
    code: 'phone_invalid',
    ex: 'U',
    param: 'contact_phone',
    body: { contact_phone: '+1 12' },
  },
  {
    row: 93,
    code: 'url_invalid',
    ex: 'U',
    param: 'defaults.profile.business_url',
    body: at('defaults.profile.business_url', 'ftp://furever.example.com'),
  },
  {
    row: 64,
    code: 'ip_address_invalid',
    param: `${CUSTOMER_AT}.automatic_indirect_tax.ip_address`,
    body: customer(at(`${CUSTOMER_AT}.automatic_indirect_tax.ip_address`, '300.1.1.1')),
  },
  {
    row: 42,
    code: 'date_of_birth_invalid',
    ex: 'U',
    param: 'identity.individual.date_of_birth',
    body: merchant(individual({ date_of_birth: { day: 30, month: 2, year: 1990 } })),
  },
  {
    row: 41,
    code: 'date_of_birth_age_restriction',
    ex: 'U',
    param: 'identity.individual.date_of_birth',
    extra: { age_limit: '13' },
    body: merchant(
      individual({ date_of_birth: { day: 1, month: 1, year: 2017 } }), // the clock shows 2026
    ),
  },
  {
    row: 75,
    code: 'registration_date_invalid',
    ex: 'U',
    param: `${BUSINESS}.registration_date`,
    body: merchant(at(`${BUSINESS}.registration_date`, { day: 1, month: 1, year: 2999 })),
  },
  {
    row: 18,
    code: 'address_characters_invalid',
    ex: 'U',
    param: `${BUSINESS}.address.line1`,
    body: merchant(address({ line1: '1 Main <Street>' })),
  },
  {
    row: 19,
    code: 'address_country_identity_country_mismatch',
    ex: 'U',
    param: `${BUSINESS}.address.country`,
    body: merchant(address({ country: 'CA' })),
  },
  {
    row: 67,
    code: 'non_jp_kana_kanji_address',
    ex: 'U',
    param: `${BUSINESS}.script_addresses.kana.country`,
    body: merchant(at(`${BUSINESS}.script_addresses.kana`, { country: 'US' })),
  },
  {
    row: 73,
    code: 'postal_code_required_for_jp_address',
    ex: 'U',
    param: `${BUSINESS}.address.postal_code`,
    body: merchant(COMPANY_IN('jp'), address({ country: 'JP', line1: '1-1' })),
  },
  {
    row: 20,
    code: 'address_postal_code_invalid',
    ex: 'U',
    param: `${BUSINESS}.address.postal_code`,
    body: merchant(address({ postal_code: 'ABC 12' })),
  },
  {
    row: 21,
    code: 'address_state_invalid',
    ex: 'U',
    param: `${BUSINESS}.address.state`,
    body: merchant(address({ state: 'Bavaria' })),
  },
  {
    row: 23,
    code: 'address_town_invalid',
    ex: 'U',
    param: `${BUSINESS}.address.town`,
    body: merchant(address({ town: '!!' })),
  },
  {
    row: 22,
    code: 'unsupported_state',
    ex: 'U',
    param: `${BUSINESS}.address.state`,
    body: merchant(address({ state: 'AE' })),
  },
  {
    row: 92,
    code: 'unsupported_postal_code',
    ex: 'U',
    param: `${BUSINESS}.address.postal_code`,
    body: merchant(address({ postal_code: '09012' })),
  },
  {
    row: 76,
    when: 'kana are not kana',
    code: 'script_characters_invalid',
    ex: 'U',
    param: `${BUSINESS}.script_names.kana.registered_name`,
    body: merchant(
      COMPANY_IN('jp'),
      at(`${BUSINESS}.script_names.kana.registered_name`, '株式会社'),
    ),
  },
  {
    row: 76,
    when: 'kanji are neither kanji nor kana',
    code: 'script_characters_invalid',
    ex: 'U',
    param: `${MERCHANT_AT}.script_statement_descriptor.kanji.descriptor`,
    body: merchant(
      COMPANY_IN('jp'),
      at(`${MERCHANT_AT}.script_statement_descriptor.kanji.descriptor`, 'ФУР'),
    ),
  },
  {
    row: 53,
    code: 'id_number_invalid',
    ex: 'U',
    param: `${BUSINESS}.id_numbers.0.value`,
    body: merchant(at(`${BUSINESS}.id_numbers`, [{ type: 'us_ein', value: '12-34' }])),
  },
  {
    row: 53,
    when: 'a check digit is wrong and checked',
    code: 'id_number_invalid',
    ex: 'U',
    param: `${BUSINESS}.id_numbers.0.value`,
    settings: { id_number_checksums: true },
    body: merchant(
      COMPANY_IN('de'),
      at(`${BUSINESS}.id_numbers`, [{ type: 'de_vat', value: 'DE136695977' }]),
    ),
  },
  {
    row: 55,
    code: 'incorrect_id_number_for_country',
    ex: 'U',
    param: `${BUSINESS}.id_numbers.0.type`,
    body: merchant(at(`${BUSINESS}.id_numbers`, [{ type: 'de_vat', value: 'DE136695976' }])),
  },
  {
    row: 55,
    when: 'the number has no form either',
    code: 'incorrect_id_number_for_country',
    ex: 'U',
    param: `${BUSINESS}.id_numbers.0.type`,
    body: merchant(at(`${BUSINESS}.id_numbers`, [{ type: 'de_vat', value: 'DE1' }])),
  },
  {
    row: 57,
    code: 'invalid_id_number_for_structure',
    ex: 'U',
    param: `${BUSINESS}.id_numbers.0.type`,
    body: merchant(
      COMPANY_IN('fr'),
      at(`${BUSINESS}.id_numbers`, [{ type: 'fr_rna', value: 'W123456789' }]),
    ),
  },
  {
    row: 58,
    code: 'invalid_id_number_registrar',
    ex: 'D',
    param: `${BUSINESS}.id_numbers.0.registrar`,
    body: merchant(
      COMPANY_IN('de'),
      at(`${BUSINESS}.id_numbers`, [
        { type: 'de_hrn', value: 'HRB 1234', registrar: 'Springfield' },
      ]),
    ),
  },
  {
    row: 47,
    code: 'document_invalid',
    param: `${BUSINESS}.documents.proof_of_address.files.0`,
    body: merchant(
      at(`${BUSINESS}.documents.proof_of_address`, { type: 'files', files: ['file_nowhere'] }),
    ),
  },
  {
    row: 70,
    code: 'person_percent_ownership_invalid',
    ex: 'U',
    param: 'identity.individual.relationship.percent_ownership',
    body: merchant(individual({ relationship: { owner: true, percent_ownership: '0.00' } })),
  },
];

const SETTING_CASES: readonly Case[] = [
  {
    row: 36,
    when: 'an invoice prefix has another form',
    code: 'configuration_creation_invalid',
    ex: 'U',
    param: `${CUSTOMER_AT}.billing.invoice.prefix`,
    body: customer(at(`${CUSTOMER_AT}.billing.invoice.prefix`, 'ab')),
  },
  {
    row: 36,
    when: 'there are five custom fields',
    code: 'configuration_creation_invalid',
    ex: 'U',
    param: `${CUSTOMER_AT}.billing.invoice.custom_fields`,
    body: customer(
      at(
        `${CUSTOMER_AT}.billing.invoice.custom_fields`,
        ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, value: '1' })),
      ),
    ),
  },
  {
    row: 36,
    when: 'a colour is none',
    code: 'configuration_creation_invalid',
    ex: 'U',
    param: `${MERCHANT_AT}.branding.primary_color`,
    body: merchant(at(`${MERCHANT_AT}.branding.primary_color`, 'blue')),
  },
  {
    row: 44,
    code: 'default_payment_method_invalid',
    param: `${CUSTOMER_AT}.billing.default_payment_method`,
    body: customer(at(`${CUSTOMER_AT}.billing.default_payment_method`, 'pm_nowhere')),
  },
  {
    row: 63,
    code: 'invoice_rendering_template_invalid',
    param: `${CUSTOMER_AT}.billing.invoice.rendering.template`,
    body: customer(at(`${CUSTOMER_AT}.billing.invoice.rendering.template`, 'inrtem_nowhere')),
  },
  {
    row: 79,
    code: 'shipping_address_required',
    param: `${CUSTOMER_AT}.shipping.address`,
    body: customer(at(`${CUSTOMER_AT}.shipping.name`, 'Jenny Rosen')),
  },
  {
    row: 80,
    code: 'shipping_name_required',
    param: `${CUSTOMER_AT}.shipping.name`,
    body: customer(at(`${CUSTOMER_AT}.shipping.address`, { country: 'US', line1: '1 Main St' })),
  },
  {
    row: 83,
    code: 'test_clock_disallowed_on_live_mode',
    param: `${CUSTOMER_AT}.test_clock`,
    live: true,
    body: customer(at(`${CUSTOMER_AT}.test_clock`, 'clock_nowhere')),
  },
  {
    row: 84,
    code: 'test_clock_invalid',
    param: `${CUSTOMER_AT}.test_clock`,
    body: customer(at(`${CUSTOMER_AT}.test_clock`, 'clock_nowhere')),
  },
  {
    row: 59,
    when: 'an hour is none',
    code: 'invalid_konbini_payments_support_hours',
    param: `${MERCHANT_AT}.konbini_payments.support.hours.start_time`,
    body: merchant(
      at(`${MERCHANT_AT}.konbini_payments.support.hours`, {
        start_time: '25:00',
        end_time: '26:00',
      }),
    ),
  },
  {
    row: 59,
    when: 'the end comes first',
    code: 'invalid_konbini_payments_support_hours',
    param: `${MERCHANT_AT}.konbini_payments.support.hours.start_time`,
    body: merchant(
      at(`${MERCHANT_AT}.konbini_payments.support.hours`, {
        start_time: '18:00',
        end_time: '09:00',
      }),
    ),
  },
  {
    row: 60,
    code: 'invalid_konbini_payments_support_phone_number',
    ex: 'U',
    param: `${MERCHANT_AT}.konbini_payments.support.phone`,
    body: merchant(at(`${MERCHANT_AT}.konbini_payments.support.phone`, '+14155552671')),
  },
  {
    row: 61,
    code: 'invalid_sepa_creditor_id_format',
    ex: 'U',
    param: `${MERCHANT_AT}.sepa_debit_payments.creditor_id`,
    body: merchant(at(`${MERCHANT_AT}.sepa_debit_payments.creditor_id`, 'DE97ZZZ09999999999')),
  },
  {
    row: 77,
    code: 'sepa_debit_creditor_identifier_not_allowed',
    ex: 'U',
    param: `${MERCHANT_AT}.sepa_debit_payments.creditor_id`,
    body: merchant(at(`${MERCHANT_AT}.sepa_debit_payments.creditor_id`, 'ie06 zzz 900666')),
  },
  {
    row: 78,
    code: 'sepa_debit_vendor_creditor_identifier',
    ex: 'U',
    param: `${MERCHANT_AT}.sepa_debit_payments.creditor_id`,
    body: merchant(at(`${MERCHANT_AT}.sepa_debit_payments.creditor_id`, 'IE16ZZZ900001')),
  },
  {
    row: 65,
    code: 'mcc_invalid',
    ex: 'UD',
    param: `${MERCHANT_AT}.mcc`,
    body: merchant(at(`${MERCHANT_AT}.mcc`, '9999')),
  },
  {
    row: 81,
    when: 'a descriptor is too short',
    code: 'statement_descriptor_invalid',
    ex: 'U',
    param: `${MERCHANT_AT}.statement_descriptor.descriptor`,
    body: merchant(at(`${MERCHANT_AT}.statement_descriptor.descriptor`, 'FUR')),
  },
  {
    row: 81,
    when: 'a prefix has a star',
    code: 'statement_descriptor_invalid',
    ex: 'U',
    param: `${MERCHANT_AT}.statement_descriptor.prefix`,
    body: merchant(at(`${MERCHANT_AT}.statement_descriptor.prefix`, 'FUR*')),
  },
  {
    row: 24,
    code: 'bgn_bank_accounts_unsupported',
    ex: 'UD',
    param: 'defaults.currency',
    body: merchant(COMPANY_IN('bg'), at('defaults.currency', 'BGN')),
  },
  {
    row: 8,
    code: 'account_country_unsupported_currency',
    param: 'defaults.currency',
    body: merchant(at('defaults.currency', 'eur')),
  },
  {
    row: 62,
    when: 'there is no such place',
    code: 'invalid_timezone',
    param: 'defaults.timezone',
    body: at('defaults.timezone', 'Mars/Olympus'),
  },
  {
    row: 62,
    when: 'it is an offset',
    code: 'invalid_timezone',
    param: 'defaults.timezone',
    body: at('defaults.timezone', '+01:00'),
  },
];

const CAPABILITY_CASES: readonly Case[] = [
  {
    row: 33,
    code: 'capability_not_available_in_platform_country',
    param: 'configuration.recipient.capabilities.cards',
    settings: { country: 'JP' },
    body: recipient(capability('cards', 'recipient')),
  },
  {
    row: 32,
    code: 'capability_not_available_in_country',
    ex: 'U',
    param: `${MERCHANT_AT}.capabilities.affirm_payments`,
    body: merchant(COMPANY_IN('de'), capability('affirm_payments')),
  },
  {
    row: 30,
    code: 'capability_not_available_for_entity_type_in_country',
    ex: 'U',
    param: `${MERCHANT_AT}.capabilities.klarna_payments`,
    body: merchant({ identity: { entity_type: 'non_profit' } }, capability('klarna_payments')),
  },
  {
    row: 29,
    code: 'capability_not_available_for_dashboard_type',
    param: 'configuration.recipient.capabilities.bank_accounts.local',
    body: recipient({ dashboard: 'full' }),
  },
  {
    row: 31,
    code: 'capability_not_available_for_loss_collector',
    ex: 'U',
    param: 'configuration.recipient.capabilities.cards',
    body: recipient(capability('cards', 'recipient')),
  },
  {
    row: 34,
    code: 'capability_not_available_without_other_capability',
    ex: 'U',
    param: `${MERCHANT_AT}.capabilities.link_payments`,
    body: merchant(
      at(`${MERCHANT_AT}.capabilities.card_payments.requested`, false),
      capability('link_payments'),
    ),
  },
  {
    row: 35,
    code: 'capability_not_available_without_other_capability_in_country',
    ex: 'U',
    param: `${MERCHANT_AT}.capabilities.konbini_payments`,
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
    row: 15,
    code: 'account_terms_of_service_not_accepted',
    param: 'identity.attestations.terms_of_service.account',
    settings: { merchant_requires_terms: true },
    body: merchant(),
  },
  {
    row: 46,
    code: 'directorship_declaration_not_allowed_during_account_creation',
    ex: 'U',
    param: 'identity.attestations.directorship_declaration',
    body: merchant(at('identity.attestations.directorship_declaration', ACCEPTANCE)),
  },
  {
    row: 68,
    code: 'ownership_declaration_not_allowed_during_account_creation',
    ex: 'U',
    param: 'identity.attestations.ownership_declaration',
    body: merchant(at('identity.attestations.ownership_declaration', ACCEPTANCE)),
  },
  {
    row: 89,
    code: 'tos_acceptance_on_behalf_not_allowed',
    ex: 'U',
    param: 'identity.attestations.terms_of_service.account',
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

describe('a create is refused for what the platform is', () => refuses(PLATFORM_CASES));
describe('a create is refused for who collects what', () => refuses(RESPONSIBILITY_CASES));
describe('a create is refused for what kind of entity it is', () => refuses(IDENTITY_CASES));
describe('a create is refused for a field', () => refuses(FIELD_CASES));
describe('a create is refused for a setting', () => refuses(SETTING_CASES));
describe('a create is refused for a capability', () => refuses(CAPABILITY_CASES));
describe('a create is refused for what is declared', () => refuses(ATTESTATION_CASES));

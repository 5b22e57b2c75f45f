import type { TSchema } from 'typebox';
import type { ConfigurationName } from '../account/configuration-name.js';
import { fixedText, flag, group, list, oneOf, text, whole } from './fields.js';
import { address, country, type ParamsOptions } from './person-params.js';

const HIGH_RISK_ACTIVITIES = [
  'adult_entertainment',
  'gambling',
  'hold_client_funds',
  'investment_services',
  'lending_banking',
  'marijuana_or_related_services',
  'money_services',
  'nicotine_tobacco_or_related_services',
  'none',
  'operate_foreign_exchange_virtual_currencies_brokerage_otc',
  'pharmaceuticals',
  'precious_metals_precious_stones_jewelry',
  'safe_deposit_box_rentals',
  'third_party_payment_processing',
  'weapons_firearms_and_explosives',
];
const PURPOSES_OF_FUNDS = [
  'charitable_donations',
  'ecommerce_retail_payments',
  'investment_purposes',
  'other',
  'payments_to_friends_or_family_abroad',
  'payroll',
  'personal_or_living_expenses',
  'protect_wealth',
  'purchase_goods_and_services',
  'receive_payments_for_goods_and_services',
  'tax_optimization',
  'third_party_money_transmission',
  'treasury_management',
];
const SOURCES_OF_FUNDS = [
  'business_loans',
  'grants',
  'inter_company_funds',
  'investment_proceeds',
  'legal_settlement',
  'owners_capital',
  'pension_retirement',
  'sales_of_assets',
  'sales_of_goods_and_services',
  'tax_refund',
  'third_party_funds',
  'treasury_reserves',
];

/** Returns the schema of configurations. Source: accounts, sections 8.2 to 8.4 and 8.6. */
export function configurationParams(options: ParamsOptions): TSchema {
  return group(
    {
      customer: customer(options),
      merchant: merchant(options),
      recipient: recipient(options),
      storer: storer(options),
    },
    { nullable: false },
  );
}

/** Returns the schema of a configuration. It cannot be null; only an update can deactivate it. */
function configuration(options: ParamsOptions, members: Record<string, TSchema>): TSchema {
  const applied = options.operation === 'update' ? { applied: flag({ nullable: false }) } : {};
  return group({ ...applied, ...members }, { nullable: false });
}

/** `bank_accounts.local` is nested one level deeper than `card_payments`. */
function capabilities(options: ParamsOptions, name: ConfigurationName): TSchema {
  const required = options.operation === 'create' ? ['requested'] : [];
  const request = (): TSchema => group({ requested: flag({ nullable: false }) }, { required });
  const flat: Record<string, TSchema> = {};
  const nested = new Map<string, Record<string, TSchema>>();
  for (const id of options.lists.capabilities[name]) {
    const [first = id, second] = id.split('.');
    if (second === undefined) flat[first] = request();
    else nested.set(first, { ...nested.get(first), [second]: request() });
  }
  return group({
    ...flat,
    ...Object.fromEntries([...nested].map(([first, inner]) => [first, group(inner)])),
  });
}

function customer(options: ParamsOptions): TSchema {
  return configuration(options, {
    automatic_indirect_tax: group({
      exempt: oneOf(['exempt', 'none', 'reverse']),
      ip_address: text(),
      location_source: oneOf([
        'identity_address',
        'ip_address',
        'payment_method',
        'shipping_address',
      ]),
      validate_location: oneOf(['auto', 'deferred', 'immediately']),
    }),
    billing: group({
      default_payment_method: text(),
      invoice: group({
        // Limits of these fields are rules with their own codes, checked when the configuration is
        // first applied.
        custom_fields: list(
          group(
            {
              name: fixedText({ maxLength: 40 }),
              value: fixedText({ maxLength: 140 }),
            },
            { required: ['name', 'value'] },
          ),
        ),
        footer: text({ maxLength: 100_000 }),
        next_sequence: whole(),
        prefix: text(),
        rendering: group({
          amount_tax_display: oneOf(['exclude_tax', 'include_inclusive_tax']),
          template: text(),
        }),
      }),
    }),
    capabilities: capabilities(options, 'customer'),
    shipping: group({
      address: group({
        city: text(),
        country: country(options.lists),
        line1: text(),
        line2: text(),
        postal_code: text(),
        state: text(),
      }),
      name: text(),
      phone: text(),
    }),
    test_clock: text(),
  });
}

function merchant(options: ParamsOptions): TSchema {
  const descriptor = (): TSchema => group({ descriptor: text(), prefix: text() });
  return configuration(options, {
    bacs_debit_payments: group({ display_name: text() }),
    branding: group({
      icon: text(),
      logo: text(),
      primary_color: text(),
      secondary_color: text(),
    }),
    capabilities: capabilities(options, 'merchant'),
    card_payments: group({ decline_on: group({ avs_failure: flag(), cvc_failure: flag() }) }),
    konbini_payments: group({
      support: group({
        email: text(),
        phone: text(),
        hours: group({ start_time: text(), end_time: text() }),
      }),
    }),
    mcc: text(),
    script_statement_descriptor: group({ kana: descriptor(), kanji: descriptor() }),
    sepa_debit_payments: group({ creditor_id: text() }),
    smart_disputes: group({
      auto_respond: group({ preference: oneOf(['inherit', 'off', 'on']) }),
    }),
    statement_descriptor: descriptor(),
    support: group({
      address: address(options, { required: options.operation === 'create' ? ['country'] : [] }),
      email: text(),
      phone: text(),
      url: text(),
    }),
  });
}

function recipient(options: ParamsOptions): TSchema {
  return configuration(options, {
    capabilities: capabilities(options, 'recipient'),
    default_outbound_destination: text(),
  });
}

function storer(options: ParamsOptions): TSchema {
  return configuration(options, {
    high_risk_activities: list(oneOf(HIGH_RISK_ACTIVITIES, { nullable: false })),
    high_risk_activities_description: text(),
    money_services_description: text(),
    operates_in_prohibited_countries: flag(),
    participates_in_regulated_activity: flag(),
    purpose_of_funds: oneOf(PURPOSES_OF_FUNDS),
    purpose_of_funds_description: text(),
    regulated_activity: group({
      description: text(),
      license_number: text(),
      primary_regulatory_authority_country: country(options.lists),
      primary_regulatory_authority_name: text(),
    }),
    source_of_funds: oneOf(SOURCES_OF_FUNDS),
    source_of_funds_description: text(),
  });
}

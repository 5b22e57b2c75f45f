import type { TSchema } from 'typebox';
import type { ReferenceLists } from '../reference.js';
import { fixedOneOf, fixedText, flag, group, list, oneOf, record, text, whole } from './fields.js';

const fixedFlag = (): TSchema => flag({ nullable: false });
const texts = (): TSchema => list(fixedText(), { nullable: false, maxItems: 10_000 });
const textsByKey = (): TSchema => record(texts(), { nullable: false, maxProperties: 1000 });
const pairs = (length: number): TSchema =>
  list(list(text(), { nullable: false, maxItems: length }), { nullable: false, maxItems: 1000 });
const fixed = (properties: Record<string, TSchema>): TSchema =>
  group(properties, { nullable: false, required: Object.keys(properties) });

/** The whole record of a platform's settings. Source: accounts, section 4. */
export function settingsSchema(lists: ReferenceLists): TSchema {
  const country = fixedOneOf([...lists.countries], { spelling: 'upper' });
  const countries = list(country, { nullable: false });
  const enforcement = fixedOneOf(['deferred', 'immediate']);
  return fixed({
    name: fixedText({ maxLength: 300 }),
    country,
    accounts_v2_enabled: fixedFlag(),
    connect_registered: fixedFlag(),
    direct_min_api_version: fixedText({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
    activated: fixed({ test: fixedFlag(), live: fixedFlag() }),
    state: fixedOneOf(['ok', 'invalid', 'rejected']),
    identity_verified: fixedFlag(),
    profile_submitted: fixedFlag(),
    dormant: fixedFlag(),
    acknowledged: fixed({ liability: fixedFlag(), requirement_collection: fixedFlag() }),
    losses_collector_available: fixed({ application: fixedFlag(), vendor: fixedFlag() }),
    unified_accounts_beta: fixedFlag(),
    responsibilities_private_preview: fixedFlag(),
    private_preview_combinations: pairs(3),
    disabled_configurations: texts(),
    disabled_capabilities: texts(),
    storer_preview: fixedFlag(),
    max_accounts: whole({ minimum: 0 }),
    require_contact_email: fixedFlag(),
    merchant_requires_terms: fixedFlag(),
    token_mandate_countries: countries,
    account_token_companions: fixedOneOf(['none', 'non_tokenized']),
    custom_account_beta_countries: countries,
    custom_account_beta_enabled: fixedFlag(),
    cross_border: fixed({ same_country_only: countries, allow: pairs(2), deny: pairs(2) }),
    platform_country_capabilities_denied: textsByKey(),
    age_limit: whole({ nullable: false, minimum: 0, maximum: 150 }),
    recipient_blocked_email_domains: texts(),
    unsupported_states: textsByKey(),
    unsupported_postal_codes: textsByKey(),
    sepa_blocked_creditor_ids: texts(),
    sepa_vendor_creditor_ids: texts(),
    update_concurrency_limit: whole({ nullable: false, minimum: 0, maximum: 10_000 }),
    create_concurrency_limit: whole({ minimum: 0, maximum: 100_000 }),
    requirements_enforcement: fixed({ test: enforcement, live: enforcement }),
    requirements_grace_seconds: whole({ nullable: false, minimum: 0, maximum: 3_153_600_000 }),
    verification_mode: fixedOneOf(['auto', 'manual']),
    id_number_checksums: fixedFlag(),
    default_api_version: fixedText({ pattern: '^\\d{4}-\\d{2}-\\d{2}\\.[a-z][a-z0-9_]*$' }),
    require_version_header: fixedFlag(),
    default_responsibilities: fixed({
      fees: fixedOneOf(['application', 'application_custom', 'application_express', 'vendor']),
      losses: fixedOneOf(['application', 'vendor']),
    }),
    default_dashboard: oneOf(['express', 'full', 'none']),
  });
}

const balances = (): TSchema =>
  record(whole({ nullable: false }), { nullable: false, maxKeyLength: 3, maxProperties: 200 });

/** What an operator says about one account, and about a check that waits. Source: accounts, sections 4 and 16.5. */
export function stateSchema(): TSchema {
  return group({
    incompatible_with_v2: fixedFlag(),
    v1: fixedFlag(),
    cash_balance: balances(),
    customer_cash_balance: balances(),
    pending_transactions: fixedFlag(),
    reject: group(
      {
        reason: fixedOneOf([
          'fraud',
          'incomplete_verification',
          'listed',
          'other',
          'platform_fraud',
          'platform_other',
          'platform_terms_of_service',
          'terms_of_service',
        ]),
      },
      { required: ['reason'] },
    ),
    identity_locked: fixedFlag(),
    payout_methods: list(
      group(
        { id: fixedText(), currency: fixedText(), type: fixedText(), v1: fixedFlag() },
        { required: ['id', 'currency', 'type'], nullable: false },
      ),
      { nullable: false },
    ),
    verify: group(
      { target: fixedText(), outcome: fixedText() },
      { required: ['target', 'outcome'], nullable: false },
    ),
  });
}

/** Source: accounts, section 16.6. */
export function injectionSchema(): TSchema {
  const status = fixedOneOf(['past_due', 'currently_due', 'eventually_due']);
  return group(
    {
      description: fixedText(),
      awaiting_action_from: fixedOneOf(['user', 'vendor']),
      restricts: list(
        group(
          {
            configuration: fixedOneOf(['customer', 'merchant', 'recipient']),
            capability: fixedText(),
            status,
          },
          { required: ['configuration', 'capability', 'status'], nullable: false },
        ),
        { nullable: false, maxItems: 100 },
      ),
      errors: list(
        group(
          { code: fixedText(), description: fixedText() },
          { required: ['code', 'description'], nullable: false },
        ),
        { nullable: false, maxItems: 100 },
      ),
      reference: group(
        {
          type: fixedOneOf(['person', 'payment_method', 'inquiry']),
          resource: fixedText(),
          inquiry: fixedText(),
        },
        { required: ['type'], nullable: false },
      ),
      future: fixedFlag(),
      transition: fixedText(),
    },
    { required: ['description', 'awaiting_action_from', 'restricts'] },
  );
}

export const keySchema = (): TSchema =>
  group(
    {
      kind: fixedOneOf(['secret', 'publishable']),
      livemode: fixedFlag(),
      expires_at: fixedText(),
    },
    { required: ['kind', 'livemode'] },
  );

export const fileSchema = (): TSchema =>
  group(
    {
      purpose: fixedOneOf([
        'identity_document',
        'account_requirement',
        'business_icon',
        'business_logo',
        'additional_verification',
      ]),
      filename: fixedText({ maxLength: 255 }),
      content_base64: fixedText({ maxLength: 14_000_000 }),
      livemode: fixedFlag(),
      account: text(),
      deleted: fixedFlag(),
    },
    { required: ['purpose', 'filename', 'content_base64', 'livemode'] },
  );

export const paymentMethodSchema = (): TSchema =>
  group(
    { type: fixedText(), livemode: fixedFlag(), account: text(), detached: fixedFlag() },
    { required: ['type', 'livemode'] },
  );

export const templateSchema = (): TSchema =>
  group({ livemode: fixedFlag(), archived: fixedFlag() }, { required: ['livemode'] });

export const clockFixtureSchema = (): TSchema =>
  group(
    { frozen_time: whole({ nullable: false, minimum: 0, maximum: 32_503_680_000 }), name: text() },
    { required: ['frozen_time'] },
  );

export const tickSchema = (): TSchema => group({ now: fixedText() });

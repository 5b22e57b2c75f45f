import type { TSchema } from 'typebox';
import { CONFIGURATION_NAMES } from '../account/configuration-name.js';
import type { ReferenceLists } from '../platform/reference.js';
import { fixedOneOf, fixedText, flag, group, list, oneOf, record, text, whole } from './fields.js';

const fixedFlag = (): TSchema => flag({ nullable: false });
const texts = (): TSchema => list(fixedText(), { nullable: false, maxItems: 10_000 });
/** Returns the schema of lists by key; `key` is the schema of the keys. */
const listsBy = (key: TSchema, items: TSchema): TSchema =>
  record(list(items, { nullable: false, maxItems: 10_000 }), {
    nullable: false,
    maxProperties: 1000,
    propertyNames: key,
  });
/** Returns the schema of a list of pairs or triples, with a schema for each position. */
const tuples = (places: readonly TSchema[]): TSchema =>
  list(
    list(fixedText(), {
      nullable: false,
      prefixItems: places,
      minItems: places.length,
      maxItems: places.length,
    }),
    { nullable: false, maxItems: 1000 },
  );
const fixed = (properties: Record<string, TSchema>): TSchema =>
  group(properties, { nullable: false, required: Object.keys(properties) });

/** Returns the schema of a platform's complete settings. Source: accounts, section 4. */
export function settingsSchema(lists: ReferenceLists): TSchema {
  const country = fixedOneOf([...lists.countries], { spelling: 'upper' });
  const countries = list(country, { nullable: false });
  const pairs = tuples([country, country]);
  const enforcement = fixedOneOf(['deferred', 'immediate']);
  const dashboards = ['express', 'full', 'none'];
  const fees = fixedOneOf(['application', 'application_custom', 'application_express', 'vendor']);
  const losses = fixedOneOf(['application', 'vendor']);
  const capability = fixedOneOf(capabilityIds(lists));
  return fixed({
    name: fixedText({ minLength: 1, maxLength: 300 }),
    country,
    accounts_v2_enabled: fixedFlag(),
    connect_registered: fixedFlag(),
    direct_min_api_version: fixedText({ format: 'date' }),
    activated: fixed({ test: fixedFlag(), live: fixedFlag() }),
    state: fixedOneOf(['ok', 'invalid', 'rejected']),
    identity_verified: fixedFlag(),
    profile_submitted: fixedFlag(),
    dormant: fixedFlag(),
    acknowledged: fixed({ liability: fixedFlag(), requirement_collection: fixedFlag() }),
    losses_collector_available: fixed({ application: fixedFlag(), vendor: fixedFlag() }),
    unified_accounts_beta: fixedFlag(),
    responsibilities_private_preview: fixedFlag(),
    private_preview_combinations: tuples([fixedOneOf(dashboards), fees, losses]),
    disabled_configurations: list(fixedOneOf([...CONFIGURATION_NAMES, 'storer']), {
      nullable: false,
    }),
    disabled_capabilities: list(capability, { nullable: false }),
    storer_preview: fixedFlag(),
    max_accounts: whole({ minimum: 0 }),
    require_contact_email: fixedFlag(),
    merchant_requires_terms: fixedFlag(),
    token_mandate_countries: countries,
    account_token_companions: fixedOneOf(['none', 'non_tokenized']),
    custom_account_beta_countries: countries,
    custom_account_beta_enabled: fixedFlag(),
    cross_border: fixed({ same_country_only: countries, allow: pairs, deny: pairs }),
    platform_country_capabilities_denied: listsBy(capability, country),
    age_limit: whole({ nullable: false, minimum: 0, maximum: 150 }),
    recipient_blocked_email_domains: texts(),
    unsupported_states: listsBy(country, fixedText()),
    unsupported_postal_codes: listsBy(country, fixedText()),
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
    default_responsibilities: fixed({ fees, losses }),
    default_dashboard: oneOf(dashboards),
  });
}

/** Returns the capability ids that a request can contain. */
function capabilityIds({ capabilities }: ReferenceLists): string[] {
  return CONFIGURATION_NAMES.flatMap((name) => [...capabilities[name]]);
}

/**
 * Returns the schema of the operator's facts about an account and of pending verifications. Source:
 * accounts, sections 4 and 16.5.
 */
export function stateSchema(lists: ReferenceLists): TSchema {
  const currency = fixedOneOf([...lists.currencies], { spelling: 'lower' });
  const balances = (): TSchema =>
    record(whole({ nullable: false }), {
      nullable: false,
      maxProperties: 200,
      propertyNames: currency,
    });
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
        { id: fixedText(), currency, type: fixedText(), v1: fixedFlag() },
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

/** Returns the schema of a requirement that the operator adds. Source: accounts, section 16.6. */
export function operatorRequirementSchema(lists: ReferenceLists): TSchema {
  const status = fixedOneOf(['past_due', 'currently_due', 'eventually_due']);
  return group(
    {
      description: fixedText(),
      awaiting_action_from: fixedOneOf(['user', 'vendor']),
      restricts: list(
        group(
          {
            configuration: fixedOneOf(CONFIGURATION_NAMES),
            // Payouts are part of a configuration and are never requested.
            capability: fixedOneOf([...capabilityIds(lists), 'vendor_balance.payouts']),
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

export const testClockSchema = (): TSchema =>
  group(
    { frozen_time: whole({ nullable: false, minimum: 0, maximum: 32_503_680_000 }), name: text() },
    { required: ['frozen_time'] },
  );

export const tickSchema = (): TSchema => group({ now: fixedText() });

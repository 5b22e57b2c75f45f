import type { TSchema } from 'typebox';
import type { ReferenceLists } from '../platform/reference.js';
import { configurationParams } from './configuration-params.js';
import { fixedOneOf, fixedText, flag, group, list, oneOf, record, text, whole } from './fields.js';
import {
  address,
  attestation,
  country,
  date,
  files,
  frontAndBack,
  METADATA,
  type Operation,
  type ParamsOptions,
  personParams,
} from './person-params.js';

/** Values of `include`. Source: accounts, section 11. */
export const INCLUDES = [
  'configuration.customer',
  'configuration.merchant',
  'configuration.recipient',
  'configuration.storer',
  'defaults',
  'future_requirements',
  'identity',
  'requirements',
] as const;
export type Include = (typeof INCLUDES)[number];

const OWNERSHIP_EXEMPTIONS = [
  'qualified_entity_exceeds_ownership_threshold',
  'qualifies_as_financial_institution',
];

/** Returns the schema of account parameters. Source: accounts, section 8.1. */
export function accountParams(options: ParamsOptions): TSchema {
  return group({
    account_token: fixedText(),
    configuration: configurationParams(options),
    contact_email: text({ maxLength: 800 }),
    contact_phone: text({ maxLength: 40 }),
    dashboard: oneOf(['express', 'full', 'none']),
    defaults: defaults(options),
    display_name: text({ maxLength: 300 }),
    identity: identity(options, 'plain'),
    include: list(fixedOneOf(INCLUDES), { nullable: false }),
    metadata: METADATA,
  });
}

/** Returns the schema of account token parameters. Source: accounts, section 9.3. */
export function accountTokenParams(lists: ReferenceLists): TSchema {
  return group({
    contact_email: text({ maxLength: 800 }),
    contact_phone: text({ maxLength: 40 }),
    display_name: text({ maxLength: 300 }),
    identity: identity({ operation: 'update', lists }, 'token'),
  });
}

/** Returns the schema of `defaults`. Source: accounts, section 8.5. */
function defaults({ operation, lists }: ParamsOptions): TSchema {
  const isCreate = operation === 'create';
  return group({
    currency: oneOf([...lists.currencies], { spelling: 'lower' }),
    locales: list(fixedOneOf(lists.locales), { maxItems: 100 }),
    ...(isCreate
      ? {}
      : { payout_methods: record(text(), { maxProperties: 200, maxKeyLength: 3 }) }),
    profile: group({
      business_url: text(),
      doing_business_as: text(),
      product_description: text(),
    }),
    responsibilities: group(
      {
        fees_collector: fixedOneOf([
          'application',
          'application_custom',
          'application_express',
          'vendor',
        ]),
        losses_collector: fixedOneOf(['application', 'vendor']),
        requirements_collector: fixedOneOf(['application', 'vendor']),
      },
      { required: isCreate ? ['fees_collector', 'losses_collector'] : [] },
    ),
    timezone: text(),
  });
}

/**
 * Returns the schema of `identity`. A token has no country, and its attestations contain no
 * details. Source: accounts, section 8.7.
 */
function identity(options: ParamsOptions, form: 'plain' | 'token'): TSchema {
  const isToken = form === 'token';
  return group({
    attestations: isToken ? tokenAttestations() : attestations(options.operation),
    business_details: businessDetails(options),
    ...(isToken ? {} : { country: country(options.lists) }),
    entity_type: oneOf(['company', 'government_entity', 'individual', 'non_profit']),
    individual: personParams(options, isToken ? 'account_token' : 'individual'),
  });
}

const personsProvided = (): TSchema =>
  group({
    directors: flag(),
    executives: flag(),
    owners: flag(),
    ownership_exemption_reason: oneOf(OWNERSHIP_EXEMPTIONS),
  });

function attestations(operation: Operation): TSchema {
  const isUpdate = operation === 'update';
  return group({
    directorship_declaration: attestation(),
    ownership_declaration: attestation(),
    representative_declaration: attestation(),
    persons_provided: personsProvided(),
    terms_of_service: group({
      account: attestation(isUpdate ? [] : ['date', 'ip']),
      ...(isUpdate ? { crypto_money_manager: attestation(), money_manager: attestation() } : {}),
    }),
  });
}

function tokenAttestations(): TSchema {
  const attested = (): TSchema => group({ attested: flag() });
  const accepted = (): TSchema => group({ shown_and_accepted: flag() });
  return group({
    directorship_declaration: attested(),
    ownership_declaration: attested(),
    representative_declaration: attested(),
    persons_provided: personsProvided(),
    terms_of_service: group({ account: accepted() }),
  });
}

const DOCUMENTS = [
  'bank_account_ownership_verification',
  'company_license',
  'company_memorandum_of_association',
  'company_ministerial_decree',
  'company_registration_verification',
  'company_tax_id_verification',
  'proof_of_address',
];
const SIGNED_DOCUMENTS = ['proof_of_registration', 'proof_of_ultimate_beneficial_ownership'];

function businessDetails(options: ParamsOptions): TSchema {
  const { operation, lists } = options;
  const required = operation === 'create' ? ['country'] : [];
  const amount = (): TSchema =>
    group(
      {
        value: whole({ nullable: false, minimum: 0 }),
        currency: fixedOneOf([...lists.currencies], { spelling: 'lower' }),
      },
      { required: ['value', 'currency'] },
    );
  return group({
    additional_addresses: list(
      address(options, {
        required: ['purpose', ...required],
        more: { purpose: fixedOneOf(['administrative', 'principal_place_of_business']) },
      }),
    ),
    address: address(options, { required }),
    annual_revenue: group({
      amount: amount(),
      fiscal_year_end: text({ format: 'date' }),
    }),
    documents: group({
      ...Object.fromEntries(DOCUMENTS.map((name) => [name, files()])),
      ...Object.fromEntries(
        SIGNED_DOCUMENTS.map((name) => [name, files({ signer: group({ person: text() }) })]),
      ),
      primary_verification: frontAndBack(operation),
    }),
    estimated_worker_count: whole({ minimum: 0 }),
    id_numbers: list(
      group(
        { type: fixedOneOf(lists.businessIdTypes), value: fixedText(), registrar: text() },
        { required: ['type', 'value'], nullable: false },
      ),
    ),
    monthly_estimated_revenue: group({ amount: amount() }),
    phone: text(),
    registered_name: text(),
    registration_date: date(),
    script_addresses: group({
      kana: address(options, { required }),
      kanji: address(options, { required }),
    }),
    script_names: group({
      kana: group({ registered_name: text() }),
      kanji: group({ registered_name: text() }),
    }),
    structure: oneOf(lists.structures),
  });
}

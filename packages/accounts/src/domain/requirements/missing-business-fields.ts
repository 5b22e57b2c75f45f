import { isInList } from '../reference/countries.js';
import { requirementTable } from '../reference/small-tables.js';
import type { Capability, MissingField } from './missing-field.js';
import { addressMembers } from './missing-person-fields.js';
import { PAYOUTS, type RequirementsContext } from './requirements-context.js';

const BUSINESS = 'identity.business_details';

/**
 * Returns the missing basic data of every merchant or recipient (rows 1 to 3). Source: accounts,
 * section 16.2.
 */
export function missingBasicFields(context: RequirementsContext): MissingField[] {
  const all = context.restricts.business;
  const { fields } = context.account;
  return [
    ...unless(context.entityType, 'identity.entity_type', all),
    ...unless(fields.contact_email, 'contact_email', all),
    ...when(context.isOrganisation, () =>
      unless(
        fields.identity?.business_details?.registered_name,
        `${BUSINESS}.registered_name`,
        all,
      ),
    ),
  ];
}

/** Returns the missing data of organizations (rows 4 to 7). */
export function missingOrganisationFields(context: RequirementsContext): MissingField[] {
  if (!context.isOrganisation) return [];
  const { country } = context;
  const business = context.account.fields.identity?.business_details;
  const table = requirementTable();
  const merchant = context.restricts.merchant;
  const address = addressMembers(country).flatMap((member) =>
    unless(
      business?.address?.[member],
      `${BUSINESS}.address.${member}`,
      context.restricts.business,
    ),
  );
  const type = country === undefined ? undefined : table.primary_business_id_number[country];
  const hasNumber = business?.id_numbers?.some((number) => number.type === type);
  const needsStructure = country !== undefined && table.structure.includes(country);
  return [
    ...address,
    ...unless(business?.phone, `${BUSINESS}.phone`, merchant),
    ...when(type !== undefined, () =>
      unless(hasNumber, `${BUSINESS}.id_numbers.${type}`, context.restricts.numbers),
    ),
    ...when(needsStructure, () => unless(business?.structure, `${BUSINESS}.structure`, merchant)),
  ];
}

/** Returns the missing data of merchants (rows 8 to 11). */
export function missingMerchantFields(context: RequirementsContext): MissingField[] {
  const cards = context.restricts.cards;
  const { configuration, defaults, dashboard } = context.account.fields;
  const merchant = configuration?.merchant;
  const profile = defaults?.profile;
  const url = unless(
    profile?.business_url ?? profile?.product_description,
    'defaults.profile.business_url',
    cards,
  );
  return [
    ...unless(merchant?.mcc, 'configuration.merchant.mcc', cards),
    ...url.map((missingField) => ({
      ...missingField,
      alternative: 'defaults.profile.product_description',
    })),
    ...when(context.country !== 'JP', () =>
      unless(
        merchant?.statement_descriptor?.descriptor,
        'configuration.merchant.statement_descriptor.descriptor',
        cards,
      ),
    ),
    ...when(dashboard === 'none', () =>
      unless(merchant?.support?.phone, 'configuration.merchant.support.phone', cards),
    ),
  ];
}

/** Returns a missing owner and a missing ownership declaration (rows 16 to 18 and 22). */
export function missingOwnershipFields(
  context: RequirementsContext,
  hasOwner: boolean,
): MissingField[] {
  const { country, entityType } = context;
  if (entityType !== 'company' || country === undefined) return [];
  const table = requirementTable();
  const payouts = context.restricts.payouts;
  const attestations = context.account.fields.identity?.attestations;
  const provided = attestations?.persons_provided;
  const path = 'identity.attestations.persons_provided';
  const isAnswered = hasOwner || provided?.owners || provided?.ownership_exemption_reason;
  const owner = unless(isAnswered, 'relationship.owner', payouts);
  const declaresOwners =
    isInList(table.ownership_declaration, country) && provided?.owners === true;
  const declaration = unless(
    attestations?.ownership_declaration,
    'identity.attestations.ownership_declaration',
    payouts,
  );
  return [
    ...owner.map((missingField) => ({ ...missingField, alternative: `${path}.owners` })),
    ...when(isInList(table.directors, country), () =>
      unless(provided?.directors, `${path}.directors`, payouts),
    ),
    ...when(isInList(table.executives, country), () =>
      unless(provided?.executives, `${path}.executives`, payouts),
    ),
    ...when(declaresOwners, () =>
      declaration.map((missingField) => ({ ...missingField, extraGraceCount: 1 })),
    ),
  ];
}

/** Returns missing terms of service, payout methods and Japanese scripts (rows 20, 21 and 23). */
export function missingAgreements(context: RequirementsContext): MissingField[] {
  const { identity, defaults } = context.account.fields;
  const { currency } = context;
  const outgoing = context.restricts.business.filter(
    ({ id }) => id === PAYOUTS || id.startsWith('bank_accounts.'),
  );
  const hasMethod = currency !== undefined && defaults?.payout_methods?.[currency] !== undefined;
  return [
    ...when(context.collector === 'application', () =>
      unless(
        identity?.attestations?.terms_of_service?.account,
        'identity.attestations.terms_of_service.account',
        context.restricts.business,
      ),
    ),
    ...when(context.account.livemode && currency !== undefined, () =>
      unless(hasMethod, `defaults.payout_methods.${currency}`, outgoing),
    ),
    ...when(context.country === 'JP', () => missingScriptFields(context)),
  ];
}

function missingScriptFields(context: RequirementsContext): MissingField[] {
  const business = context.account.fields.identity?.business_details;
  const holder = context.isOrganisation ? business : context.individual;
  const path = context.isOrganisation ? BUSINESS : 'identity.individual';
  const merchant = context.restricts.merchant;
  if (context.entityType === undefined) return [];
  return (['script_names', 'script_addresses'] as const).flatMap((member) =>
    (['kana', 'kanji'] as const).flatMap((script) =>
      unless(holder?.[member]?.[script], `${path}.${member}.${script}`, merchant),
    ),
  );
}

/**
 * Returns the missing tax location of customers (row 24). An address or the IP address of the
 * customer's device determines the location.
 */
export function missingTaxFields(context: RequirementsContext): MissingField[] {
  const restricts = context.restricts.tax;
  const customer = context.account.fields.configuration?.customer;
  if (restricts.length === 0 || customer?.automatic_indirect_tax?.ip_address) return [];
  const shipping = customer?.shipping?.address;
  const address = context.isOrganisation
    ? context.account.fields.identity?.business_details?.address
    : context.individual.address;
  if (
    isTaxPlace(context.country, address?.state) ||
    isTaxPlace(shipping?.country, shipping?.state)
  ) {
    return [];
  }
  const base = context.entityType === 'individual' ? 'identity.individual' : BUSINESS;
  const missing = context.country === undefined ? 'identity.country' : `${base}.address.state`;
  return [{ description: missing, restricts }];
}

/** Whether a country is known, so that only the precision of the tax location is missing. */
export function hasTaxCountry({ account, country }: RequirementsContext): boolean {
  const customer = account.fields.configuration?.customer;
  return (
    country !== undefined ||
    customer?.shipping?.address?.country !== undefined ||
    customer?.automatic_indirect_tax?.ip_address !== undefined
  );
}

function isTaxPlace(country: string | undefined, state: string | undefined): boolean {
  if (country === undefined) return false;
  return state !== undefined || !requirementTable().tax_state.includes(country);
}

export function unless(
  datum: unknown,
  description: string,
  restricts: readonly Capability[],
): MissingField[] {
  return datum ? [] : [{ description, restricts }];
}

function when(condition: boolean, missingFields: () => MissingField[]): MissingField[] {
  return condition ? missingFields() : [];
}

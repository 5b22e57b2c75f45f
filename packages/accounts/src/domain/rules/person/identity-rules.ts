import type { IdentityFields, StoredAccount } from '../../../model/account/account.js';
import type { PersonFields } from '../../../model/account/person.js';
import { isSame } from '../../../model/merge-fields.js';
import type { Violation } from '../../../model/violation.js';
import { isEntityTypeIn, isStructureOf } from '../../reference/entity-types.js';
import type { AccountContext } from '../account/account-context.js';
import { firstOf, firstViolation, quote, violate } from '../violate.js';

/** Members of `identity` that an account with only a customer configuration may have. */
const CUSTOMER_MEMBERS: readonly string[] = ['country', 'entity_type'];
const CUSTOMER_BUSINESS_MEMBERS: readonly string[] = [
  'registered_name',
  'address',
  'additional_addresses',
  'id_numbers',
  'phone',
  'script_names',
  'script_addresses',
];
const CUSTOMER_INDIVIDUAL_MEMBERS: readonly string[] = [
  'given_name',
  'surname',
  'address',
  'phone',
  'script_names',
  'script_addresses',
  'metadata',
];

/** Checks the identity (step 13). */
export function checkIdentity(context: AccountContext): Violation | undefined {
  return firstViolation(
    [checkCustomerMembers, checkImmutable, checkCountryPresent, checkEntityType, checkStructure],
    context,
  );
}

/** An account with only a customer configuration cannot have other identity members (row 91). */
function checkCustomerMembers(context: AccountContext): Violation | undefined {
  const { requestFields, appliedAfter } = context;
  if (!requestFields.identity || context.isBusiness || !appliedAfter.has('customer'))
    return undefined;
  const { business_details: business, individual, ...others } = requestFields.identity;
  const refused =
    foreignMember('identity', others, CUSTOMER_MEMBERS) ??
    foreignMember('identity.business_details', business, CUSTOMER_BUSINESS_MEMBERS) ??
    foreignMember('identity.individual', individual, CUSTOMER_INDIVIDUAL_MEMBERS);
  if (refused === undefined) return undefined;
  return violate('unsupported_identity_field_for_configs', {
    param: refused,
    message: `${refused} cannot be set on an account that is only a customer.`,
  });
}

/**
 * Verified or locked identity fields cannot change (section 10.3). Sending the stored value is
 * allowed.
 */
function checkImmutable(context: AccountContext): Violation | undefined {
  const { stored, requestFields } = context;
  if (stored === undefined || !requestFields.identity) return undefined;
  const before = stored.fields.identity ?? {};
  const after = context.fields.identity ?? {};
  return (
    checkFixedKind(context, before, after) ??
    checkLocked(context, before, after) ??
    checkVerifiedBusiness(context, before, after)
  );
}

function checkFixedKind(
  context: AccountContext,
  before: IdentityFields,
  after: IdentityFields,
): Violation | undefined {
  if (context.stored?.everActive.length === 0) return undefined;
  return firstOf(['country', 'entity_type'] as const, (member) => {
    const was = before[member];
    return was === undefined || was === after[member]
      ? undefined
      : immutable(`identity.${member}`, 'after a capability has been active');
  });
}

function checkLocked(
  context: AccountContext,
  before: IdentityFields,
  after: IdentityFields,
): Violation | undefined {
  if (!context.stored?.overrides.identity_locked) return undefined;
  const { individual: _, ...members } = after;
  const changed = changedMember(before, members) ?? changedIndividual(context, []);
  return changed === undefined ? undefined : immutable(`identity.${changed}`, 'while it is locked');
}

function checkVerifiedBusiness(
  context: AccountContext,
  before: IdentityFields,
  after: IdentityFields,
): Violation | undefined {
  const { stored } = context;
  if (!stored || !context.livemode || context.responsibilities.requirements !== 'vendor')
    return undefined;
  if (verificationOf(stored, 'business') === 'success') {
    const changed = (['registered_name', 'id_numbers'] as const).find(
      (name) => !isSame(before.business_details?.[name], after.business_details?.[name]),
    );
    if (changed)
      return immutable(
        `identity.business_details.${changed}`,
        'after the identity has been verified',
      );
  }
  if (verificationOf(stored, `person:${stored.individualId}`) !== 'success') return undefined;
  const changed = changedIndividual(context, VERIFIED_PERSON_MEMBERS);
  return changed === undefined
    ? undefined
    : immutable(`identity.${changed}`, 'after the identity has been verified');
}

/** Returns the status of the verification of `target`, such as `success`. */
export function verificationOf(account: StoredAccount, target: string): string | undefined {
  return account.verifications[target]?.status;
}

export const VERIFIED_PERSON_MEMBERS = [
  'given_name',
  'surname',
  'date_of_birth',
  'id_numbers',
] as const;

export function immutable(param: string, when: string): Violation {
  return violate('immutable_identity_param', {
    param,
    message: `${param} cannot be changed ${when}.`,
  });
}

/** Returns the first member of `after` (or of `only`) that differs. */
export function changedMember(
  before: object,
  after: object,
  only?: readonly string[],
): string | undefined {
  const names = only?.length ? only : new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].find((name) => !isSame(Reflect.get(before, name), Reflect.get(after, name)));
}

function changedIndividual(context: AccountContext, only: readonly string[]): string | undefined {
  const after = context.fields.identity?.individual;
  if (!context.requestFields.identity?.individual || after === undefined) return undefined;
  const before: PersonFields =
    context.persons.find(({ id }) => id === context.stored?.individualId)?.fields ?? {};
  const changed = changedMember(before, after, only);
  return changed === undefined ? undefined : `individual.${changed}`;
}

/** A merchant or recipient needs a country (row 54). */
function checkCountryPresent(context: AccountContext): Violation | undefined {
  if (!context.isBusiness || context.country !== undefined) return undefined;
  return violate('identity_country_required', {
    param: 'identity.country',
    message: 'identity.country is required for a merchant or recipient configuration.',
  });
}

/** The entity type must be supported in the country (row 51). */
function checkEntityType(context: AccountContext): Violation | undefined {
  const { country, isBusiness } = context;
  const entityType = context.fields.identity?.entity_type;
  if (!isBusiness || country === undefined || entityType === undefined) return undefined;
  const isProvided = context.provided.hasAny(['identity.country', 'identity.entity_type']);
  if ((!isProvided && !context.becomesBusiness) || isEntityTypeIn(entityType, country))
    return undefined;
  return violate('entity_type_not_supported_in_country', {
    param: 'identity.entity_type',
    message: `identity.entity_type ${quote(entityType)} is not supported in ${country}.`,
  });
}

/** The structure must exist for the entity type in the country (row 82). */
function checkStructure(context: AccountContext): Violation | undefined {
  const { country, fields } = context;
  const entityType = fields.identity?.entity_type;
  const structure = fields.identity?.business_details?.structure;
  if (!country || !entityType || !structure || !isKindProvided(context)) return undefined;
  if (isStructureOf(structure, { country, entityType })) return undefined;
  return violate('structure_incompatible_for_entity_type_country', {
    param: 'identity.business_details.structure',
    message: `identity.business_details.structure ${quote(structure)} is not available for the entity type ${quote(entityType)} in ${country}.`,
  });
}

/** Whether the request provides fields that determine the kind of entity. */
export function isKindProvided(context: AccountContext): boolean {
  return context.provided.hasAny([
    'identity.country',
    'identity.entity_type',
    'identity.business_details.structure',
  ]);
}

function foreignMember(
  path: string,
  sent: object | null | undefined,
  known: readonly string[],
): string | undefined {
  const name = Object.entries(sent ?? {}).find(
    ([member, value]) => value !== null && value !== undefined && !known.includes(member),
  )?.[0];
  return name === undefined ? undefined : `${path}.${name}`;
}

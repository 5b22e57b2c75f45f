import { requirementsCollectorOf } from '../../../model/account/derived.js';
import type { PersonCheck } from '../../../model/rule-input.js';
import type { Violation } from '../../../model/violation.js';
import { checkMetadata } from '../account/metadata-rules.js';
import { checkRegistration } from '../account/platform-rules.js';
import { checkAge } from '../fields/date-rules.js';
import type { FieldContext } from '../fields/field-context.js';
import { checkFields } from '../fields/field-rules.js';
import { checkIdNumberCountries, known } from '../fields/id-number-rules.js';
import { personProvidedFields } from '../fields/provided-fields.js';
import { firstOf, firstViolation, quote, violate } from '../violate.js';
import {
  changedMember,
  immutable,
  VERIFIED_PERSON_MEMBERS,
  verificationOf,
} from './identity-rules.js';
import { checkOwnShare } from './ownership-rules.js';
import type { PersonContext } from './person-context.js';
import { checkDuplicate } from './person-likeness.js';
import { checkRelationships, checkTotalOwnership } from './relationship-rules.js';

const MAX_PERSON_COUNT = 500;

/** Checks a Person (every row marked P, in the order of section 12). */
export function checkPerson(check: PersonCheck): Violation | undefined {
  const { fields } = check.account;
  return firstViolation(
    [
      ({ requestFields, merged }) =>
        checkMetadata('metadata', (requestFields.metadata && merged.fields.metadata) ?? undefined),
      ({ platform }) => checkRegistration(platform),
      checkTokenMandate,
      checkOnlyPerson,
      checkImmutable,
      checkCountryPresent,
      checkPersonFields,
      checkRelationships,
    ],
    {
      ...check,
      others: check.persons.filter(({ id }) => id !== check.merged.id),
      country: fields.identity?.country,
      entityType: fields.identity?.entity_type,
      requirementsCollector: requirementsCollectorOf({
        dashboard: fields.dashboard,
        losses: fields.defaults?.responsibilities?.losses_collector,
      }),
    },
  );
}

/**
 * In some platform countries, person data must be sent in a person token (section 14, like row 16).
 */
function checkTokenMandate(context: PersonContext): Violation | undefined {
  const { country, token_mandate_countries: countries } = context.platform;
  if (context.hasPersonToken || context.requirementsCollector !== 'application') return undefined;
  if (!countries.includes(country)) return undefined;
  return violate('person_token_required', {
    param: 'person_token',
    message: `person_token is required for platforms in ${country}.`,
  });
}

/**
 * Limits the number of persons (section 14). The service has its own limit, because every account
 * write checks all persons of the account.
 */
function checkOnlyPerson(context: PersonContext): Violation | undefined {
  if (context.operation !== 'create') return undefined;
  if (context.entityType === 'individual') {
    return violate('individual_additional_person_not_allowed', {
      message:
        'An account with the entity type "individual" has only one person, identity.individual.',
    });
  }
  if (context.others.length < MAX_PERSON_COUNT) return undefined;
  return violate('account_person_limit_reached', {
    message: `Account ${context.account.id} has reached the limit of ${MAX_PERSON_COUNT} persons.`,
  });
}

/** Verified or locked fields cannot change (section 10.3). */
function checkImmutable(context: PersonContext): Violation | undefined {
  const { stored, account } = context;
  if (stored === undefined) return undefined;
  if (account.overrides.identity_locked) {
    const changed = changedMember(
      { ...stored.fields, metadata: undefined },
      { ...context.merged.fields, metadata: undefined },
    );
    if (changed) return immutable(changed, 'while the identity is locked');
  }
  if (!context.livemode || context.requirementsCollector !== 'vendor') return undefined;
  if (verificationOf(account, `person:${stored.id}`) !== 'success') return undefined;
  const changed = changedMember(stored.fields, context.merged.fields, VERIFIED_PERSON_MEMBERS);
  return changed === undefined
    ? undefined
    : immutable(changed, 'after the person has been verified');
}

/** Some fields need the account's country (row 54). */
function checkCountryPresent(context: PersonContext): Violation | undefined {
  if (context.country !== undefined) return undefined;
  const path = context.requestFields.id_numbers?.length
    ? 'id_numbers'
    : context.requestFields.address && !context.merged.fields.address?.country
      ? 'address'
      : undefined;
  if (path === undefined) return undefined;
  return violate('identity_country_required', {
    param: path === 'address' ? 'address.country' : path,
    message: `${path} requires identity.country on the account.`,
  });
}

/** Checks person fields (step 14). */
function checkPersonFields(context: PersonContext): Violation | undefined {
  const fields: FieldContext = {
    provided: personProvidedFields(context.requestFields, context.merged.fields),
    livemode: context.livemode,
    nowMs: context.nowMs,
    platform: context.platform,
    facts: context.facts,
    accountId: context.account.id,
    country: context.country,
    idNumberCountries: () => idNumberCountries(context),
    isRecipient: context.account.applied.recipient?.isActive === true,
  };
  return checkFields(fields, {
    checkAges: () => checkRepresentativeAge(context),
    checkAddressCountries: () => checkAddressCountries(context, fields),
    checkIdNumberHolders: () => checkIdNumbers(context),
    checkOwnership: () => checkOwnership(context),
  });
}

/**
 * A representative must have the minimum age, whichever of role and date of birth is sent last (row
 * 41).
 */
function checkRepresentativeAge(context: PersonContext): Violation | undefined {
  const { relationship, date_of_birth: birth } = context.merged.fields;
  const isIndividual = context.account.individualId === context.merged.id;
  if (birth === undefined || !(relationship?.representative || isIndividual)) return undefined;
  if (!context.provided.hasAny(['date_of_birth', 'relationship.representative'])) return undefined;
  const ageLimit = context.platform.age_limit;
  return checkAge({ path: 'date_of_birth', value: birth }, { nowMs: context.nowMs, ageLimit });
}

/**
 * All addresses of a person must be in one country, and the address of an individual in the account's country
 * (section 14 and row 19).
 */
function checkAddressCountries(
  context: PersonContext,
  fields: FieldContext,
): Violation | undefined {
  const { provided } = fields;
  const own = context.merged.fields.address?.country;
  const isIndividual = context.account.individualId === context.merged.id;
  if (
    isIndividual &&
    own &&
    context.country &&
    own !== context.country &&
    context.provided.has('address.country')
  ) {
    return violate('address_country_identity_country_mismatch', {
      param: 'address.country',
      message: `address.country ${quote(own)} does not match the account's identity.country ${quote(context.country)}.`,
    });
  }
  const addresses = [...provided.addresses, ...provided.scriptAddresses];
  const missing = addresses.find(({ merged }) => !merged.country);
  if (missing) {
    return violate('address_country_required', {
      param: `${missing.path}.country`,
      message: `${missing.path}.country is required.`,
    });
  }
  const others = addresses.filter(({ path }) => path !== 'address');
  return firstOf(own ? others : [], ({ path, merged }) =>
    merged.country === own
      ? undefined
      : violate('address_country_mismatch', {
          param: `${path}.country`,
          message: `${path}.country "${merged.country}" does not match address.country "${own}".`,
        }),
  );
}

/** Id numbers must belong to a known country (row 55). */
function checkIdNumbers(context: PersonContext): Violation | undefined {
  if (!context.provided.has('id_numbers')) return undefined;
  const numbers = context.merged.fields.id_numbers ?? [];
  return checkIdNumberCountries('id_numbers', numbers, idNumberCountries(context));
}

function idNumberCountries({ country, merged }: PersonContext): string[] {
  const { address, nationalities } = merged.fields;
  return known([country, address?.country, ...(nationalities ?? [])]);
}

/** Checks the person's share and the total of all owners (row 70 and section 14). */
function checkOwnership(context: PersonContext): Violation | undefined {
  if (context.provided.hasAny(['relationship.owner', 'relationship.percent_ownership'])) {
    const violation = checkOwnShare('relationship', context.merged.fields.relationship);
    if (violation) return violation;
  }
  if (context.provided.hasAny(['given_name', 'surname', 'date_of_birth'])) {
    const violation = checkDuplicate(context.merged.fields, context.others, '');
    if (violation) return violation;
  }
  return checkTotalOwnership(context);
}

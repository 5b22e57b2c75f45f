import type { Violation } from '../../../model/violation.js';
import type { IdNumberHolder } from '../../reference/id-numbers.js';
import { checkAge } from '../fields/date-rules.js';
import type { FieldContext } from '../fields/field-context.js';
import { checkFields } from '../fields/field-rules.js';
import {
  checkIdNumberCountries,
  checkIdNumberStructures,
  known,
} from '../fields/id-number-rules.js';
import { accountProvidedFields } from '../fields/provided-fields.js';
import { isKindProvided } from '../person/identity-rules.js';
import { checkOwnShare, exceedsWhole } from '../person/ownership-rules.js';
import { checkDuplicate } from '../person/person-likeness.js';
import { firstOf, quote, violate } from '../violate.js';
import type { AccountContext } from './account-context.js';

/** Checks account fields (step 14). */
export function checkAccountFields(context: AccountContext): Violation | undefined {
  const fields: FieldContext = {
    provided: accountProvidedFields(context.requestFields, context.fields),
    livemode: context.livemode,
    nowMs: context.nowMs,
    platform: context.platform,
    facts: context.facts,
    accountId: context.merged.id,
    country: context.country,
    idNumberCountries: (holder) => idNumberCountries(context, holder),
    isRecipient: context.appliedAfter.has('recipient'),
  };
  return checkFields(fields, {
    checkAges: () =>
      firstOf(fields.provided.birthDates, (date) =>
        checkAge(date, { nowMs: context.nowMs, ageLimit: context.platform.age_limit }),
      ),
    checkAddressCountries: () => checkAddressCountries(context),
    checkIdNumberHolders: () => checkIdNumberHolders(context),
    checkOwnership: () => checkIndividual(context),
  });
}

/** Addresses must be in the account's country (row 19). */
function checkAddressCountries(context: AccountContext): Violation | undefined {
  const { country } = context;
  const identity = context.fields.identity;
  if (country === undefined) return undefined;
  const addresses = [
    ['identity.business_details.address', identity?.business_details?.address],
    ['identity.individual.address', identity?.individual?.address],
  ] as const;
  return firstOf(addresses, ([path, address]) => {
    if (!address?.country || address.country === country) return undefined;
    if (!context.provided.hasAny(['identity.country', `${path}.country`])) return undefined;
    return violate('address_country_identity_country_mismatch', {
      param: `${path}.country`,
      message: `${path}.country ${quote(address.country)} does not match identity.country ${quote(country)}.`,
    });
  });
}

/**
 * Id numbers must belong to the country and the kind of entity (rows 55 and 57). Checks sent
 * numbers, and stored ones if the fields they depend on are sent.
 */
function checkIdNumberHolders(context: AccountContext): Violation | undefined {
  const {
    business_details: business,
    individual,
    entity_type: entityType,
  } = context.fields.identity ?? {};
  const numbers = business?.id_numbers ?? [];
  const path = 'identity.business_details.id_numbers';
  const personPath = 'identity.individual.id_numbers';
  const isCountryProvided = context.provided.has('identity.country');
  return (
    (isCountryProvided || context.provided.has(path)
      ? checkIdNumberCountries(path, numbers, idNumberCountries(context, 'business'))
      : undefined) ??
    (isCountryProvided || context.provided.has(personPath)
      ? checkIdNumberCountries(
          personPath,
          individual?.id_numbers ?? [],
          idNumberCountries(context, 'person'),
        )
      : undefined) ??
    (isKindProvided(context) || context.provided.has(path)
      ? checkIdNumberStructures(path, numbers, { entityType, structure: business?.structure })
      : undefined)
  );
}

function idNumberCountries({ country, fields }: AccountContext, holder: IdNumberHolder): string[] {
  if (holder === 'business') return known([country]);
  const { address, nationalities } = fields.identity?.individual ?? {};
  return known([country, address?.country, ...(nationalities ?? [])]);
}

/** Checks the person of an individual account (row 70 and section 14). */
function checkIndividual(context: AccountContext): Violation | undefined {
  const individual = context.fields.identity?.individual;
  const base = 'identity.individual.';
  if (!context.requestFields.identity?.individual || individual === undefined) return undefined;
  const others = context.persons.filter(({ id }) => id !== context.merged.individualId);
  const isShareProvided = context.provided.has(`${base}relationship`);
  const shares = [individual.relationship, ...others.map(({ fields }) => fields.relationship)];
  const share = isShareProvided
    ? checkOwnShare(`${base}relationship`, individual.relationship)
    : undefined;
  if (share) return share;
  const names = ['given_name', 'surname', 'date_of_birth'].map((name) => `${base}${name}`);
  if (context.provided.hasAny(names)) {
    const duplicate = checkDuplicate(individual, others, base);
    if (duplicate) return duplicate;
  }
  if (!isShareProvided || !exceedsWhole(shares)) return undefined;
  return violate('total_person_ownership_exceeded', {
    param: `${base}relationship.percent_ownership`,
    message: `${base}relationship.percent_ownership raises the total ownership above 100 %.`,
  });
}

import type { PersonFields, StoredPerson } from '../../model/account/person.js';
import { requirementTable } from '../reference/small-tables.js';
import { isAtLeast } from '../rules/person/ownership-rules.js';
import { type Capability, type MissingField, personReference } from './missing-field.js';
import type { RequirementsContext } from './requirements-context.js';

/** Minimum share, in percent, of an owner who must be named. */
const NAMED_OWNER_PERCENT = 25;
const IDENTIFYING = ['given_name', 'surname', 'date_of_birth'] as const;

/** Returns the required address members in this country. */
export function addressMembers(
  country: string | undefined,
): readonly ('line1' | 'city' | 'postal_code' | 'state')[] {
  const { states, no_postal_code: without } = requirementTable();
  const hasPostalCode = country === undefined || !without.includes(country);
  const hasState = country !== undefined && states.includes(country);
  return [
    'line1',
    'city',
    ...(hasPostalCode ? (['postal_code'] as const) : []),
    ...(hasState ? (['state'] as const) : []),
  ];
}

/** Returns the missing data of the individual (rows 12 and 13). Source: accounts, section 16.2. */
export function missingIndividualFields(context: RequirementsContext): MissingField[] {
  if (context.entityType !== 'individual') return [];
  const { individual, country } = context;
  const base = 'identity.individual.';
  const all = context.restricts.business;
  const missingFields = [
    ...lacking(individual, IDENTIFYING, all),
    ...lacking(individual, ['email', 'phone'], context.restricts.merchant),
    ...lackingAddress(individual, country, all),
    ...lackingNumber(individual, country, context.restricts.numbers),
  ];
  return missingFields.map((missingField) => ({
    ...missingField,
    description: base + missingField.description,
    ...(missingField.alternative !== undefined && { alternative: base + missingField.alternative }),
  }));
}

/** Returns the missing data of the representative (rows 14 and 15). */
export function missingRepresentativeFields(context: RequirementsContext): MissingField[] {
  const restricts = context.restricts.merchant;
  if (!context.isOrganisation || !context.applied.has('merchant')) return [];
  const person = context.persons.find(({ fields }) => fields.relationship?.representative);
  if (person === undefined) return [{ description: 'relationship.representative', restricts }];
  const { fields } = person;
  const country = fields.address?.country ?? context.country;
  const title: MissingField[] = fields.relationship?.title
    ? []
    : [{ description: 'relationship.title', restricts }];
  return ofPerson(person, [
    ...lacking(fields, [...IDENTIFYING, 'email', 'phone'], restricts),
    ...lackingAddress(fields, country, restricts),
    ...title,
    ...(context.country === 'US' ? lackingNumber(fields, 'US', restricts) : []),
  ]);
}

/** Returns the missing identity data of owners, directors and executives (row 19). */
export function missingOfficerFields(context: RequirementsContext): MissingField[] {
  const restricts = context.restricts.payouts;
  if (!context.isOrganisation) return [];
  return context.persons
    .filter(({ fields: { relationship } }) =>
      Boolean(relationship?.owner || relationship?.director || relationship?.executive),
    )
    .flatMap((person) => ofPerson(person, lacking(person.fields, IDENTIFYING, restricts)));
}

/** Whether there is an owner with a reportable share (row 16). */
export function hasNamedOwner(persons: readonly StoredPerson[]): boolean {
  return persons.some(
    ({ fields: { relationship } }) =>
      relationship?.owner === true &&
      isAtLeast(relationship.percent_ownership, NAMED_OWNER_PERCENT),
  );
}

/** Returns the id number types that identify a person in this country, including alternatives. */
export function personNumberTypes(country: string | undefined): readonly string[] {
  const table = requirementTable();
  const type = country === undefined ? undefined : table.person_id_number[country];
  if (type === undefined) return [];
  // The full number includes its last digits.
  const types = [type, table.person_id_number_alternative[type]].filter((t) => t !== undefined);
  return [...types, ...types.map((t) => t.replace(/_last_4$/, ''))];
}

function lackingNumber(
  person: PersonFields,
  country: string | undefined,
  restricts: readonly Capability[],
): MissingField[] {
  const types = personNumberTypes(country);
  const type = types[0];
  if (type === undefined || person.id_numbers?.some((given) => types.includes(given.type)))
    return [];
  const alternative = requirementTable().person_id_number_alternative[type];
  return [
    {
      description: `id_numbers.${type}`,
      restricts,
      ...(alternative !== undefined && { alternative: `id_numbers.${alternative}` }),
    },
  ];
}

function lackingAddress(
  person: PersonFields,
  country: string | undefined,
  restricts: readonly Capability[],
): MissingField[] {
  return addressMembers(country)
    .filter((member) => !person.address?.[member])
    .map((member) => ({ description: `address.${member}`, restricts }));
}

function lacking(
  person: PersonFields,
  members: readonly (keyof PersonFields)[],
  restricts: readonly Capability[],
): MissingField[] {
  return members
    .filter((member) => !person[member])
    .map((member) => ({ description: member, restricts }));
}

function ofPerson({ id }: StoredPerson, missingFields: readonly MissingField[]): MissingField[] {
  return missingFields.map((missingField) => ({ ...missingField, reference: personReference(id) }));
}

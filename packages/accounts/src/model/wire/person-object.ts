import type { IdNumber } from '../account/parts.js';
import type { PersonFields, StoredPerson } from '../account/person.js';
import { timestamp } from '../timestamps.js';

const FIELD_ORDER: readonly (keyof PersonFields)[] = [
  'additional_addresses',
  'additional_names',
  'additional_terms_of_service',
  'address',
  'date_of_birth',
  'documents',
  'email',
  'given_name',
  'id_numbers',
  'legal_gender',
  'metadata',
  'nationalities',
  'phone',
  'political_exposure',
  'relationship',
  'script_addresses',
  'script_names',
  'surname',
];
const ALWAYS: Partial<Record<keyof PersonFields, unknown>> = {
  additional_addresses: [],
  additional_names: [],
  id_numbers: [],
  metadata: {},
  nationalities: [],
};

/** Returns a Person as sent to clients. Source: accounts, section 9.1. */
export function personObject(person: StoredPerson): Record<string, unknown> {
  return {
    id: person.id,
    object: 'v2.core.account_person',
    account: person.accountId,
    created: timestamp(person.createdMs),
    livemode: person.livemode,
    updated: timestamp(person.updatedMs),
    ...personFields(person.fields),
  };
}

/** Returns `identity.individual` of an account: a Person without `livemode`. */
export function individualObject(person: StoredPerson): Record<string, unknown> {
  return {
    id: person.id,
    object: 'v2.core.account_person',
    account: person.accountId,
    created: timestamp(person.createdMs),
    updated: timestamp(person.updatedMs),
    ...personFields(person.fields),
  };
}

function personFields(fields: PersonFields): Record<string, unknown> {
  const wire: Record<string, unknown> = {};
  for (const name of FIELD_ORDER) {
    const value = name === 'id_numbers' ? idNumbers(fields.id_numbers) : fields[name];
    const shown = value ?? ALWAYS[name];
    if (shown !== undefined) wire[name] = shown;
  }
  return wire;
}

/** Omits the values of id numbers, which never leave the service. */
export function idNumbers(
  numbers: readonly IdNumber[] | undefined,
): readonly { readonly type: string; readonly registrar?: string }[] | undefined {
  return numbers?.map(({ type, registrar }) => ({
    type,
    ...(registrar !== undefined && { registrar }),
  }));
}

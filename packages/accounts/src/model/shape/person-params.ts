import type { TSchema } from 'typebox';
import type { ReferenceLists } from '../platform/reference.js';
import {
  fixedOneOf,
  fixedText,
  flag,
  group,
  list,
  type Options,
  oneOf,
  record,
  text,
  whole,
} from './fields.js';

export type Operation = 'create' | 'update';

/** Context of a Person's fields; their schemas differ slightly. */
export type PersonForm = 'person' | 'person_token' | 'individual' | 'account_token';

export interface ParamsOptions {
  readonly operation: Operation;
  readonly lists: ReferenceLists;
}

/** Maximum number of metadata keys. Source: accounts, section 8.1. */
export const MAX_METADATA_KEY_COUNT = 50;

export const METADATA: TSchema = record(
  fixedText({ spelling: 'text', maxLength: 500, nullable: true }),
  {
    maxProperties: MAX_METADATA_KEY_COUNT,
    maxKeyLength: 40,
    keyPattern: '^[^\\[\\]]+$',
    description: 'up to 50 keys of up to 40 characters; null or an empty string removes a key',
  },
);

export const country = (lists: ReferenceLists, options: Options = {}): TSchema =>
  oneOf([...lists.countries], { spelling: 'upper', ...options });

export const address = (
  { lists }: ParamsOptions,
  options: { readonly required?: readonly string[]; readonly more?: Record<string, TSchema> } = {},
): TSchema =>
  group(
    {
      city: text(),
      country: country(lists),
      line1: text(),
      line2: text(),
      postal_code: text(),
      state: text(),
      town: text(),
      ...options.more,
    },
    { required: options.required ?? [] },
  );

export const date = (): TSchema =>
  group(
    {
      day: whole({ nullable: false }),
      month: whole({ nullable: false }),
      year: whole({ nullable: false }),
    },
    { required: ['day', 'month', 'year'] },
  );

export const files = (more: Record<string, TSchema> = {}): TSchema =>
  group(
    { type: fixedOneOf(['files']), files: list(fixedText(), { maxItems: 50 }), ...more },
    { required: ['type'] },
  );

export const frontAndBack = (operation: Operation): TSchema =>
  group(
    {
      type: fixedOneOf(['front_back']),
      front_back: group(
        { front: text(), back: text() },
        { required: operation === 'create' ? ['front'] : [] },
      ),
    },
    { required: ['type'] },
  );

export const attestation = (required: readonly string[] = []): TSchema =>
  group({ date: text({ format: 'date-time' }), ip: text(), user_agent: text() }, { required });

/** Returns the schema of person parameters. Source: accounts, section 9.1. */
export function personParams(options: ParamsOptions, form: PersonForm): TSchema {
  const { operation, lists } = options;
  const isToken = form === 'person_token' || form === 'account_token';
  // A Person's address without a country has a separate error code, which the rules return.
  const required = operation === 'create' && form === 'individual' ? ['country'] : [];
  const accepted = isToken
    ? group({ shown_and_accepted: flag() })
    : attestation(operation === 'create' ? ['date', 'ip'] : []);
  const relations = {
    ...(form === 'person' || form === 'person_token'
      ? { authorizer: flag(), legal_guardian: flag(), representative: flag() }
      : {}),
    director: flag(),
    executive: flag(),
    owner: flag(),
    percent_ownership: text({ spelling: 'decimal' }),
    title: text(),
  };
  return group({
    additional_addresses: list(
      address(options, {
        required: ['purpose', ...required],
        more: { purpose: fixedOneOf(['registered']) },
      }),
    ),
    additional_names: list(
      group(
        {
          purpose: fixedOneOf(['alias', 'maiden']),
          full_name: text(),
          given_name: text(),
          surname: text(),
        },
        { required: ['purpose'] },
      ),
    ),
    additional_terms_of_service: group({ account: accepted }),
    address: address(options, { required }),
    date_of_birth: date(),
    documents: group({
      company_authorization: files(),
      passport: files(),
      visa: files(),
      primary_verification: frontAndBack(operation),
      secondary_verification: frontAndBack(operation),
    }),
    email: text(),
    given_name: text(),
    surname: text(),
    id_numbers: list(
      group(
        { type: fixedOneOf(lists.personIdTypes), value: fixedText() },
        { required: ['type', 'value'], nullable: false },
      ),
    ),
    legal_gender: oneOf(['female', 'male']),
    metadata: METADATA,
    nationalities: list(country(lists, { nullable: false })),
    phone: text(),
    political_exposure: oneOf(['existing', 'none']),
    relationship: group(relations),
    script_addresses: group({
      kana: address(options, { required }),
      kanji: address(options, { required }),
    }),
    script_names: group({
      kana: group({ given_name: text(), surname: text() }),
      kanji: group({ given_name: text(), surname: text() }),
    }),
    ...(form === 'person' ? { person_token: fixedText() } : {}),
  });
}

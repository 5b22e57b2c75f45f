import type { AccountFields } from '../../../model/account/account.js';
import type { Address, RequestFields } from '../../../model/account/parts.js';
import type { PersonFields } from '../../../model/account/person.js';
import type { IdNumberHolder } from '../../reference/id-numbers.js';
import type { GivenDate } from './calendar.js';

export interface Located<T> {
  readonly path: string;
  readonly value: T;
}

export type SentAddress = { readonly [K in keyof Address]?: string | null };

export interface LocatedAddress {
  readonly path: string;
  readonly sent: SentAddress;
  /** As it would be stored; for a list item, the item itself. */
  readonly merged: SentAddress;
}

export interface LocatedScriptAddress extends LocatedAddress {
  readonly script: 'kana' | 'kanji';
}

export interface LocatedPhone extends Located<string> {
  /** Country of the address next to the number, if any. */
  readonly country: string | undefined;
}

export interface LocatedFile extends Located<string> {
  readonly purpose: 'identity_document' | 'account_requirement' | 'business_icon' | 'business_logo';
}

/**
 * Fields of a request by kind rather than by location, so that each rule is written once and
 * applies to all of them. Fields that the request unsets (`null`, `''`) are omitted.
 */
export interface ProvidedFields {
  readonly emails: readonly Located<string>[];
  /** Emails of the account and its persons, by which a recipient must be reachable. */
  readonly recipientEmails: readonly Located<string>[];
  readonly phones: readonly LocatedPhone[];
  readonly urls: readonly Located<string>[];
  readonly ips: readonly Located<string>[];
  readonly birthDates: readonly Located<GivenDate>[];
  readonly registrationDates: readonly Located<GivenDate>[];
  readonly addresses: readonly LocatedAddress[];
  readonly scriptAddresses: readonly LocatedScriptAddress[];
  /** All text in that script: names, descriptors and address lines. */
  readonly kanaTexts: readonly Located<string>[];
  readonly kanjiTexts: readonly Located<string>[];
  readonly idNumbers: readonly (Located<GivenIdNumber> & { readonly holder: IdNumberHolder })[];
  readonly files: readonly LocatedFile[];
}

export interface GivenIdNumber {
  readonly type?: string | null;
  readonly value?: string | null;
  readonly registrar?: string | null;
}

type FieldKind = keyof ProvidedFields;

/**
 * Fields of each kind in a Person. `*` matches each member of an object or each item of a list.
 * Violations are reported in this order.
 */
const PERSON_FIELDS: { readonly [K in FieldKind]: readonly string[] } = {
  emails: ['email'],
  recipientEmails: ['email'],
  phones: ['phone'],
  urls: [],
  ips: ['additional_terms_of_service.account.ip'],
  birthDates: ['date_of_birth'],
  registrationDates: [],
  addresses: ['address', 'additional_addresses.*'],
  scriptAddresses: ['script_addresses.kana', 'script_addresses.kanji'],
  kanaTexts: ['script_addresses.kana.*', 'script_names.kana.*'],
  kanjiTexts: ['script_addresses.kanji.*', 'script_names.kanji.*'],
  idNumbers: ['id_numbers.*'],
  files: ['documents.*.files.*', 'documents.*.front_back.front', 'documents.*.front_back.back'],
};

const BUSINESS_FIELDS: Partial<Record<FieldKind, readonly string[]>> = {
  ...PERSON_FIELDS,
  emails: [],
  recipientEmails: [],
  ips: [],
  birthDates: [],
  registrationDates: ['registration_date'],
};

const MERCHANT = 'configuration.merchant';
const SHIPPING = 'configuration.customer.shipping';
const ATTESTATIONS = 'identity.attestations';

/** Fields before and after `identity`. */
const BEFORE_IDENTITY: Partial<Record<FieldKind, readonly string[]>> = {
  emails: ['contact_email'],
  recipientEmails: ['contact_email'],
  phones: ['contact_phone'],
  urls: ['defaults.profile.business_url'],
  ips: [`${ATTESTATIONS}.*.ip`, `${ATTESTATIONS}.terms_of_service.*.ip`],
};
const AFTER_IDENTITY: Partial<Record<FieldKind, readonly string[]>> = {
  emails: [`${MERCHANT}.support.email`, `${MERCHANT}.konbini_payments.support.email`],
  phones: [`${SHIPPING}.phone`, `${MERCHANT}.support.phone`],
  urls: [`${MERCHANT}.support.url`],
  ips: ['configuration.customer.automatic_indirect_tax.ip_address'],
  addresses: [`${SHIPPING}.address`, `${MERCHANT}.support.address`],
  kanaTexts: [`${MERCHANT}.script_statement_descriptor.kana.*`],
  kanjiTexts: [`${MERCHANT}.script_statement_descriptor.kanji.*`],
  files: [`${MERCHANT}.branding.icon`, `${MERCHANT}.branding.logo`],
};

/** The keys of each pattern. */
type Patterns = ReadonlyMap<FieldKind, readonly (readonly string[])[]>;

const patternsOf = (texts: (kind: FieldKind) => readonly string[]): Patterns =>
  new Map(
    (Object.keys(PERSON_FIELDS) as FieldKind[]).map((kind) => [
      kind,
      texts(kind).map((text) => text.split('.')),
    ]),
  );

const PERSON_PATTERNS = patternsOf((kind) => PERSON_FIELDS[kind]);
const ACCOUNT_PATTERNS = patternsOf((kind) => [
  ...(BEFORE_IDENTITY[kind] ?? []),
  ...(BUSINESS_FIELDS[kind] ?? []).map((path) => `identity.business_details.${path}`),
  ...PERSON_FIELDS[kind].map((path) => `identity.individual.${path}`),
  ...(AFTER_IDENTITY[kind] ?? []),
]);

/** Returns the fields of an Account request. Its shape has been checked. */
export const accountProvidedFields = (
  sent: RequestFields<AccountFields>,
  merged: AccountFields,
): ProvidedFields => findFields({ sent, merged }, ACCOUNT_PATTERNS);

/** Returns the fields of a Person request. Its shape has been checked. */
export const personProvidedFields = (
  sent: RequestFields<PersonFields>,
  merged: PersonFields,
): ProvidedFields => findFields({ sent, merged }, PERSON_PATTERNS);

interface SentAndMerged {
  readonly sent: unknown;
  readonly merged: unknown;
}

interface FoundField extends SentAndMerged {
  readonly path: string;
  /** Object that contains the field, after the change. */
  readonly parent: unknown;
}

function findFields(root: SentAndMerged, patterns: Patterns): ProvidedFields {
  const rootField: FoundField = { ...root, path: '', parent: undefined };
  // The shape check has verified the type of each value.
  const find = <T>(kind: FieldKind): readonly (FoundField & { readonly value: T })[] => {
    const found: FoundField[] = [];
    for (const keys of patterns.get(kind) ?? []) addMatches(found, rootField, keys);
    return found.map((field) => ({ ...field, value: field.sent as T }));
  };
  const located = <T>(kind: FieldKind): Located<T>[] =>
    find<T>(kind).map(({ path, value }) => ({ path, value }));
  const address = ({ path, sent, merged }: FoundField): LocatedAddress => ({
    path,
    sent: sent as SentAddress,
    merged: (merged ?? {}) as SentAddress,
  });
  // The country selects a script's format and is not text in that script.
  const texts = (kind: 'kanaTexts' | 'kanjiTexts'): Located<string>[] =>
    located<string>(kind).filter(({ path }) => !path.endsWith('.country'));
  return {
    emails: located('emails'),
    recipientEmails: located('recipientEmails'),
    phones: find<string>('phones').map(({ path, value, parent }) => ({
      ...{ path, value },
      country: (member(parent, 'address') as Address | undefined)?.country,
    })),
    urls: located('urls'),
    ips: located('ips'),
    birthDates: located('birthDates'),
    registrationDates: located('registrationDates'),
    addresses: find('addresses').map(address),
    scriptAddresses: find('scriptAddresses').map((field) => ({
      ...address(field),
      script: field.path.endsWith('.kana') ? 'kana' : 'kanji',
    })),
    kanaTexts: texts('kanaTexts'),
    kanjiTexts: texts('kanjiTexts'),
    idNumbers: find<GivenIdNumber>('idNumbers').map(({ path, value }) => ({
      ...{ path, value },
      holder: path.startsWith('identity.business_details') ? 'business' : 'person',
    })),
    files: find<string>('files').map(({ path, value }) => ({
      ...{ path, value },
      purpose: filePurpose(path),
    })),
  };
}

function filePurpose(path: string): LocatedFile['purpose'] {
  if (path.endsWith('.branding.icon')) return 'business_icon';
  if (path.endsWith('.branding.logo')) return 'business_logo';
  return path.includes('.files.') ? 'account_requirement' : 'identity_document';
}

/** Adds the values at `keys`, from index `from` on, below `field` that the request sets. */
function addMatches(
  found: FoundField[],
  field: FoundField,
  keys: readonly string[],
  from = 0,
): void {
  const { sent, merged } = field;
  const key = keys[from];
  if (key === undefined) {
    found.push(field);
    return;
  }
  if (typeof sent !== 'object' || sent === null) return;
  for (const name of key === '*' ? Object.keys(sent) : [key]) {
    const value = member(sent, name);
    if (value === undefined || value === null || value === '') continue;
    const path = field.path === '' ? name : `${field.path}.${name}`;
    // A list is replaced, so an item is stored as it is given.
    const stored = Array.isArray(sent) ? value : member(merged, name);
    addMatches(found, { path, sent: value, merged: stored, parent: merged }, keys, from + 1);
  }
}

function member(value: unknown, name: string): unknown {
  const isPresent = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
  return isPresent ? Reflect.get(value, name) : undefined;
}

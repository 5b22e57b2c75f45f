import type { AccountFields } from '../../../model/account/account.js';
import type { Address, Documents, Given, Scripts } from '../../../model/account/parts.js';
import type { PersonFields } from '../../../model/account/person.js';
import type { IdNumberHolder } from '../../reference/id-numbers.js';
import type { GivenDate } from './calendar.js';

export interface Located<T> {
  readonly path: string;
  readonly value: T;
}

export type GivenAddress = { readonly [K in keyof Address]?: string | null };

export interface LocatedAddress {
  readonly path: string;
  readonly given: GivenAddress;
  /** As it would be stored; for a list item, the item itself. */
  readonly merged: GivenAddress;
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

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer I)[] ? I[] : T[K] };

export function accountProvidedFields(
  given: Given<AccountFields>,
  merged: AccountFields,
): ProvidedFields {
  const found = nothing();
  addText(found.emails, 'contact_email', given.contact_email);
  addText(found.recipientEmails, 'contact_email', given.contact_email);
  addPhone(found, 'contact_phone', given.contact_phone, undefined);
  addText(found.urls, 'defaults.profile.business_url', given.defaults?.profile?.business_url);
  addIdentity(found, given, merged);
  addCustomer(found, given, merged);
  addMerchant(found, given, merged);
  return found;
}

/** Returns the fields of a Person request. */
export function personProvidedFields(
  given: Given<PersonFields>,
  merged: PersonFields,
): ProvidedFields {
  const found = nothing();
  addPerson(found, { given, merged, base: '' });
  return found;
}

function nothing(): Mutable<ProvidedFields> {
  return {
    emails: [],
    recipientEmails: [],
    phones: [],
    urls: [],
    ips: [],
    birthDates: [],
    registrationDates: [],
    addresses: [],
    scriptAddresses: [],
    kanaTexts: [],
    kanjiTexts: [],
    idNumbers: [],
    files: [],
  };
}

function addIdentity(
  found: Mutable<ProvidedFields>,
  given: Given<AccountFields>,
  merged: AccountFields,
): void {
  const identity = given.identity;
  if (!identity) return;
  const { business_details: business, individual, attestations } = identity;
  const stored = merged.identity?.business_details;
  const base = 'identity.business_details';
  if (business) {
    addPhone(found, `${base}.phone`, business.phone, stored?.address?.country);
    addAddress(found.addresses, `${base}.address`, business.address, stored?.address);
    addAddresses(found.addresses, `${base}.additional_addresses`, business.additional_addresses);
    addScriptAddresses(found, `${base}.script_addresses`, {
      given: business.script_addresses,
      merged: stored?.script_addresses,
    });
    addScriptMembers(found, `${base}.script_names`, business.script_names);
    if (business.registration_date) {
      found.registrationDates.push({
        path: `${base}.registration_date`,
        value: business.registration_date,
      });
    }
    addIdNumbers(found, `${base}.id_numbers`, business.id_numbers, 'business');
    addDocuments(found.files, `${base}.documents`, business.documents);
  }
  for (const [name, declaration] of Object.entries(attestations ?? {})) {
    if (name === 'persons_provided' || !declaration) continue;
    const path = `identity.attestations.${name}`;
    if (name === 'terms_of_service') {
      for (const [terms, accepted] of Object.entries(declaration)) {
        addIp(found, `${path}.${terms}.ip`, accepted);
      }
    } else {
      addIp(found, `${path}.ip`, declaration);
    }
  }
  if (individual) {
    const person = { given: individual, merged: merged.identity?.individual ?? {} };
    addPerson(found, { ...person, base: 'identity.individual.' });
  }
}

function addPerson(
  found: Mutable<ProvidedFields>,
  person: {
    readonly given: Given<PersonFields>;
    readonly merged: PersonFields;
    readonly base: string;
  },
): void {
  const { given, merged, base } = person;
  addText(found.emails, `${base}email`, given.email);
  addText(found.recipientEmails, `${base}email`, given.email);
  addPhone(found, `${base}phone`, given.phone, merged.address?.country);
  addAddress(found.addresses, `${base}address`, given.address, merged.address);
  addAddresses(found.addresses, `${base}additional_addresses`, given.additional_addresses);
  addScriptAddresses(found, `${base}script_addresses`, {
    given: given.script_addresses,
    merged: merged.script_addresses,
  });
  addScriptMembers(found, `${base}script_names`, given.script_names);
  if (given.date_of_birth) {
    found.birthDates.push({ path: `${base}date_of_birth`, value: given.date_of_birth });
  }
  const terms = given.additional_terms_of_service?.account;
  addIp(found, `${base}additional_terms_of_service.account.ip`, terms);
  addIdNumbers(found, `${base}id_numbers`, given.id_numbers, 'person');
  addDocuments(found.files, `${base}documents`, given.documents);
}

function addCustomer(
  found: Mutable<ProvidedFields>,
  given: Given<AccountFields>,
  merged: AccountFields,
): void {
  const customer = given.configuration?.customer;
  if (!customer) return;
  const base = 'configuration.customer';
  const stored = merged.configuration?.customer?.shipping;
  const ip = customer.automatic_indirect_tax?.ip_address;
  addText(found.ips, `${base}.automatic_indirect_tax.ip_address`, ip);
  addPhone(found, `${base}.shipping.phone`, customer.shipping?.phone, stored?.address?.country);
  const shipping = customer.shipping?.address;
  addAddress(found.addresses, `${base}.shipping.address`, shipping, stored?.address);
}

function addMerchant(
  found: Mutable<ProvidedFields>,
  given: Given<AccountFields>,
  merged: AccountFields,
): void {
  const merchant = given.configuration?.merchant;
  if (!merchant) return;
  const base = 'configuration.merchant';
  const stored = merged.configuration?.merchant?.support;
  const support = merchant.support;
  addText(found.emails, `${base}.support.email`, support?.email);
  const konbini = merchant.konbini_payments?.support;
  addText(found.emails, `${base}.konbini_payments.support.email`, konbini?.email);
  addPhone(found, `${base}.support.phone`, support?.phone, stored?.address?.country);
  addText(found.urls, `${base}.support.url`, support?.url);
  addAddress(found.addresses, `${base}.support.address`, support?.address, stored?.address);
  const scripts = merchant.script_statement_descriptor;
  addScriptMembers(found, `${base}.script_statement_descriptor`, scripts);
  const branding = merchant.branding;
  addFile(found.files, `${base}.branding.icon`, branding?.icon, 'business_icon');
  addFile(found.files, `${base}.branding.logo`, branding?.logo, 'business_logo');
}

function addText(list: Located<string>[], path: string, value: string | null | undefined): void {
  if (value) list.push({ path, value });
}

function addPhone(
  found: Mutable<ProvidedFields>,
  path: string,
  value: string | null | undefined,
  country: string | undefined,
): void {
  if (value) found.phones.push({ path, value, country });
}

function addIp(found: Mutable<ProvidedFields>, path: string, declaration: unknown): void {
  if (typeof declaration !== 'object' || declaration === null) return;
  const ip: unknown = Reflect.get(declaration, 'ip');
  if (typeof ip === 'string') addText(found.ips, path, ip);
}

function addAddress(
  list: LocatedAddress[],
  path: string,
  given: GivenAddress | null | undefined,
  merged: Address | undefined,
): void {
  if (given) list.push({ path, given, merged: merged ?? {} });
}

function addAddresses(
  list: LocatedAddress[],
  path: string,
  given: readonly GivenAddress[] | null | undefined,
): void {
  for (const [index, address] of (given ?? []).entries()) {
    list.push({ path: `${path}.${index}`, given: address, merged: address });
  }
}

function addScriptAddresses(
  found: Mutable<ProvidedFields>,
  path: string,
  at: {
    readonly given: { readonly [S in 'kana' | 'kanji']?: GivenAddress | null } | null | undefined;
    readonly merged: Scripts<Address> | undefined;
  },
): void {
  for (const script of ['kana', 'kanji'] as const) {
    const given = at.given?.[script];
    if (!given) continue;
    const here = `${path}.${script}`;
    found.scriptAddresses.push({ path: here, script, given, merged: at.merged?.[script] ?? {} });
    const { country: _, ...texts } = given;
    addScriptTexts(script === 'kana' ? found.kanaTexts : found.kanjiTexts, here, texts);
  }
}

/** Adds names and descriptors; every member below a script is text in that script. */
function addScriptMembers(
  found: Mutable<ProvidedFields>,
  path: string,
  given: { readonly kana?: object | null; readonly kanji?: object | null } | null | undefined,
): void {
  addScriptTexts(found.kanaTexts, `${path}.kana`, given?.kana);
  addScriptTexts(found.kanjiTexts, `${path}.kanji`, given?.kanji);
}

function addScriptTexts(
  list: Located<string>[],
  path: string,
  texts: object | null | undefined,
): void {
  for (const [name, value] of Object.entries(texts ?? {})) {
    if (typeof value === 'string') addText(list, `${path}.${name}`, value);
  }
}

function addIdNumbers(
  found: Mutable<ProvidedFields>,
  path: string,
  list: readonly GivenIdNumber[] | null | undefined,
  holder: IdNumberHolder,
): void {
  for (const [index, value] of (list ?? []).entries()) {
    found.idNumbers.push({ path: `${path}.${index}`, value, holder });
  }
}

function addDocuments(
  list: LocatedFile[],
  path: string,
  documents: Given<Documents> | null | undefined,
): void {
  for (const [name, document] of Object.entries(documents ?? {})) {
    const here = `${path}.${name}`;
    for (const [index, id] of (document?.files ?? []).entries()) {
      addFile(list, `${here}.files.${index}`, id, 'account_requirement');
    }
    const sides = document?.front_back;
    addFile(list, `${here}.front_back.front`, sides?.front, 'identity_document');
    addFile(list, `${here}.front_back.back`, sides?.back, 'identity_document');
  }
}

function addFile(
  list: LocatedFile[],
  path: string,
  id: string | null | undefined,
  purpose: LocatedFile['purpose'],
): void {
  if (id) list.push({ path, value: id, purpose });
}

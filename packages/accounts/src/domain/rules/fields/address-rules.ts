import { isLongerThan } from '../../../model/characters.js';
import type { Violation } from '../../../model/violation.js';
import {
  hasStateList,
  isPlausiblePostalCode,
  knownPostalCode,
  stateCode,
  unsupportedStateCode,
} from '../../reference/places.js';
import { firstOf, quote, violate } from '../violate.js';
import type { FieldContext } from './field-context.js';
import { postcodeLibrary } from './libraries.js';
import type { LocatedAddress, SentAddress } from './provided-fields.js';

const LATIN_MEMBERS = ['city', 'line1', 'line2', 'postal_code', 'state', 'town'] as const;
const NOT_LATIN = /[^\p{L}\p{M}\p{N}\p{Zs}.,'’"`#&/()+\-–:;*ºª°_@!%№]/u;
const MAX_TOWN_LENGTH = 100;

/** Addresses may only contain allowed characters (row 18). */
export function checkAddressCharacters(context: FieldContext): Violation | undefined {
  return firstOf(context.provided.addresses, ({ path, sent }) => {
    const member = LATIN_MEMBERS.find((name) => NOT_LATIN.test(sent[name] ?? ''));
    if (member === undefined) return undefined;
    const found = NOT_LATIN.exec(sent[member] ?? '')?.[0] ?? '';
    return violate('address_characters_invalid', {
      param: `${path}.${member}`,
      message: `${path}.${member} contains ${quote(found)}, which is not allowed in an address.`,
    });
  });
}

/** Kana and kanji addresses must be in Japan (row 67). */
export function checkScriptAddressCountries(context: FieldContext): Violation | undefined {
  return firstOf(context.provided.scriptAddresses, ({ path, sent, merged }) => {
    const country = sent.country ?? merged.country ?? context.country;
    if (country === undefined || country === 'JP') return undefined;
    return violate('non_jp_kana_kanji_address', {
      param: `${path}.country`,
      message: `${path}.country must be "JP" for an address in kana or kanji, not ${quote(country)}.`,
    });
  });
}

/** Japanese addresses need a postal code (row 73). */
export function checkJapanesePostalCodes(context: FieldContext): Violation | undefined {
  const all = [...context.provided.addresses, ...context.provided.scriptAddresses];
  return firstOf(all, ({ path, merged }) => {
    if (merged.country !== 'JP' || merged.postal_code) return undefined;
    const hasMore = Object.entries(merged).some(
      ([name, value]) => name !== 'country' && name !== 'purpose' && Boolean(value),
    );
    if (!hasMore) return undefined;
    return violate('postal_code_required_for_jp_address', {
      param: `${path}.postal_code`,
      message: `${path}.postal_code is required for an address in Japan.`,
    });
  });
}

/** The postal code must be valid in its country (row 20). */
export function checkPostalCodes(context: FieldContext): Violation | undefined {
  return firstOf(context.provided.addresses, (address) => {
    const postalCode = address.sent.postal_code;
    const country = countryOf(address, context);
    if (!postalCode || country === undefined || isPostalCode(postalCode, country)) return undefined;
    return violate('address_postal_code_invalid', {
      param: `${address.path}.postal_code`,
      message: `${address.path}.postal_code is not a valid postal code in ${country}: ${quote(postalCode)}.`,
    });
  });
}

/**
 * The state must exist in its country (row 21). `checkSupportedStates` checks states that the
 * platform does not support (row 22).
 */
export function checkStates(context: FieldContext): Violation | undefined {
  return firstOf(context.provided.addresses, (address) => {
    const state = address.sent.state;
    const country = countryOf(address, context);
    if (!state || country === undefined || !hasStateList(country)) return undefined;
    if (stateCode(country, state) !== undefined) return undefined;
    if (isUnsupportedState(state, country, context)) return undefined;
    return violate('address_state_invalid', {
      param: `${address.path}.state`,
      message: `${address.path}.state is not a state of ${country}: ${quote(state)}.`,
    });
  });
}

/** The town must be plausible (row 23). */
export function checkTowns(context: FieldContext): Violation | undefined {
  return firstOf(context.provided.addresses, ({ path, sent }) => {
    const town = sent.town;
    if (!town || isTown(town.trim())) return undefined;
    return violate('address_town_invalid', {
      param: `${path}.town`,
      message: `${path}.town is not a valid town name: ${quote(town)}.`,
    });
  });
}

/** The platform must support the state (row 22). */
export function checkSupportedStates(context: FieldContext): Violation | undefined {
  return firstOf(context.provided.addresses, (address) => {
    const state = address.sent.state;
    const country = countryOf(address, context);
    if (!state || country === undefined || !isUnsupportedState(state, country, context))
      return undefined;
    return violate('unsupported_state', {
      param: `${address.path}.state`,
      message: `${address.path}.state is not supported in ${country}: ${quote(state)}.`,
    });
  });
}

/** The platform must support the postal code (row 92). */
export function checkSupportedPostalCodes(context: FieldContext): Violation | undefined {
  return firstOf(context.provided.addresses, (address) => {
    const postalCode = address.sent.postal_code;
    const country = countryOf(address, context);
    if (!postalCode || country === undefined) return undefined;
    const prefixes = context.platform.unsupported_postal_codes[country] ?? [];
    const text = postalCode.trim().toUpperCase();
    if (!prefixes.some((prefix) => text.startsWith(prefix))) return undefined;
    return violate('unsupported_postal_code', {
      param: `${address.path}.postal_code`,
      message: `${address.path}.postal_code is not supported in ${country}: ${quote(postalCode)}.`,
    });
  });
}

function isPostalCode(postalCode: string, country: string): boolean {
  const known = knownPostalCode(country, postalCode);
  if (known !== undefined) return known;
  const { postcodeValidator, postcodeValidatorExistsForCountry } = postcodeLibrary();
  if (!postcodeValidatorExistsForCountry(country)) return isPlausiblePostalCode(postalCode);
  return postcodeValidator(postalCode.trim().toUpperCase(), country);
}

/** Returns the country of an address, by default the country of the account. */
function countryOf(address: LocatedAddress, context: FieldContext): string | undefined {
  return address.sent.country || address.merged.country || context.country;
}

function isUnsupportedState(state: string, country: string, context: FieldContext): boolean {
  const codes = context.platform.unsupported_states[country] ?? [];
  const text = state.trim().toUpperCase();
  const code = text.startsWith(`${country}-`) ? text.slice(country.length + 1) : text;
  return codes.includes(stateCode(country, state) ?? unsupportedStateCode(country, state) ?? code);
}

function isTown(town: string): boolean {
  return !isLongerThan(town, MAX_TOWN_LENGTH) && /[\p{L}\p{N}]/u.test(town);
}

/** Whether an address has any non-empty member. */
export function hasAnyMember(address: SentAddress | null | undefined): boolean {
  return Object.values(address ?? {}).some(Boolean);
}

import type { CountryCode } from 'libphonenumber-js/min';
import { phoneLibrary } from './libraries.js';

export interface PhoneNumber {
  readonly e164: string;
  /** ISO country of the number, if its prefix belongs to only one. */
  readonly country: string | undefined;
}

/**
 * Parses a phone number in any common notation.
 * @param country default for numbers without an international prefix.
 * @returns `undefined` if the number is impossible. Unassigned ranges are accepted, because they
 * change.
 */
export function readPhoneNumber(text: string, country?: string): PhoneNumber | undefined {
  const library = phoneLibrary();
  const region = country as CountryCode; // the next line checks it
  const isKnown = country !== undefined && library.isSupportedCountry(region);
  const number = library.parsePhoneNumberFromString(text, isKnown ? region : undefined);
  return number?.isPossible() ? { e164: number.number, country: number.country } : undefined;
}

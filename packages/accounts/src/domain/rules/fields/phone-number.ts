import type { CountryCode } from 'libphonenumber-js/min';
import { phoneLibrary } from './libraries.js';

export interface PhoneNumber {
  readonly e164: string;
  /** ISO country of the number, when its prefix belongs to one alone. */
  readonly country: string | undefined;
}

/**
 * Reads a number as people write it.
 * @param country taken for numbers without an international prefix.
 * @returns `undefined` when no telephone can have this number. Possible is enough: which ranges are in use changes.
 */
export function readPhoneNumber(text: string, country?: string): PhoneNumber | undefined {
  const library = phoneLibrary();
  const region = country as CountryCode; // The library is asked on the next line.
  const isKnown = country !== undefined && library.isSupportedCountry(region);
  const number = library.parsePhoneNumberFromString(text, isKnown ? region : undefined);
  return number?.isPossible() ? { e164: number.number, country: number.country } : undefined;
}

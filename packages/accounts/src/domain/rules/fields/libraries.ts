import { createRequire } from 'node:module';
import { once } from '../../reference/read-reference.js';

/**
 * Libraries of the field rules, loaded on first use, so that a server without such fields spends no
 * time or memory on them. Rules are synchronous, so this uses `require`.
 */
const load = createRequire(import.meta.url);

type Phones = typeof import('libphonenumber-js/min');
type Postcodes = typeof import('postcode-validator');
type IsEmail = (text: string) => boolean;
type IsUrl = (text: string, options: Readonly<Record<string, unknown>>) => boolean;

export const phoneLibrary = once<Phones>(() => load('libphonenumber-js/min'));
export const postcodeLibrary = once<Postcodes>(() => load('postcode-validator'));
export const isEmail = once<IsEmail>(() => load('validator/lib/isEmail').default);
export const isUrl = once<IsUrl>(() => load('validator/lib/isURL').default);

interface ChecksumValidator {
  validate(value: string): { readonly isValid: boolean };
}

/**
 * Validators of one country by name. Loading the complete library takes a quarter of a second, one
 * country a hundredth.
 * @param country lower case.
 */
export function checksumValidators(country: string): Readonly<Record<string, ChecksumValidator>> {
  return load(`stdnum/lib/cjs/${country}`);
}

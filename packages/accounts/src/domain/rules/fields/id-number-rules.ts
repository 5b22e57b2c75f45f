import type { Violation } from '../../../model/violation.js';
import {
  checksumsOf,
  countryOfType,
  type IdNumberHolder,
  isIdNumberRefused,
  isIdNumberTypeOf,
  isTestIdNumber,
  matchesIdNumberPattern,
  normaliseIdNumber,
} from '../../reference/id-numbers.js';
import { isGermanRegisterCourt } from '../../reference/register-courts.js';
import { firstOf, quote, violate } from '../violate.js';
import type { FieldContext } from './field-context.js';
import { checksumValidators } from './libraries.js';
import type { GivenIdNumber } from './provided-fields.js';

/**
 * Id numbers must match their type (row 53); row 55 checks numbers of another country. The message
 * never repeats the value.
 */
export function checkIdNumberFormats(context: FieldContext): Violation | undefined {
  return firstOf(context.provided.idNumbers, ({ path, value: { type, value }, holder }) => {
    if (!type || value === null || value === undefined) return undefined;
    if (!isTypeOfAny(type, context.idNumberCountries(holder))) return undefined;
    const number = normaliseIdNumber(value);
    if (!context.livemode && isTestIdNumber(number)) return undefined;
    const isRight =
      matchesIdNumberPattern(holder, type, number) &&
      (!context.platform.id_number_checksums || hasRightChecksum(holder, type, number));
    if (isRight) return undefined;
    return violate('id_number_invalid', {
      param: `${path}.value`,
      message: `${path}.value does not match the format of the type ${quote(type)}.`,
    });
  });
}

/** A registrar must be a German register court (row 58). */
export function checkRegistrars(context: FieldContext): Violation | undefined {
  return firstOf(context.provided.idNumbers, ({ path, value: { type, registrar }, holder }) => {
    if (holder !== 'business' || !registrar) return undefined;
    const param = `${path}.registrar`;
    if (!type?.startsWith('de_')) {
      return violate('invalid_id_number_registrar', {
        param,
        message: `${param} is allowed only with types that start with de_; omit it.`,
      });
    }
    if (isGermanRegisterCourt(registrar)) return undefined;
    return violate('invalid_id_number_registrar', {
      param,
      message: `${param} ${quote(registrar)} is not a German register court; use a name such as "Amtsgericht München".`,
    });
  });
}

/** Id number types must belong to a known country (row 55). */
export function checkIdNumberCountries(
  path: string,
  numbers: readonly GivenIdNumber[],
  countries: readonly string[],
): Violation | undefined {
  return firstOf(numbers.entries(), ([index, { type }]) => {
    if (!type || isTypeOfAny(type, countries)) return undefined;
    return violate('incorrect_id_number_for_country', {
      param: `${path}.${index}.type`,
      message: `${path}.${index}.type ${quote(type)} is valid only in ${countryOfType(type)}, not in ${countries.join(' or ')}.`,
    });
  });
}

const isTypeOfAny = (type: string, countries: readonly string[]): boolean =>
  countries.length === 0 || countries.some((country) => isIdNumberTypeOf(type, country));

/** Id number types must fit the kind of entity (row 57). */
export function checkIdNumberStructures(
  path: string,
  numbers: readonly GivenIdNumber[],
  options: { readonly entityType: string | undefined; readonly structure: string | undefined },
): Violation | undefined {
  return firstOf(numbers.entries(), ([index, { type }]) => {
    if (!type || !isIdNumberRefused(type, options)) return undefined;
    const kind = [options.entityType, options.structure].filter(Boolean).join(', ');
    return violate('invalid_id_number_for_structure', {
      param: `${path}.${index}.type`,
      message: `${path}.${index}.type ${quote(type)} is not valid for this kind of entity (${kind}).`,
    });
  });
}

/** Returns the unique defined countries. */
export function known(countries: readonly (string | undefined)[]): string[] {
  return [...new Set(countries.filter((country) => country !== undefined))];
}

function hasRightChecksum(holder: IdNumberHolder, type: string, number: string): boolean {
  const names = checksumsOf(holder, type);
  if (names.length === 0) return true;
  return names.some((name) => {
    const [country = '', validator = ''] = name.split('.');
    return checksumValidators(country.toLowerCase())[validator]?.validate(number).isValid === true;
  });
}

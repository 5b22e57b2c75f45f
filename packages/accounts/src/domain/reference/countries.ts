import { once, referenceTable } from './read-reference.js';

interface CountryTable {
  readonly iso: readonly string[];
  readonly merchant: readonly string[];
  readonly eea: readonly string[];
  readonly europe: readonly string[];
  readonly recipient_only: readonly string[];
}

/**
 * `merchant` may accept payments, `recipient_only` may only receive payouts; `europe` is `eea` plus
 * CH, GB and GI.
 */
export type CountrySetName = 'merchant' | 'eea' | 'europe' | 'recipient_only';

const table = referenceTable<CountryTable>('countries');
const sets = once(() => ({
  merchant: new Set(table().merchant),
  eea: new Set(table().eea),
  europe: new Set(table().europe),
  recipient_only: new Set(table().recipient_only),
}));

/** Returns every ISO 3166-1 alpha-2 code, upper case. */
export function countryCodes(): readonly string[] {
  return table().iso;
}

export function isCountryOf(set: CountrySetName, country: string): boolean {
  return sets()[set].has(country);
}

/** Whether a list of country codes and set names from a data file contains `country`. */
export function isInList(list: readonly string[], country: string): boolean {
  return list.some((entry) =>
    isSetName(entry) ? isCountryOf(entry, country) : entry === country || entry === 'every',
  );
}

function isSetName(entry: string): entry is CountrySetName {
  return Object.hasOwn(sets(), entry);
}

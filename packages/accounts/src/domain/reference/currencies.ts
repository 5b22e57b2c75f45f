import type { AccountFields } from '../../model/account/account.js';
import { isCountryOf } from './countries.js';
import { referenceTable } from './read-reference.js';

interface CurrencyTable {
  readonly iso: readonly string[];
  readonly default_of_country: Readonly<Record<string, string>>;
  readonly merchant_allowed: Readonly<Record<string, readonly string[]>>;
  readonly recipient_only_extra: readonly string[];
}

const table = referenceTable<CurrencyTable>('currencies');

/** Returns the ISO 4217 currency codes in lower case, without metals, funds and test codes. */
export function currencyCodes(): readonly string[] {
  return table().iso;
}

export function defaultCurrency(country: string): string | undefined {
  return table().default_of_country[country];
}

/** Whether an account with a merchant or recipient configuration in `country` may have `currency` as default. */
export function isCurrencyAllowed(currency: string, country: string): boolean {
  const allowed = table().merchant_allowed[country];
  if (allowed !== undefined) return allowed.includes(currency);
  if (!isCountryOf('recipient_only', country)) return true;
  return currency === defaultCurrency(country) || table().recipient_only_extra.includes(currency);
}

/** Returns an account's currency: the chosen currency, or the currency of its country. */
export function currencyOf({ defaults, identity }: AccountFields): string | undefined {
  if (defaults?.currency !== undefined || identity?.country === undefined)
    return defaults?.currency;
  return defaultCurrency(identity.country);
}

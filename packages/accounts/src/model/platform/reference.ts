import type { ConfigurationName } from '../account/configuration-name.js';

/**
 * Lists that the shape of a request is checked against; the tables behind the rules stay with the rules. Every list
 * has at least one entry. Source: accounts, section 15.
 */
export interface ReferenceLists {
  /** ISO 3166-1 alpha-2, upper case. */
  readonly countries: ReadonlySet<string>;
  /** ISO 4217, lower case. */
  readonly currencies: ReadonlySet<string>;
  readonly locales: readonly string[];
  readonly structures: readonly string[];
  readonly businessIdTypes: readonly string[];
  readonly personIdTypes: readonly string[];
  /** Ids that can be requested: `card_payments`, `bank_accounts.local`, `vendor_balance.vendor_transfers`. */
  readonly capabilities: Readonly<Record<ConfigurationName, readonly string[]>>;
  /** `eur` for `DE`; for every country. */
  defaultCurrency(country: string): string;
}

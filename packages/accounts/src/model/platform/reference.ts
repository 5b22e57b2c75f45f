import type { ConfigurationName } from '../account/configuration-name.js';

/**
 * Lists for schema validation of requests; the tables of the rules are stored with the rules. Every
 * list has at least one entry. Source: accounts, section 15.
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
  /**
   * Capabilities that can be requested: `card_payments`, `bank_accounts.local`,
   * `vendor_balance.vendor_transfers`.
   */
  readonly capabilities: Readonly<Record<ConfigurationName, readonly string[]>>;
  /** Defined for every country: `eur` for `DE`. */
  defaultCurrency(country: string): string;
}

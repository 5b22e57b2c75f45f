import type { CountryPair, PlatformSettings } from '../../model/platform/platform-settings.js';
import { isCountryOf } from './countries.js';
import { referenceTable } from './read-reference.js';

/** Rules that are part of a platform's settings; the other rules are in the data file. */
export type CrossBorderRules = PlatformSettings['cross_border'];

interface CrossBorderTable extends CrossBorderRules {
  readonly only_from_same_country: readonly string[];
  readonly recipient_only_from: readonly string[];
}

const table = referenceTable<CrossBorderTable>('cross-border');

/** Returns the default rules of a new platform. */
export function defaultCrossBorder(): CrossBorderRules {
  const { same_country_only, allow, deny } = table();
  return { same_country_only, allow, deny };
}

/**
 * Whether a platform may apply merchant or recipient configurations to accounts in another country.
 * For payout-only countries, the platform country list applies to recipients; merchant
 * configurations there are rejected by their capabilities.
 */
export function isPairAllowed(
  pair: CountryPair,
  options: { readonly rules: CrossBorderRules; readonly isRecipient: boolean },
): boolean {
  const { rules } = options;
  const [platform, account] = pair;
  if (hasPair(rules.deny, pair)) return false;
  if (hasPair(rules.allow, pair) || platform === account) return true;
  if (rules.same_country_only.includes(platform)) return false;
  if (table().only_from_same_country.includes(account)) return false;
  if (!options.isRecipient || !isCountryOf('recipient_only', account)) return true;
  return table().recipient_only_from.includes(platform);
}

function hasPair(pairs: readonly CountryPair[], [platform, account]: CountryPair): boolean {
  return pairs.some((pair) => pair[0] === platform && pair[1] === account);
}

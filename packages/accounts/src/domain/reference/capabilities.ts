import type { ConfigurationName } from '../../model/account/configuration-name.js';
import { isInList } from './countries.js';
import { referenceTable } from './read-reference.js';

/** One row of the capability matrix. Country lists may contain names of country sets. */
export interface CapabilityRow {
  readonly in: readonly string[];
  readonly not?: readonly string[];
  readonly needs?: readonly string[];
  readonly needs_in_country?: Readonly<Record<string, readonly string[]>>;
  readonly not_on_dashboards?: readonly string[];
  readonly not_with_vendor_losses?: boolean;
  /** Maps a country (or `*`) to entity types that may not have the capability. */
  readonly not_for_entity_types?: Readonly<Record<string, readonly string[]>>;
}

interface CapabilityTable {
  readonly customer: Readonly<Record<string, CapabilityRow>>;
  readonly merchant: Readonly<Record<string, CapabilityRow>>;
  readonly recipient: Readonly<Record<string, CapabilityRow>>;
  readonly denied_platform_countries: Readonly<Record<string, readonly string[]>>;
}

const table = referenceTable<CapabilityTable>('capabilities');

/**
 * Returns the ids that a request may use, dotted if they are nested on the wire
 * (`bank_accounts.local`).
 */
export function requestableCapabilities(owner: ConfigurationName): readonly string[] {
  return Object.keys(table()[owner]);
}

export function capabilityRow(owner: ConfigurationName, id: string): CapabilityRow | undefined {
  const rows = table()[owner];
  return Object.hasOwn(rows, id) ? rows[id] : undefined;
}

/** Returns the default of the platform setting `platform_country_capabilities_denied`. */
export function defaultDeniedPlatformCountries(): Readonly<Record<string, readonly string[]>> {
  return table().denied_platform_countries;
}

export function isOfferedIn(row: CapabilityRow, country: string): boolean {
  return isInList(row.in, country) && !(row.not ?? []).includes(country);
}

export function isOfferedTo(
  row: CapabilityRow,
  options: { country: string; entityType: string },
): boolean {
  const refused = row.not_for_entity_types;
  const types = refused?.[options.country] ?? refused?.['*'] ?? [];
  return !types.includes(options.entityType);
}

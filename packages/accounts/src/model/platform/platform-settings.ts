/** Values used in several settings. Storage and rules always use `vendor`. */
export type Collector = 'application' | 'vendor';
export type FeesCollector = Collector | 'application_custom' | 'application_express';
export type Dashboard = 'express' | 'full' | 'none';

/**
 * Create requests never compete with another request for an account, so more of them can run
 * concurrently.
 */
const CREATES_PER_UPDATE = 25;

export function createConcurrencyLimit(settings: PlatformSettings): number {
  return (
    settings.create_concurrency_limit ?? settings.update_concurrency_limit * CREATES_PER_UPDATE
  );
}

/** Pairs of (platform country, account country), upper case. */
export type CountryPair = readonly [platform: string, account: string];

/** Settings of one platform, chosen by the operator. Source: accounts, section 4. */
export interface PlatformSettings {
  readonly name: string;
  /** Upper case, as are all countries in this service. */
  readonly country: string;
  readonly accounts_v2_enabled: boolean;
  readonly connect_registered: boolean;
  /**
   * While the platform is not registered for connect, requests with an earlier version are refused.
   */
  readonly direct_min_api_version: string;
  readonly activated: { readonly test: boolean; readonly live: boolean };
  readonly state: 'ok' | 'invalid' | 'rejected';
  readonly identity_verified: boolean;
  readonly profile_submitted: boolean;
  readonly dormant: boolean;
  readonly acknowledged: { readonly liability: boolean; readonly requirement_collection: boolean };
  readonly losses_collector_available: { readonly application: boolean; readonly vendor: boolean };
  readonly unified_accounts_beta: boolean;
  readonly responsibilities_private_preview: boolean;
  readonly private_preview_combinations: readonly (readonly [
    dashboard: string,
    fees: string,
    losses: string,
  ])[];
  readonly disabled_configurations: readonly string[];
  readonly disabled_capabilities: readonly string[];
  readonly storer_preview: boolean;
  readonly max_accounts: number | null;
  readonly require_contact_email: boolean;
  readonly merchant_requires_terms: boolean;
  readonly token_mandate_countries: readonly string[];
  readonly account_token_companions: 'none' | 'non_tokenized';
  readonly custom_account_beta_countries: readonly string[];
  readonly custom_account_beta_enabled: boolean;
  readonly cross_border: {
    readonly same_country_only: readonly string[];
    readonly allow: readonly CountryPair[];
    readonly deny: readonly CountryPair[];
  };
  /** Maps a capability id to the platform countries that may not request it. */
  readonly platform_country_capabilities_denied: Readonly<Record<string, readonly string[]>>;
  readonly age_limit: number;
  readonly recipient_blocked_email_domains: readonly string[];
  /** Maps a country to subdivision codes without the country part. */
  readonly unsupported_states: Readonly<Record<string, readonly string[]>>;
  /** Maps a country to postal code prefixes. */
  readonly unsupported_postal_codes: Readonly<Record<string, readonly string[]>>;
  readonly sepa_blocked_creditor_ids: readonly string[];
  readonly sepa_vendor_creditor_ids: readonly string[];
  readonly update_concurrency_limit: number;
  /** `null` uses a multiple of the update limit that a platform's own clients do not reach. */
  readonly create_concurrency_limit: number | null;
  readonly requirements_enforcement: {
    readonly test: 'deferred' | 'immediate';
    readonly live: 'deferred' | 'immediate';
  };
  readonly requirements_grace_seconds: number;
  readonly verification_mode: 'auto' | 'manual';
  readonly id_number_checksums: boolean;
  readonly default_api_version: string;
  readonly require_version_header: boolean;
  readonly default_responsibilities: { readonly fees: FeesCollector; readonly losses: Collector };
  readonly default_dashboard: Dashboard | null;
}

/** Enumerates `000` to `003`, so that a rule only compares prefixes. */
const prefixes = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => String(from + index).padStart(3, '0'));

/** Defaults for a new platform. Source: accounts, sections 4, 15.2, 15.4, 15.8 and 15.9. */
export const DEFAULT_PLATFORM_SETTINGS: PlatformSettings = {
  name: 'Platform',
  country: 'US',
  accounts_v2_enabled: true,
  connect_registered: true,
  direct_min_api_version: '2025-12-15',
  activated: { test: true, live: true },
  state: 'ok',
  identity_verified: true,
  profile_submitted: true,
  dormant: false,
  acknowledged: { liability: true, requirement_collection: true },
  losses_collector_available: { application: true, vendor: true },
  unified_accounts_beta: false,
  responsibilities_private_preview: false,
  private_preview_combinations: [],
  disabled_configurations: [],
  disabled_capabilities: [],
  storer_preview: false,
  max_accounts: null,
  require_contact_email: false,
  merchant_requires_terms: false,
  token_mandate_countries: ['FR'],
  account_token_companions: 'none',
  custom_account_beta_countries: ['BR'],
  custom_account_beta_enabled: false,
  cross_border: {
    same_country_only: ['BR', 'IN', 'MY', 'TH', 'AE', 'MX'],
    allow: [],
    deny: [],
  },
  platform_country_capabilities_denied: {
    cards: ['BR', 'IN', 'JP'],
    'bank_accounts.local': ['BR', 'IN'],
    'bank_accounts.fedwire': ['BR', 'IN', 'JP'],
  },
  age_limit: 13,
  recipient_blocked_email_domains: [
    'invalid',
    'localhost',
    'test',
    'mailinator.com',
    'guerrillamail.com',
    '10minutemail.com',
    'yopmail.com',
    'temp-mail.org',
  ],
  unsupported_states: { UA: ['43', '40', '14', '09'], US: ['AA', 'AE', 'AP'] },
  unsupported_postal_codes: {
    US: ['340', ...prefixes(90, 98), ...prefixes(962, 966)],
    UA: ['95', '96', '97', '98', '99'],
  },
  sepa_blocked_creditor_ids: ['IE06ZZZ900666'],
  sepa_vendor_creditor_ids: ['IE16ZZZ900001'],
  update_concurrency_limit: 10,
  create_concurrency_limit: null,
  requirements_enforcement: { test: 'deferred', live: 'immediate' },
  requirements_grace_seconds: 604_800,
  verification_mode: 'auto',
  id_number_checksums: false,
  default_api_version: '2026-10-28.endive',
  require_version_header: false,
  default_responsibilities: { fees: 'vendor', losses: 'vendor' },
  default_dashboard: null,
};

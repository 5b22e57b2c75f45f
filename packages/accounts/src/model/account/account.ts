import type { Collector, Dashboard, FeesCollector } from '../platform/platform-settings.js';
import type { ConfigurationName } from './configuration-name.js';
import type {
  Address,
  Amount,
  Attestation,
  CalendarDate,
  Documents,
  IdNumber,
  Scripts,
} from './parts.js';
import type { PersonFields } from './person.js';
import type {
  CapabilityStatus,
  FutureRequirements,
  OperatorRequirement,
  Requirements,
} from './requirements.js';

export type EntityType = 'company' | 'government_entity' | 'individual' | 'non_profit';

/** Leaf of a capability tree; stored data contains only `true`. */
export interface CapabilityRequest {
  readonly requested?: boolean;
}

/**
 * A tree such as `{card_payments: {requested}}`. For recipients it is one level deeper, as in
 * `{bank_accounts: {local: {requested}}}`.
 */
export interface CapabilityTree {
  readonly [name: string]: CapabilityRequest | CapabilityTree | undefined;
}

export interface CustomerFields {
  readonly automatic_indirect_tax?: {
    readonly exempt?: 'exempt' | 'none' | 'reverse';
    readonly ip_address?: string;
    readonly location_source?:
      | 'identity_address'
      | 'ip_address'
      | 'payment_method'
      | 'shipping_address';
    /** This value triggers a check and is never stored. */
    readonly validate_location?: 'auto' | 'deferred' | 'immediately';
  };
  readonly billing?: {
    readonly default_payment_method?: string;
    readonly invoice?: {
      readonly custom_fields?: readonly { readonly name: string; readonly value: string }[];
      readonly footer?: string;
      readonly next_sequence?: number;
      readonly prefix?: string;
      readonly rendering?: {
        readonly amount_tax_display?: 'exclude_tax' | 'include_inclusive_tax';
        readonly template?: string;
      };
    };
  };
  readonly capabilities?: CapabilityTree;
  readonly shipping?: {
    readonly address?: Address;
    readonly name?: string;
    readonly phone?: string;
  };
  readonly test_clock?: string;
}

export interface DescriptorPair {
  readonly descriptor?: string;
  readonly prefix?: string;
}

export interface MerchantFields {
  readonly bacs_debit_payments?: { readonly display_name?: string };
  readonly branding?: {
    readonly icon?: string;
    readonly logo?: string;
    readonly primary_color?: string;
    readonly secondary_color?: string;
  };
  readonly capabilities?: CapabilityTree;
  readonly card_payments?: {
    readonly decline_on?: { readonly avs_failure?: boolean; readonly cvc_failure?: boolean };
  };
  readonly konbini_payments?: {
    readonly support?: {
      readonly email?: string;
      readonly phone?: string;
      readonly hours?: { readonly start_time?: string; readonly end_time?: string };
    };
  };
  readonly mcc?: string;
  readonly script_statement_descriptor?: Scripts<DescriptorPair>;
  readonly sepa_debit_payments?: { readonly creditor_id?: string };
  readonly smart_disputes?: {
    readonly auto_respond?: { readonly preference?: 'inherit' | 'off' | 'on' };
  };
  readonly statement_descriptor?: DescriptorPair;
  readonly support?: {
    readonly address?: Address;
    readonly email?: string;
    readonly phone?: string;
    readonly url?: string;
  };
}

export interface RecipientFields {
  readonly capabilities?: CapabilityTree;
  readonly default_outbound_destination?: string;
}

export interface StorerFields {
  readonly high_risk_activities?: readonly string[];
  readonly high_risk_activities_description?: string;
  readonly money_services_description?: string;
  readonly operates_in_prohibited_countries?: boolean;
  readonly participates_in_regulated_activity?: boolean;
  readonly purpose_of_funds?: string;
  readonly purpose_of_funds_description?: string;
  readonly regulated_activity?: {
    readonly description?: string;
    readonly license_number?: string;
    readonly primary_regulatory_authority_country?: string;
    readonly primary_regulatory_authority_name?: string;
  };
  readonly source_of_funds?: string;
  readonly source_of_funds_description?: string;
}

export interface DefaultsFields {
  /** Currency code in lower case. */
  readonly currency?: string;
  readonly locales?: readonly string[];
  /** Maps a currency to the id of one of the account's payout methods. */
  readonly payout_methods?: Readonly<Record<string, string>>;
  readonly profile?: {
    readonly business_url?: string;
    readonly doing_business_as?: string;
    readonly product_description?: string;
  };
  readonly responsibilities?: {
    readonly fees_collector?: FeesCollector;
    readonly losses_collector?: Collector;
    /**
     * Accepted in requests but not stored; the effective value is derived
     * (`requirementsCollectorOf`).
     */
    readonly requirements_collector?: Collector;
  };
  readonly timezone?: string;
}

export interface BusinessDetails {
  readonly additional_addresses?: readonly (Address & {
    readonly purpose: 'administrative' | 'principal_place_of_business';
  })[];
  readonly address?: Address;
  readonly annual_revenue?: { readonly amount?: Amount; readonly fiscal_year_end?: string };
  readonly documents?: Documents;
  readonly estimated_worker_count?: number;
  readonly id_numbers?: readonly IdNumber[];
  readonly monthly_estimated_revenue?: { readonly amount?: Amount };
  readonly phone?: string;
  readonly registered_name?: string;
  readonly registration_date?: CalendarDate;
  readonly script_addresses?: Scripts<Address>;
  readonly script_names?: Scripts<{ readonly registered_name?: string }>;
  readonly structure?: string;
}

export interface Attestations {
  readonly directorship_declaration?: Attestation;
  readonly ownership_declaration?: Attestation;
  readonly representative_declaration?: Attestation;
  readonly persons_provided?: {
    readonly directors?: boolean;
    readonly executives?: boolean;
    readonly owners?: boolean;
    readonly ownership_exemption_reason?: string;
  };
  readonly terms_of_service?: {
    readonly account?: Attestation;
    readonly crypto_money_manager?: Attestation;
    readonly money_manager?: Attestation;
  };
}

export interface IdentityFields {
  readonly attestations?: Attestations;
  readonly business_details?: BusinessDetails;
  /** Country code in upper case. */
  readonly country?: string;
  readonly entity_type?: EntityType;
  /** Fields of the only Person of an individual account; stored as a Person. */
  readonly individual?: PersonFields;
}

/**
 * Account data from the client in request notation, which is also its stored form. Countries are
 * upper case, currencies lower case, vendor names canonical. Source: accounts, section 8.
 */
export interface AccountFields {
  readonly configuration?: {
    readonly customer?: CustomerFields;
    readonly merchant?: MerchantFields;
    readonly recipient?: RecipientFields;
    readonly storer?: StorerFields;
  };
  readonly contact_email?: string;
  readonly contact_phone?: string;
  readonly dashboard?: Dashboard;
  readonly defaults?: DefaultsFields;
  readonly display_name?: string;
  readonly identity?: IdentityFields;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Time at which a configuration was applied. Its settings are kept while it is deactivated. */
export interface Applied {
  readonly firstMs: number;
  readonly sinceMs: number;
  readonly isActive: boolean;
}

/**
 * Circumstances that the operator sets or simulates for one account, such as a balance or a
 * rejection: `state` in the operator API. Not the status of the account. Source: accounts, section 4.
 */
export interface OperatorOverrides {
  readonly incompatible_with_v2: boolean;
  /** The id belongs to an account of the older kind. */
  readonly v1: boolean;
  readonly cash_balance: Readonly<Record<string, number>>;
  readonly customer_cash_balance: Readonly<Record<string, number>>;
  readonly pending_transactions: boolean;
  readonly reject: { readonly reason: string } | null;
  readonly identity_locked: boolean;
  readonly payout_methods: readonly {
    readonly id: string;
    readonly currency: string;
    readonly type: string;
    readonly v1: boolean;
  }[];
}

/**
 * Result of the verification of one target: `business`, `person:<id>`, `document:<file id>`. `sanctions:<person id>` is
 * always `success`: the alert about this person was raised.
 */
export interface Verification {
  readonly status: 'success' | 'pending' | 'failed';
  /** Code shown by the requirement entry, if `failed`. */
  readonly code?: string;
  /**
   * Keyed digest of the checked data; changed data is checked again. The key protects short values.
   */
  readonly checked: string;
}

export interface StoredAccount {
  readonly id: string;
  readonly platform: string;
  readonly livemode: boolean;
  readonly createdMs: number;
  readonly isClosed: boolean;
  /** Excludes `identity.individual`, which is stored as the Person `individualId`. */
  readonly fields: AccountFields;
  readonly applied: Readonly<Partial<Record<ConfigurationName, Applied>>>;
  readonly individualId: string | undefined;
  /** Capabilities that were ever `active`, as `merchant.card_payments`. */
  readonly everActive: readonly string[];
  readonly overrides: OperatorOverrides;
  /** Requirements that the operator has added; a write of the required field removes them. */
  readonly operatorRequirements: readonly OperatorRequirement[];
  readonly verifications: Readonly<Record<string, Verification>>;
  /** Requested and automatic capabilities, keyed as `merchant.card_payments`. */
  readonly capabilities: Readonly<Record<string, CapabilityStatus>>;
  readonly requirements: Requirements;
  readonly futureRequirements: FutureRequirements;
  /** Next instant at which the passage of time changes the account. */
  readonly nextEvaluationMs: number | undefined;
}

/** Overrides of a new account. */
export const NO_OVERRIDES: OperatorOverrides = {
  incompatible_with_v2: false,
  v1: false,
  cash_balance: {},
  customer_cash_balance: {},
  pending_transactions: false,
  reject: null,
  identity_locked: false,
  payout_methods: [],
};

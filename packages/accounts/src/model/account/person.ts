import type {
  AcceptedTerms,
  Address,
  CalendarDate,
  Documents,
  IdNumber,
  Scripts,
} from './parts.js';

export interface Relationship {
  readonly authorizer?: boolean;
  readonly director?: boolean;
  readonly executive?: boolean;
  readonly legal_guardian?: boolean;
  readonly owner?: boolean;
  readonly representative?: boolean;
  /** Decimal string from 0 to 100 with at most ten fraction digits: `25`, `33.3`. */
  readonly percent_ownership?: string;
  readonly title?: string;
}

/** Person data from the client in request notation. Source: accounts, section 9.1. */
export interface PersonFields {
  readonly additional_addresses?: readonly (Address & { readonly purpose: 'registered' })[];
  readonly additional_names?: readonly {
    readonly purpose: 'alias' | 'maiden';
    readonly full_name?: string;
    readonly given_name?: string;
    readonly surname?: string;
  }[];
  readonly additional_terms_of_service?: { readonly account?: AcceptedTerms };
  readonly address?: Address;
  readonly date_of_birth?: CalendarDate;
  /**
   * Keys: `company_authorization`, `passport`, `visa`, `primary_verification` and
   * `secondary_verification`.
   */
  readonly documents?: Documents;
  readonly email?: string;
  readonly given_name?: string;
  readonly surname?: string;
  readonly id_numbers?: readonly IdNumber[];
  readonly legal_gender?: 'female' | 'male';
  readonly metadata?: Readonly<Record<string, string>>;
  readonly nationalities?: readonly string[];
  readonly phone?: string;
  readonly political_exposure?: 'existing' | 'none';
  readonly relationship?: Relationship;
  readonly script_addresses?: Scripts<Address>;
  readonly script_names?: Scripts<{ readonly given_name?: string; readonly surname?: string }>;
}

export interface StoredPerson {
  readonly id: string;
  readonly accountId: string;
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly livemode: boolean;
  /** Includes the values of id numbers in memory; they are encrypted at rest. */
  readonly fields: PersonFields;
}

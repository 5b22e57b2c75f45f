import type { AccountFields, StoredAccount } from './account/account.js';
import type { ConfigurationName } from './account/configuration-name.js';
import type { Given } from './account/parts.js';
import type { PersonFields, StoredPerson } from './account/person.js';
import type { Provided } from './account/provided.js';
import type { PlatformSettings } from './platform/platform-settings.js';
import type { Violation } from './violation.js';

export interface FileRecord {
  readonly id: string;
  /** `'*'`: fits every purpose (the ready-made ones of test mode). */
  readonly purpose: string;
  /** Whose it is; without one any account may use it and then owns it. */
  readonly accountId?: string;
  readonly isDeleted: boolean;
}

export interface PaymentMethodRecord {
  readonly id: string;
  readonly type: string;
  /** `'*'`: attached everywhere (the ready-made ones of test mode). */
  readonly accountId?: string | '*';
  readonly isDetached: boolean;
}

export interface TestClockRecord {
  readonly id: string;
  readonly status: 'ready' | 'advancing' | 'internal_failure';
  readonly openAccountCount: number;
}

/**
 * What the request names and the store knows, of this platform and mode; whatever is missing here does not exist.
 * Magic ids of test mode are in it as soon as they are named.
 */
export interface Facts {
  readonly files: ReadonlyMap<string, FileRecord>;
  readonly paymentMethods: ReadonlyMap<string, PaymentMethodRecord>;
  /** Registered and not archived. */
  readonly invoiceTemplateIds: ReadonlySet<string>;
  readonly testClocks: ReadonlyMap<string, TestClockRecord>;
  /** The sent invoice prefix belongs to another account already. */
  readonly isInvoicePrefixTaken: boolean;
  /** Open accounts of the platform in this mode; only counted while `max_accounts` is set. */
  readonly openAccountCount: number;
}

interface CheckBase {
  readonly livemode: boolean;
  readonly nowMs: number;
  readonly platform: PlatformSettings;
  readonly facts: Facts;
}

/**
 * A create or update of an account after its shape was found right and a token's content merged in as if sent.
 * Vendor words are canonical, countries upper case, currencies lower case.
 */
export interface AccountCheck extends CheckBase {
  readonly operation: 'create' | 'update';
  readonly given: Given<AccountFields> & {
    readonly configuration?: Readonly<
      Record<ConfigurationName, { readonly applied?: boolean } | undefined>
    >;
  };
  /** Of `given`. */
  readonly provided: Provided;
  readonly hasAccountToken: boolean;
  /** The token said `shown_and_accepted: true`; `given` then has the acceptance at `terms_of_service.account`. */
  readonly tokenAcceptsTerms: boolean;
  readonly stored: StoredAccount | undefined;
  /** As it would be stored, with `fields.identity.individual` filled in from the Person and `given`. */
  readonly merged: StoredAccount;
  /** As stored before the request, the individual's among them. */
  readonly persons: readonly StoredPerson[];
}

/** A create or update of a Person, likewise. */
export interface PersonCheck extends CheckBase {
  readonly operation: 'create' | 'update';
  readonly given: Given<PersonFields>;
  readonly provided: Provided;
  readonly hasPersonToken: boolean;
  readonly account: StoredAccount;
  /** The Person before an update. */
  readonly stored: StoredPerson | undefined;
  readonly merged: StoredPerson;
  /** All Persons of the account as stored, the one in question among them. */
  readonly persons: readonly StoredPerson[];
}

export interface CloseCheck {
  readonly livemode: boolean;
  readonly platform: PlatformSettings;
  readonly account: StoredAccount;
  /** As sent; `undefined` when left out. */
  readonly appliedConfigurations: readonly ConfigurationName[] | undefined;
}

/**
 * What the pipeline asks of the rules. Each function gives the first violation in the order of section 12 and, in a
 * step, of section 13. Pure: the same input gives the same answer. `domain/rules/` holds the implementation and
 * exports it as `RULES`; `domain/engine/` exports `deriveRequirements`, `domain/reference/` the `REFERENCE_LISTS`.
 * Source: accounts, sections 7.2, 12, 13, 14.
 */
export interface Rules {
  /** Rows 17 and 66, for every call on accounts and persons. `versionDate` is `YYYY-MM-DD`. */
  checkAccess(at: {
    readonly platform: PlatformSettings;
    readonly versionDate: string;
  }): Violation | undefined;
  /** Row 72 for person and account tokens. */
  checkTokenCreation(at: {
    readonly platform: PlatformSettings;
    readonly versionDate: string;
  }): Violation | undefined;
  /** Steps 10 to 18 and the rows of section 14 marked U. */
  checkAccount(check: AccountCheck): Violation | undefined;
  /** Every row marked P. */
  checkPerson(check: PersonCheck): Violation | undefined;
  /** Row 72 for deleting a Person, and the one of an individual account. */
  checkPersonDeletion(at: {
    readonly platform: PlatformSettings;
    readonly account: StoredAccount;
    readonly person: StoredPerson;
  }): Violation | undefined;
  /** Rules 2 to 7 of section 7.2. */
  checkClose(check: CloseCheck): Violation | undefined;
}

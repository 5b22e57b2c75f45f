import type { AccountFields, StoredAccount } from './account/account.js';
import type { ConfigurationName } from './account/configuration-name.js';
import type { RequestFields } from './account/parts.js';
import type { PersonFields, StoredPerson } from './account/person.js';
import type { ProvidedFields } from './account/provided-fields.js';
import type { PlatformSettings } from './platform/platform-settings.js';
import type { Violation } from './violation.js';

export interface FileRecord {
  readonly id: string;
  /** `'*'` matches every purpose (predefined files of test mode). */
  readonly purpose: string;
  /** Owner. A file without an owner can be used by any account, which then owns it. */
  readonly accountId?: string;
  readonly isDeleted: boolean;
}

export interface PaymentMethodRecord {
  readonly id: string;
  readonly type: string;
  /** `'*'`: attached to every account (predefined methods of test mode). */
  readonly accountId?: string | '*';
  readonly isDetached: boolean;
}

export interface TestClockRecord {
  readonly id: string;
  readonly status: 'ready' | 'advancing' | 'internal_failure';
  readonly openAccountCount: number;
}

/**
 * Stored objects that the request refers to, of this platform and mode. Objects that are not listed
 * here do not exist. Magic test-mode ids are included whenever the request contains them.
 */
export interface Facts {
  readonly files: ReadonlyMap<string, FileRecord>;
  readonly paymentMethods: ReadonlyMap<string, PaymentMethodRecord>;
  /** Templates that are registered and not archived. */
  readonly invoiceTemplateIds: ReadonlySet<string>;
  readonly testClocks: ReadonlyMap<string, TestClockRecord>;
  /** Whether another account already uses the given invoice prefix. */
  readonly isInvoicePrefixTaken: boolean;
  /** Open accounts of the platform in this mode; counted only if `max_accounts` is set. */
  readonly openAccountCount: number;
}

interface CheckBase {
  readonly livemode: boolean;
  readonly nowMs: number;
  readonly platform: PlatformSettings;
  readonly facts: Facts;
}

/**
 * A create or update request for an account, after schema validation and token merge. Vendor names
 * are canonical, countries upper case, currencies lower case.
 */
export interface AccountCheck extends CheckBase {
  readonly operation: 'create' | 'update';
  /** The checked fields of the request and of its account token. */
  readonly requestFields: RequestFields<AccountFields> & {
    readonly configuration?: Readonly<
      Record<ConfigurationName, { readonly applied?: boolean } | undefined>
    >;
  };
  /** Fields provided by `requestFields`. */
  readonly provided: ProvidedFields;
  readonly hasAccountToken: boolean;
  /**
   * The token had `shown_and_accepted: true`; `requestFields` then contains the acceptance at
   * `terms_of_service.account`.
   */
  readonly tokenAcceptsTerms: boolean;
  readonly stored: StoredAccount | undefined;
  /**
   * The account as it would be stored, with `fields.identity.individual` filled in from the Person
   * and `requestFields`.
   */
  readonly merged: StoredAccount;
  /** Persons stored before the request, including the individual's. */
  readonly persons: readonly StoredPerson[];
}

/** A create or update request for a Person, after schema validation and token merge. */
export interface PersonCheck extends CheckBase {
  readonly operation: 'create' | 'update';
  /** The checked fields of the request and of its person token. */
  readonly requestFields: RequestFields<PersonFields>;
  readonly provided: ProvidedFields;
  readonly hasPersonToken: boolean;
  readonly account: StoredAccount;
  /** The Person before an update. */
  readonly stored: StoredPerson | undefined;
  readonly merged: StoredPerson;
  /** All stored Persons of the account, including the checked one. */
  readonly persons: readonly StoredPerson[];
}

export interface CloseCheck {
  readonly livemode: boolean;
  readonly platform: PlatformSettings;
  readonly account: StoredAccount;
  /** The client's value; `undefined` if absent. */
  readonly appliedConfigurations: readonly ConfigurationName[] | undefined;
}

/**
 * Rules that requests are checked against. Each function returns the first violation in the order
 * of section 12 and, within a step, of section 13. Functions are pure. `domain/rules/` implements
 * and exports them as `RULES`; `domain/requirements/` exports `deriveRequirements`, `domain/reference/`
 * the `REFERENCE_LISTS`. Source: accounts, sections 7.2, 12, 13, 14.
 */
export interface Rules {
  /**
   * Checks whether the platform may use accounts and persons at all: Accounts v2 is enabled, and
   * the API version is allowed without registration (rows 17 and 66). `versionDate` is `YYYY-MM-DD`.
   */
  checkAccess(options: {
    readonly platform: PlatformSettings;
    readonly versionDate: string;
  }): Violation | undefined;
  /** Checks whether person and account tokens may be created: the platform is registered (row 72). */
  checkTokenCreation(platform: PlatformSettings): Violation | undefined;
  /**
   * Checks an account create or update: the platform, the fields, the configurations, the
   * capabilities and the attestations (steps 10 to 18, and the codes of section 14 for updates).
   */
  checkAccount(check: AccountCheck): Violation | undefined;
  /** Checks a person create or update (the rows of section 13 for persons). */
  checkPerson(check: PersonCheck): Violation | undefined;
  /** Checks a person deletion; the Person of an individual account cannot be deleted (row 72). */
  checkPersonDeletion(options: {
    readonly platform: PlatformSettings;
    readonly account: StoredAccount;
    readonly person: StoredPerson;
  }): Violation | undefined;
  /** Checks whether an account may be closed (rules 2 to 7 of section 7.2). */
  checkClose(check: CloseCheck): Violation | undefined;
}

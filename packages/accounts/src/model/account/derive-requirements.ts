import type { PlatformSettings } from '../platform/platform-settings.js';
import type { StoredAccount, Verification } from './account.js';
import type { StoredPerson } from './person.js';
import type {
  CapabilityStatus,
  FutureRequirements,
  OperatorRequirement,
  Requirements,
} from './requirements.js';

/** Complete input of the requirements engine, which does not read the clock or generate ids. */
export interface EngineInput {
  /** The account as it will be stored. Results of the previous evaluation in it are replaced. */
  readonly account: StoredAccount;
  /** All persons of the account, including the individual's. */
  readonly persons: readonly StoredPerson[];
  readonly platform: PlatformSettings;
  readonly nowMs: number;
  /** Generates a `reqent_` id. Existing entries keep their ids. */
  readonly newEntryId: () => string;
  /** Keyed digest for `Verification.checked`. */
  readonly digest: (text: string) => string;
  /**
   * Outcomes set by the operator in this call (manual verification); they apply to `pending` data.
   */
  readonly outcomes?: Readonly<Record<string, 'success' | string>>;
  /** Set when the operator evaluates all accounts (`/tick`). */
  readonly completesPendingChecks?: boolean;
}

/** Deterministic: apart from new ids, the same input always returns the same result. */
export interface EngineResult {
  readonly requirements: Requirements;
  readonly futureRequirements: FutureRequirements;
  readonly capabilities: Readonly<Record<string, CapabilityStatus>>;
  /** Capabilities that were active before or are active now. */
  readonly everActive: readonly string[];
  readonly verifications: Readonly<Record<string, Verification>>;
  /**
   * Operator requirements after the evaluation; future entries whose transition has passed are
   * current.
   */
  readonly operatorRequirements: readonly OperatorRequirement[];
  /** Set if a sanctions alert rejects the account. */
  readonly reject: { readonly reason: string } | null;
  readonly nextEvaluationMs: number | undefined;
}

/** Derives requirements, statuses and verifications. Source: accounts, section 16. */
export type DeriveRequirements = (input: EngineInput) => EngineResult;

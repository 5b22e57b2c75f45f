import type { PlatformSettings } from '../platform/platform-settings.js';
import type { StoredAccount, Verification } from './account.js';
import type { StoredPerson } from './person.js';
import type {
  CapabilityStatus,
  FutureRequirements,
  InjectedRequirement,
  Requirements,
} from './requirements.js';

/** Everything the engine looks at; it reads no clock and makes no ids of its own. */
export interface EngineInput {
  /** As it will be stored; what the engine decided last time stands in it and is replaced. */
  readonly account: StoredAccount;
  /** All persons of the account, the one of an individual account among them. */
  readonly persons: readonly StoredPerson[];
  readonly platform: PlatformSettings;
  readonly nowMs: number;
  /** A fresh `reqent_` id. Entries that were there before keep theirs. */
  readonly newEntryId: () => string;
  /** Keyed digest, for `Verification.checked`. */
  readonly digest: (text: string) => string;
  /** Outcomes that the operator decides in this call (manual verification); `pending` data take them. */
  readonly outcomes?: Readonly<Record<string, 'success' | string>>;
  /** An operator's tick ends what waits for one. */
  readonly isTick?: boolean;
}

/** Deterministic: the same input without ids gives the same result. */
export interface EngineResult {
  readonly requirements: Requirements;
  readonly futureRequirements: FutureRequirements;
  readonly capabilities: Readonly<Record<string, CapabilityStatus>>;
  /** Those before and those that are active now. */
  readonly everActive: readonly string[];
  readonly verifications: Readonly<Record<string, Verification>>;
  /** Future entries whose transition has come are among the requirements; the injected list says so. */
  readonly injected: readonly InjectedRequirement[];
  /** A sanctions alert rejects the account. */
  readonly reject: { readonly reason: string } | null;
  readonly dueMs: number | undefined;
}

/** Requirements, statuses and verification in one step. Source: accounts, section 16. */
export type DeriveRequirements = (input: EngineInput) => EngineResult;

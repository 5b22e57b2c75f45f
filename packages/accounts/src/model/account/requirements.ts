import type { Collector } from '../platform/platform-settings.js';
import type { ConfigurationName } from './configuration-name.js';

export type DeadlineStatus = 'past_due' | 'currently_due' | 'eventually_due';

export interface CapabilityStatus {
  readonly status: 'active' | 'pending' | 'restricted' | 'unsupported' | 'rejected';
  /** Details of the status; empty for an active capability. */
  readonly status_details: readonly {
    readonly code: string;
    readonly resolution: 'contact_vendor' | 'no_resolution' | 'provide_info';
  }[];
}

export interface RequirementReference {
  readonly type: 'person' | 'payment_method' | 'inquiry';
  readonly resource?: string;
  readonly inquiry?: string;
}

/** Has the format of responses, with the canonical vendor name. Source: accounts, section 16.1. */
export interface RequirementEntry {
  readonly id: string;
  readonly awaiting_action_from: 'user' | 'vendor';
  readonly description: string;
  readonly errors: readonly { readonly code: string; readonly description: string }[];
  readonly impact: {
    readonly restricts_capabilities: readonly {
      readonly capability: string;
      readonly configuration: ConfigurationName;
      readonly deadline: { readonly status: DeadlineStatus };
    }[];
  };
  readonly minimum_deadline: { readonly status: DeadlineStatus };
  readonly reference?: RequirementReference;
  readonly requested_reasons: readonly {
    readonly code: 'routine_onboarding' | 'routine_verification';
  }[];
}

export interface RequirementAlternative {
  readonly options: readonly {
    readonly entries: readonly Pick<
      RequirementEntry,
      'awaiting_action_from' | 'description' | 'errors' | 'reference'
    >[];
  }[];
  readonly original_entries: readonly Pick<RequirementEntry, 'description' | 'reference'>[];
}

export interface Requirements {
  readonly collector: Collector;
  readonly entries: readonly RequirementEntry[];
  readonly alternatives: readonly RequirementAlternative[];
  /** Omitted without entries; `time` is a wire timestamp. */
  readonly summary?: {
    readonly minimum_deadline: { readonly status: DeadlineStatus; readonly time?: string };
  };
}

export interface FutureRequirements extends Requirements {
  readonly minimum_transition_date?: string;
}

/** Requirement entry added by the operator. Source: accounts, section 16.6. */
export interface OperatorRequirement {
  readonly id: string;
  readonly description: string;
  readonly awaiting_action_from: 'user' | 'vendor';
  readonly restricts: readonly {
    readonly configuration: ConfigurationName;
    readonly capability: string;
    readonly status: DeadlineStatus;
  }[];
  readonly errors?: readonly { readonly code: string; readonly description: string }[];
  readonly reference?: RequirementReference;
  readonly future?: boolean;
  /** Wire timestamp at which a future entry becomes a current requirement. */
  readonly transition?: string;
}

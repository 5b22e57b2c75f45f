/** An account as lists contain it. */
export interface AccountRow {
  readonly id: string;
  readonly display_name: string | null;
  readonly contact_email: string | null;
  readonly applied_configurations: readonly string[];
  readonly closed: boolean;
  readonly livemode: boolean;
  readonly created: string;
}

export type DeadlineStatus = 'past_due' | 'currently_due' | 'eventually_due';

interface Deadline {
  readonly status: DeadlineStatus;
  readonly time?: string;
}

export interface Requirement {
  readonly id: string;
  /** Path of the missing or invalid field. */
  readonly description: string;
  readonly awaiting_action_from: string;
  readonly errors: readonly { readonly code: string; readonly description: string }[];
  readonly impact: {
    readonly restricts_capabilities: readonly {
      readonly capability: string;
      readonly configuration: string;
    }[];
  };
  readonly minimum_deadline: Deadline;
}

interface RequirementAlternative {
  readonly original_entries: readonly { readonly description: string }[];
  readonly options: readonly {
    readonly entries: readonly { readonly description: string }[];
  }[];
}

interface Requirements {
  readonly entries: readonly Requirement[];
  readonly alternatives: readonly RequirementAlternative[];
  readonly summary?: { readonly minimum_deadline: Deadline } | null;
}

export interface Account extends AccountRow {
  readonly contact_phone: string | null;
  readonly configuration: Readonly<
    Record<string, { readonly capabilities?: Readonly<Record<string, unknown>> } | null>
  >;
  readonly identity: { readonly country?: string; readonly entity_type?: string } | null;
  readonly requirements: Requirements | null;
  readonly future_requirements: Requirements | null;
}

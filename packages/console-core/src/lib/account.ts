/** An account as it appears in lists. */
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
  /** The person that has to provide the field; the path is relative to it. */
  readonly reference?: { readonly type: string; readonly resource: string };
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

export interface Person {
  readonly id: string;
  readonly given_name?: string;
  readonly surname?: string;
  readonly email?: string;
  readonly relationship?: Readonly<Record<string, unknown>>;
  readonly created: string;
}

export interface AccountEvent {
  readonly id: string;
  readonly type: string;
  readonly created: string;
  readonly reason: { readonly request?: { readonly id: string } } | null;
  readonly related_object: { readonly id: string; readonly type: string } | null;
  readonly data?: unknown;
  readonly changes?: unknown;
}

/** An attempt to send an event to an event destination. */
export interface EventDelivery {
  readonly event: string;
  /** The name of the destination. */
  readonly destination: string;
  readonly attempt: number;
  readonly attempted: string;
  readonly outcome: string;
  readonly status: number | null;
  readonly error: string | null;
}

/** Timestamps are in seconds since 1970. */
export interface TestClock {
  readonly id: string;
  readonly name: string | null;
  readonly frozen_time: number;
  readonly created: number;
  readonly deletes_after: number;
  readonly status: string;
}

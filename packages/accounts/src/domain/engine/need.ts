import type { ConfigurationName } from '../../model/account/configuration-name.js';
import type { RequirementReference } from '../../model/account/requirements.js';

/** One capability of one configuration. */
export interface Capability {
  readonly configuration: ConfigurationName;
  /** `card_payments`, `bank_accounts.local`. */
  readonly id: string;
}

/** A datum that the account lacks. Without a capability to restrict it is not asked for. */
export interface Need {
  /** Dotted path in the request's notation, relative to the Person that `reference` names. */
  readonly description: string;
  readonly restricts: readonly Capability[];
  readonly reference?: RequirementReference;
  /** Another datum that would do as well. */
  readonly alternative?: string;
  /** Graces that pass before the usual one begins. */
  readonly extraGraceCount?: number;
}

/** A datum that is stored and wrong, or being looked at. */
export interface Finding extends Need {
  readonly status: 'failed' | 'pending';
  /** With `failed`. */
  readonly code?: string;
}

/** What two mentions of one datum have in common. */
export function keyOf(at: Pick<Need, 'description' | 'reference'>): string {
  const { description, reference } = at;
  return reference === undefined
    ? description
    : `${reference.type} ${reference.resource ?? ''} ${description}`;
}

export function personReference(resource: string): RequirementReference {
  return { type: 'person', resource };
}

import type { ConfigurationName } from '../../model/account/configuration-name.js';
import type { RequirementReference } from '../../model/account/requirements.js';

/** One capability of one configuration. */
export interface Capability {
  readonly configuration: ConfigurationName;
  /** Capability id, such as `card_payments` or `bank_accounts.local`. */
  readonly id: string;
}

/** A field that a requirement concerns. It is not requested unless it restricts a capability. */
export interface RequiredField {
  /** Dotted path in the request's notation, relative to the Person in `reference`. */
  readonly description: string;
  readonly restricts: readonly Capability[];
  readonly reference?: RequirementReference;
  /** Alternative field that also meets the requirement. */
  readonly alternative?: string;
  /** Number of grace periods before the usual one starts. */
  readonly extraGraceCount?: number;
}

/** A field that the account lacks. */
export type MissingField = RequiredField;

/** A stored field with a failed or pending verification. */
export interface Finding extends RequiredField {
  readonly status: 'failed' | 'pending';
  /** Present if the verification failed. */
  readonly code?: string;
}

/** Returns the key that identifies a field; several requirements can have the same one. */
export function keyOf(options: Pick<RequiredField, 'description' | 'reference'>): string {
  const { description, reference } = options;
  return reference === undefined
    ? description
    : `${reference.type} ${reference.resource ?? ''} ${description}`;
}

export function personReference(resource: string): RequirementReference {
  return { type: 'person', resource };
}

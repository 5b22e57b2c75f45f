import type { LimitOverride } from '@plinth/kernel';

/** Entities that have their own limits or belong to an entity with limits. */
export type IdentityKind =
  | 'user'
  | 'organization'
  | 'installation'
  | 'oauth_app'
  | 'repository'
  | 'app';

/** Prefix of a key: `user:1`, `oauth-app:Iv1.0a1b`, `repo:5`. */
const KEY_PREFIX: Readonly<Record<IdentityKind, string>> = {
  user: 'user',
  organization: 'organization',
  installation: 'installation',
  oauth_app: 'oauth-app',
  repository: 'repo',
  app: 'app',
};

export const keyOf = (kind: IdentityKind, id: number | string): string =>
  `${KEY_PREFIX[kind]}:${id}`;

/**
 * Whether a text can be the id of an app or OAuth app. Any other text is rejected without a store
 * look-up.
 */
export const isClientId = (text: string): boolean => /^[\w.-]{1,100}$/.test(text);

export type Plan = 'free' | 'enterprise';

export interface AccountReference {
  readonly type: 'User' | 'Organization';
  readonly id: number;
}

export const accountKey = ({ type, id }: AccountReference): string =>
  keyOf(type === 'User' ? 'user' : 'organization', id);

/** Attributes of an identity, as on the wire. Source: rate-limits, section 3.2. */
export interface IdentityAttributes {
  readonly login?: string;
  readonly plan?: Plan;
  /** Ids of the organizations that the user belongs to. */
  readonly organizations?: readonly number[];
  readonly users_count?: number;
  readonly app_id?: number;
  readonly account?: AccountReference;
  readonly repositories_count?: number;
  readonly owner?: AccountReference;
  /** Ids of the organizations that approved an OAuth app. */
  readonly approved_by?: readonly number[];
  readonly overrides?: Readonly<Record<string, OverrideOnWire>>;
}

export type OverrideOnWire = 'exempt' | { readonly limit: number; readonly window: number };

export interface IdentityRecord {
  readonly key: string;
  readonly kind: IdentityKind;
  readonly id: number | string;
  readonly attributes: IdentityAttributes;
  /** SHA-256 of an OAuth app's secret, in hex. */
  readonly secretHash: string | undefined;
  readonly createdMs: number;
  readonly updatedMs: number;
}

export function overridesOf(
  attributes: IdentityAttributes | undefined,
): ReadonlyMap<string, LimitOverride> {
  const entries = Object.entries(attributes?.overrides ?? {});
  return new Map(
    entries.map(([resource, override]) => [
      resource,
      override === 'exempt' ? override : { limit: override.limit, windowSec: override.window },
    ]),
  );
}

import { Type } from 'typebox';
import type { Permission } from './permission.js';

/** The identity that a request is authenticated as. */
export type Principal =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'admin'; readonly tokenId: number; readonly tokenName: string }
  | Grantee
  | {
      readonly kind: 'platform_key';
      readonly platform: string;
      readonly keyKind: 'secret' | 'publishable';
      readonly livemode: boolean;
    }
  /** A game data editor, by the name of the token. */
  | { readonly kind: 'editor'; readonly name: string; readonly scopes: ReadonlySet<string> }
  | { readonly kind: 'app'; readonly appId: number; readonly limits?: LimitProfile }
  | { readonly kind: 'user'; readonly userId: number; readonly limits?: LimitProfile }
  | {
      readonly kind: 'installation';
      readonly installationId: number;
      readonly limits?: LimitProfile;
    }
  | { readonly kind: 'oauth_app'; readonly clientId: string; readonly limits?: LimitProfile }
  | { readonly kind: 'repository'; readonly repositoryId: number; readonly limits?: LimitProfile };

/** A request without a credential. */
export const ANONYMOUS: Principal = { kind: 'anonymous' };

/** A principal with only the granted permissions: a token, or a user with a password. */
export interface Grantee {
  readonly kind: 'grantee';
  /** Unique among grantees: a token id, or `users/` and a name. */
  readonly id: string;
  /** The owner of running and logged queries. Never reused: a user recreated under the same name is another owner. */
  readonly owner: string;
  readonly name: string;
  readonly permissions: readonly Permission[];
  /** A user with all privileges, who may also change databases and users through InfluxDB 1.x statements. */
  readonly isAdministrator: boolean;
}

/** The attributes that determine the limits of an identity. A principal without a profile has the default limits of its kind. */
export interface LimitProfile {
  /** Whether its account is on the enterprise plan; for a user, the account of the app in use. */
  readonly isEnterprise: boolean;
  readonly repositoriesCount: number;
  /** The user count of the organization of an installation; 0 for a user account. */
  readonly usersCount: number;
  /** By resource. */
  readonly overrides: ReadonlyMap<string, LimitOverride>;
}

/** Limits that operators set: the number of requests, and the window in seconds. */
export const LIMIT = Type.Integer({ minimum: 0, maximum: 2 ** 31 - 2 });
export const LIMIT_WINDOW = Type.Integer({ minimum: 1, maximum: 31_536_000 });

export type LimitOverride = 'exempt' | { readonly limit: number; readonly windowSec: number };

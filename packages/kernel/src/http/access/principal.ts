import { Type } from 'typebox';
import type { Permission } from './permission.js';

/** Who a request speaks for. */
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
  /** Of game data, by the name of the token. */
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

/** Nobody in particular. */
export const ANONYMOUS: Principal = { kind: 'anonymous' };

/** Somebody who may do what was granted to them, and nothing else: by a token, or as a user with a password. */
export interface Grantee {
  readonly kind: 'grantee';
  /** Unique among grantees: the id of a token, or `users/` and a name. */
  readonly id: string;
  /** Owns running and logged queries. Never used again: a user who is created again under the same name is another owner. */
  readonly owner: string;
  readonly name: string;
  readonly permissions: readonly Permission[];
  /** A user with all privileges: also what changes databases and users, as far as statements of version 1 do. */
  readonly isAdministrator: boolean;
}

/** What the limits of an identity depend on; a principal without a profile has the plain limits of its kind. */
export interface LimitProfile {
  /** The account behind it is on the enterprise plan; for a user: the one behind the app that is in use. */
  readonly isEnterprise: boolean;
  readonly repositoriesCount: number;
  /** Of the organization that an installation is on; 0 on a user's account. */
  readonly usersCount: number;
  /** By resource. */
  readonly overrides: ReadonlyMap<string, LimitOverride>;
}

/** Of limits that operators set: how many requests, in how many seconds. */
export const LIMIT = Type.Integer({ minimum: 0, maximum: 2 ** 31 - 2 });
export const LIMIT_WINDOW = Type.Integer({ minimum: 1, maximum: 31_536_000 });

export type LimitOverride = 'exempt' | { readonly limit: number; readonly windowSec: number };

import { requestError } from '../request-error.js';
import { AppJwtRefused } from './app-jwt-refused.js';
import type { Principal } from './principal.js';

/** Who may use a route. Every route says so, and there is no default. */
export type RouteAccess =
  | 'public'
  /** Admin tokens; everybody on a server without authorization. */
  | 'admin'
  /** As `admin`, and whoever was granted something: the handler asks what, of everything that it touches. */
  | 'granted'
  /** Admin tokens, and tokens with the permission `system:backup:read`: what they read includes the server's secrets. */
  | 'backup'
  /** Making the operator's token: everybody while there is no token to ask with. */
  | 'first_token'
  /** Keys of platforms. */
  | 'platform'
  /** Apps by their JSON web tokens. */
  | 'app'
  /** Editors of game data. */
  | 'editor'
  | OpenableAccess;

/**
 * Admin tokens and who was granted to read it, unless the setting `identity.disable_authz` opens the endpoint to everybody.
 */
export interface OpenableAccess {
  readonly openable: OpenableEndpoint;
}

export const OPENABLE_ENDPOINTS = ['health', 'ping', 'metrics', 'ready', 'pprof'] as const;
export type OpenableEndpoint = (typeof OPENABLE_ENDPOINTS)[number];

/** For whom the handler of such a route is called: who was granted it, and nobody else. */
export type PrincipalOf<Access extends RouteAccess> = Extract<
  Principal,
  {
    kind: Access extends 'app' | 'editor'
      ? Access
      : Access extends 'platform'
        ? 'platform_key'
        : string;
  }
>;

/** What whoever may not use a route is told: whether its path exists must not show, but to those who are known to its dialect. */
export function refusalOf(access: RouteAccess, principal: Principal): Error {
  if (access === 'app') return new AppJwtRefused('undecodable');
  return requestError(principal.kind === 'grantee' ? 'not_permitted' : 'not_authenticated');
}

import { requestError } from '../request-error.js';
import { AppJwtRefused } from './app-jwt-refused.js';
import type { Principal } from './principal.js';

/** The principals that may use a route. Every route must declare it. */
export type RouteAccess =
  | 'public'
  /** Admin tokens; all requests on a server without authorization. */
  | 'admin'
  /** Like `admin`, and all grantees (clients with any permission); the handler checks the permission for everything it accesses. */
  | 'granted'
  /** Admin tokens, and tokens with the permission `system:backup:read`, as backups include the server's secrets. */
  | 'backup'
  /** Creates the operator token: public while no token exists. */
  | 'first_token'
  /** Platform keys. */
  | 'platform'
  /** Apps, authenticated by JSON web tokens. */
  | 'app'
  /** Game data editors. */
  | 'editor'
  | OpenableAccess;

/** Admin tokens and grantees, unless the setting `identity.disable_authz` makes the endpoint public. */
export interface OpenableAccess {
  readonly openable: OpenableEndpoint;
}

export const OPENABLE_ENDPOINTS = ['health', 'ping', 'metrics', 'ready', 'pprof'] as const;
export type OpenableEndpoint = (typeof OPENABLE_ENDPOINTS)[number];

/** The principals with which the handler of such a route is called. */
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

/**
 * Returns the error for a principal that may not use a route. Only authenticated principals can see whether a path
 * exists.
 */
export function refusalOf(access: RouteAccess, principal: Principal): Error {
  if (access === 'app') return new AppJwtRefused('undecodable');
  return requestError(principal.kind === 'grantee' ? 'not_permitted' : 'not_authenticated');
}

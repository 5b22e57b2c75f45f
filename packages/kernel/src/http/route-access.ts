import type { FastifyInstance, FastifyRequest } from 'fastify';
import { invariant } from '../errors/invariant.js';

/** Who may use a route. Every route says so, and there is no default: one that does not say it is not registered. */
export type RouteAccess =
  | 'public'
  /** Admin tokens; everybody on a server without authorization. */
  | 'admin'
  /** Making the operator's token: everybody while there is no token to ask with. */
  | 'first_token'
  /** Keys of platforms. */
  | 'platform'
  /** Apps by their JSON web tokens. */
  | 'app'
  /** Editors of game data. */
  | 'editor'
  | OpenableAccess;

/** Admin tokens, unless the setting `identity.disable_authz` opens the endpoint to everybody. */
export interface OpenableAccess {
  readonly openable: OpenableEndpoint;
}

export const OPENABLE_ENDPOINTS = ['health', 'ping', 'metrics', 'ready', 'pprof'] as const;
export type OpenableEndpoint = (typeof OPENABLE_ENDPOINTS)[number];

const ACCESS_OF_SCOPE = 'accessOfRoutes';

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly access?: RouteAccess;
  }
}

/**
 * Routes that are registered in this scope from here on are for these, but for those that name somebody else themselves.
 * Said once for a scope and all below it, so that no two words of it compete.
 */
export function routesFor(app: FastifyInstance, access: RouteAccess): void {
  invariant(!app.hasDecorator(ACCESS_OF_SCOPE), 'a scope says once who may use its routes');
  app.decorate(ACCESS_OF_SCOPE as string, { access });
  app.addHook('onRoute', (route) => {
    route.config = { access, ...route.config };
  });
}

/** Who may use the route that a request has found; `undefined`: it has found none. */
export function accessOf(request: FastifyRequest): RouteAccess | undefined {
  // A path that cannot be decoded comes without options of a route.
  const { config } = (request.routeOptions as typeof request.routeOptions | undefined) ?? {};
  return config?.access;
}

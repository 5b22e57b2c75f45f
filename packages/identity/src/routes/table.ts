import type { ApiConventions, HttpRequest, RouteGroup } from '@plinth/kernel';
import type { ApiTokens } from '../domain/api-tokens.js';
import type { Apps } from '../domain/apps.js';
import type { Registry } from '../domain/registry.js';
import type { ApiToken, IssuedToken } from '../model/api-token.js';
import { appRoutes } from './app-routes.js';
import { registryRoutes, type TokenQuota } from './registry-routes.js';
import { sessionRoute } from './session-route.js';
import { tokenRoutes } from './token-routes.js';

export interface TableDeps {
  readonly operatorConventions: ApiConventions;
  /** API conventions of the time-series service, to which the token endpoints belong. */
  readonly serverConventions: ApiConventions;
  readonly apps: Apps;
  readonly registry: Registry;
  readonly quota: TokenQuota;
  /** Returns all tokens, including expired ones, ordered by id. */
  listTokens(): readonly ApiToken[];
  /** `undefined` if the server runs without authentication. */
  readonly tokens: ApiTokens | undefined;
  createFirst(request: HttpRequest): Promise<IssuedToken>;
}

/** Returns all routes of this service. */
export const identityRouteGroups = (deps: TableDeps): readonly RouteGroup[] => [
  {
    conventions: deps.operatorConventions,
    api: 'operator',
    routes: [
      sessionRoute(deps.listTokens),
      ...appRoutes(deps.apps),
      ...registryRoutes(deps.registry, deps.quota),
    ],
  },
  {
    conventions: deps.serverConventions,
    api: 'tsdb',
    routes: deps.tokens === undefined ? [] : tokenRoutes(deps.tokens, deps.createFirst),
  },
];

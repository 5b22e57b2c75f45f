import type { ApiConventions, RouteGroup } from '@plinth/kernel';
import type { EnvoyService } from '../domain/envoy-service.js';
import type { LoginGuard } from '../domain/login-guard.js';
import { authRoute } from './auth-route.js';
import { envoyJsonRouteGroup } from './envoy/envoy-json-route.js';
import { githubRoutes, type MintInstallationToken } from './github-routes.js';
import { type OperatorDeps, operatorRouteGroup } from './operator-routes.js';
import { statusRoutes } from './status-routes.js';
import type { ResponseContext } from './wire-response.js';

export interface TableDeps extends OperatorDeps {
  readonly conventions: ApiConventions;
  /** API conventions of all paths below `/ops/v1`. */
  readonly operatorConventions: ApiConventions;
  /** API conventions of paths without a service. */
  readonly serverConventions: ApiConventions;
  readonly envoyService: EnvoyService;
  readonly logins: LoginGuard;
  readonly mint: MintInstallationToken;
  /** Whether this service serves `/api/v3/meta`, because no other does. */
  readonly ownsMeta: boolean;
  /** @param base URL of this server as its client sees it. */
  contextOf(base: string): ResponseContext;
}

/** Returns all routes of this service; if limits are disabled, only the routes that clients still request. */
export function rateLimitRouteGroups(deps: TableDeps): readonly RouteGroup[] {
  const { config, conventions, ownsMeta, mint } = deps;
  const own = {
    conventions,
    api: 'ratelimit',
    routes: [
      ...statusRoutes(deps),
      ...githubRoutes({
        ownsMeta,
        mint,
        notFound: (request) => conventions.notFoundResponse(request, []),
      }),
      ...(config.enabled ? [authRoute(deps)] : []),
    ],
  };
  if (!config.enabled) return [own];
  return [
    own,
    envoyJsonRouteGroup({
      decisions: deps.envoyService,
      conventions: deps.serverConventions,
      contextOf: ({ base }) => deps.contextOf(base),
    }),
    operatorRouteGroup(deps.operatorConventions, deps),
  ];
}

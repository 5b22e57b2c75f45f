import type { Random, RouteGroup } from '@plinth/kernel';
import type { AccountsConfig } from '../config.js';
import type { AccountsDomain } from '../domain/accounts-domain.js';
import { REFERENCE_LISTS } from '../domain/reference/index.js';
import type { VendorWord } from '../model/platform/vendor-word.js';
import { accountRoutes } from './account-routes.js';
import type { AccountsConventions } from './conventions.js';
import { eventRoutes } from './event-routes.js';
import { guideRoute } from './guide/guide-routes.js';
import { clockRoutes } from './operator/clock-routes.js';
import { operatorRoutes } from './operator/operator-routes.js';
import { personRoutes } from './person-routes.js';
import { PlatformRoutes } from './platform-routes.js';
import type { RequestAuthenticator } from './request-authenticator.js';
import { RequestShapes } from './request-shapes.js';

/** Returns all routes of the service. */
export function accountsRouteGroup(deps: {
  readonly authenticator: RequestAuthenticator;
  readonly conventions: AccountsConventions;
  readonly domain: AccountsDomain;
  readonly config: AccountsConfig;
  readonly vendorWord: VendorWord;
  readonly random: Random;
}): RouteGroup {
  const { authenticator, conventions, domain, vendorWord, random } = deps;
  const { mutations, operator } = domain;
  const maxBodyBytes = deps.config.max_body_bytes;
  const shapes = new RequestShapes(REFERENCE_LISTS);
  const on = new PlatformRoutes({
    authenticator,
    conventions,
    random,
    maxBodyBytes,
    storeRefused: (context, body) => mutations.storeRefused(context, body),
  });
  const parts = { ...domain, shapes, vendorWord };
  const ofPlatforms = [
    ...accountRoutes(on, parts),
    ...personRoutes(on, parts),
    ...eventRoutes(on, parts),
    ...clockRoutes(on, parts),
  ];
  return {
    conventions,
    api: 'accounts',
    routes: [
      ...ofPlatforms,
      ...ofPlatforms.map((route) => on.forOperators(route)),
      ...operatorRoutes({ authenticator, operator, maxBodyBytes, vendorWord }),
      guideRoute(parts),
    ],
  };
}

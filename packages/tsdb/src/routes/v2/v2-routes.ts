import type { Route } from '@plinth/kernel';
import type { RouteDeps } from '../deps.js';
import { authorizationRoutes } from './authorization-routes.js';
import { bucketRoutes } from './bucket-routes.js';
import { organizationRoutes } from './organization-routes.js';
import { setupRoutes } from './setup-routes.js';

/** The part of the management API of InfluxDB 2.x that has an equivalent on this server. */
export function v2ManagementRoutes(deps: RouteDeps): readonly Route[] {
  const { tokenManagement: tokens } = deps;
  return [
    ...bucketRoutes(deps),
    ...organizationRoutes(),
    ...(tokens === undefined
      ? []
      : [...authorizationRoutes(tokens, deps), ...setupRoutes(tokens, deps)]),
  ];
}

import type { ApiConventions, RouteGroup } from '@plinth/kernel';
import { type AppRouteDeps, appRoutes } from './app-routes.js';
import type { WebhookConventions } from './conventions.js';
import { type EventRouteDeps, eventRoutes } from './event-routes.js';
import { type QueueRouteDeps, queueRoutes } from './queue-routes.js';
import { isWebhookError } from './to-wire.js';

export interface TableDeps extends AppRouteDeps, EventRouteDeps, QueueRouteDeps {
  readonly conventions: WebhookConventions;
  readonly operatorConventions: ApiConventions;
}

/** Returns all routes of this service. */
export function webhookRouteGroups(deps: TableDeps): readonly RouteGroup[] {
  const { conventions, operatorConventions } = deps;
  return [
    { conventions, api: 'webhooks', routes: appRoutes(deps) },
    {
      conventions: operatorConventions,
      api: 'webhooks',
      // This service's own errors use its API conventions. All others use those for operators.
      errorResponse: (error, request) =>
        (isWebhookError(error) ? conventions : operatorConventions).errorResponse(error, request),
      routes: [...eventRoutes(deps), ...queueRoutes(deps)],
    },
  ];
}

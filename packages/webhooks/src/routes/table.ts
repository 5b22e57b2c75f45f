import type { Dialect, RouteTable } from '@plinth/kernel';
import { type AppRouteDeps, appRoutes } from './app-routes.js';
import type { WebhookDialect } from './dialect.js';
import { type EventRouteDeps, eventRoutes } from './event-routes.js';
import { type QueueRouteDeps, queueRoutes } from './queue-routes.js';
import { isWebhookError } from './to-wire.js';

export interface TableDeps extends AppRouteDeps, EventRouteDeps, QueueRouteDeps {
  readonly dialect: WebhookDialect;
  readonly operatorDialect: Dialect;
}

/** Returns all routes of this service. */
export function webhookTables(deps: TableDeps): readonly RouteTable[] {
  const { dialect, operatorDialect } = deps;
  return [
    { dialect, api: 'webhooks', routes: appRoutes(deps) },
    {
      dialect: operatorDialect,
      api: 'webhooks',
      // This service's own errors use its dialect. All others use the operator dialect.
      errorResponse: (error, request) =>
        (isWebhookError(error) ? dialect : operatorDialect).errorResponse(error, request),
      routes: [...eventRoutes(deps), ...queueRoutes(deps)],
    },
  ];
}

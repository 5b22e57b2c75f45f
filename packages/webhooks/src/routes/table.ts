import type { Dialect, RouteTable } from '@plinth/kernel';
import { type AppRouteNeeds, appRoutes } from './app-routes.js';
import type { WebhookDialect } from './dialect.js';
import { type EventRouteNeeds, eventRoutes } from './event-routes.js';
import { type QueueRouteNeeds, queueRoutes } from './queue-routes.js';
import { isWebhookError } from './to-wire.js';

export interface TableNeeds extends AppRouteNeeds, EventRouteNeeds, QueueRouteNeeds {
  readonly dialect: WebhookDialect;
  readonly operatorDialect: Dialect;
}

/** All that this service answers. */
export function webhookTables(needs: TableNeeds): readonly RouteTable[] {
  const { dialect, operatorDialect } = needs;
  return [
    { dialect, api: 'webhooks', routes: appRoutes(needs) },
    {
      dialect: operatorDialect,
      api: 'webhooks',
      // Failures of this service have its words; everything else those of all operator endpoints.
      answerError: (error, request) =>
        (isWebhookError(error) ? dialect : operatorDialect).answerError(error, request),
      routes: [...eventRoutes(needs), ...queueRoutes(needs)],
    },
  ];
}

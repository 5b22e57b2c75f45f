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

/** All that this service answers. */
export function webhookTables(needs: TableDeps): readonly RouteTable[] {
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

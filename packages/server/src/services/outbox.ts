import { type Clock, type Logger, type Random, RelationalOutbox } from '@plinth/kernel';
import type { Stores } from '../folder/stores.js';
import type { Settings } from '../settings.js';

const DAY_MS = 86_400_000;

/** Opens the outbox for events between services; failures are logged. */
export function openOutbox(deps: {
  readonly stores: Stores;
  readonly settings: Settings['server'];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}): RelationalOutbox {
  const { stores, settings, clock, random, log } = deps;
  return new RelationalOutbox({
    ...{ clock, random, log },
    store: stores.relational,
    leases: stores.leases,
    node: stores.folderId,
    forgetAfterMs: settings.absent_service_days * DAY_MS,
    onSubscriberLeftBehind: ({ subscriber, lastSeenMs }) =>
      log.warn(
        { subscriber, lastSeen: new Date(lastSeenMs).toISOString() },
        'removed undelivered events of a service that no longer runs',
      ),
    onHandlerFailure: ({ subscriber, event, attempt, error }) =>
      log.error({ err: error, subscriber, event: event.id, attempt }, 'event not handled'),
  });
}

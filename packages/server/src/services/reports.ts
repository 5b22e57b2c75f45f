import type { Logger, NewEvent, Outbox, RelationalStore, ReportEvent } from '@plinth/kernel';
import type { Stores } from '../folder/stores.js';
import type { Settings } from '../settings.js';

/** Event reports of services, to be published through the outbox. */
export class Reports {
  readonly #stores: Stores;
  readonly #outbox: Outbox;
  readonly #log: Logger;
  readonly #isWanted: boolean;
  #isOpen = false;

  constructor(deps: {
    readonly settings: Settings;
    readonly stores: Stores;
    readonly outbox: Outbox;
    readonly log: Logger;
  }) {
    const { settings } = deps;
    this.#stores = deps.stores;
    this.#outbox = deps.outbox;
    this.#log = deps.log;
    // Only the webhook service uses these events.
    this.#isWanted =
      settings.server.services.includes('webhooks') && settings.webhooks.internal_events_enabled;
  }

  /** Called once the outbox has started; events from startup are dropped. */
  open(): void {
    this.#isOpen = true;
  }

  /** Returns a report function for a service that stores its state in `store`. */
  from(store: RelationalStore): ReportEvent | undefined {
    if (!this.#isWanted) return undefined;
    const isSame = store === this.#stores.relational;
    return async (tx, ...events) => {
      if (isSame && this.#isOpen) await this.#outbox.publish(tx, ...events);
      else for (const event of events) this.publish(event);
    };
  }

  /** For changes outside the outbox's store: the event is published in its own transaction. */
  publish(event: NewEvent): void {
    if (!this.#isWanted || !this.#isOpen) return;
    this.#stores.relational
      .transaction((tx) => this.#outbox.publish(tx, event))
      .catch((err: unknown) => this.#log.error({ err, event: event.type }, 'event not published'));
  }
}

import type { Logger, NewEvent, Outbox, RelationalStore, ReportEvent } from '@plinth/kernel';
import type { Stores } from '../folder/stores.js';
import type { Settings } from '../settings.js';

/** What services report about themselves, on its way into the outbox. */
export class Reports {
  readonly #stores: Stores;
  readonly #outbox: Outbox;
  readonly #log: Logger;
  readonly #isWanted: boolean;
  #isOpen = false;

  constructor(needs: {
    readonly settings: Settings;
    readonly stores: Stores;
    readonly outbox: Outbox;
    readonly log: Logger;
  }) {
    const { settings } = needs;
    this.#stores = needs.stores;
    this.#outbox = needs.outbox;
    this.#log = needs.log;
    // Without the webhook service nobody reads them.
    this.#isWanted =
      settings.server.services.includes('webhooks') && settings.webhooks.internal_events_enabled;
  }

  /** The outbox has started; what services did while they started themselves is of no interest. */
  open(): void {
    this.#isOpen = true;
  }

  /** For a service that keeps its state in `store`. */
  from(store: RelationalStore): ReportEvent | undefined {
    if (!this.#isWanted) return undefined;
    const isSame = store === this.#stores.relational;
    return async (tx, ...events) => {
      if (isSame && this.#isOpen) await this.#outbox.publish(tx, ...events);
      else for (const event of events) this.publish(event);
    };
  }

  /** For what is not changed in the store of the outbox: the event follows by itself. */
  publish(event: NewEvent): void {
    if (!this.#isWanted || !this.#isOpen) return;
    this.#stores.relational
      .transaction((tx) => this.#outbox.publish(tx, event))
      .catch((err: unknown) => this.#log.error({ err, event: event.type }, 'event not published'));
  }
}

import type { Logger, Outbox, RelationalStore, ReportEvent } from '@plinth/kernel';
import type { Settings } from '../settings.js';
import type { Stores } from '../stores.js';

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
    // Without a subscriber events would stay in the outbox for ever.
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
    return async (tx, event) => {
      if (!this.#isOpen) return;
      if (isSame) await this.#outbox.publish(tx, event);
      else this.#publishApart(event);
    };
  }

  /** The transaction that makes the change is one of another store. */
  #publishApart(event: { readonly type: string; readonly payload: unknown }): void {
    this.#stores.relational
      .transaction(async (tx) => void (await this.#outbox.publish(tx, event)))
      .catch((err: unknown) => this.#log.error({ err, event: event.type }, 'event not published'));
  }
}

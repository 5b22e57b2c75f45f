import type { DeliveryDetail, DeliveryFilter } from '../model/delivery.js';
import type { DeliveryPage, DeliveryStore } from '../storage/delivery-store.js';

/** The records of an app's deliveries, for those who read them. */
export class DeliveryLog {
  readonly #store: DeliveryStore;

  constructor(store: DeliveryStore) {
    this.#store = store;
  }

  async list(
    appId: number,
    filter: DeliveryFilter,
    fromId: number | undefined,
    limit: number,
  ): Promise<DeliveryPage> {
    return await this.#store.list(appId, filter, fromId, limit);
  }

  async get(appId: number, id: number): Promise<DeliveryDetail | undefined> {
    return await this.#store.get(appId, id);
  }
}

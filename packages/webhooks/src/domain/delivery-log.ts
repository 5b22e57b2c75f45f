import type { DeliveryDetail } from '../model/delivery.js';
import type { DeliveryPage, DeliveryStore } from '../storage/delivery-store.js';
import type { EncryptedUrls } from '../storage/encrypted-urls.js';

/** Reads an app's delivery records and decrypts their URLs. */
export class DeliveryLog {
  readonly #store: DeliveryStore;
  readonly #urls: EncryptedUrls;

  constructor(store: DeliveryStore, urls: EncryptedUrls) {
    this.#store = store;
    this.#urls = urls;
  }

  async list(...query: Parameters<DeliveryStore['list']>): Promise<DeliveryPage> {
    return await this.#store.list(...query);
  }

  async get(appId: number, id: number): Promise<DeliveryDetail | undefined> {
    const found = await this.#store.get(appId, id);
    return found && { ...found, url: this.#urls.decrypt(found.url, appId) };
  }
}

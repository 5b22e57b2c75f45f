import type { Clock } from '@plinth/kernel';
import type { App, AppSelector } from '../model/app.js';
import type { AppStore } from '../storage/app-store.js';

const MAX_APP_COUNT = 10_000;
/** Maximum delay before a change by another node is visible. */
const SHARED_TTL_MS = 1000;

interface Remembered {
  readonly app: App;
  readonly readMs: number;
}

/**
 * Finds apps by id or client id and caches the most recent ones. Unknown apps are looked up each
 * time.
 */
export class AppDirectory {
  readonly #store: AppStore;
  readonly #clock: Clock;
  readonly #byId = new Map<number, Remembered>();
  readonly #idOfClient = new Map<string, number>();
  /** Incremented by every change, so that a read started before a change is not cached after it. */
  #changeCount = 0;

  constructor(deps: { readonly store: AppStore; readonly clock: Clock }) {
    this.#store = deps.store;
    this.#clock = deps.clock;
  }

  async find(selector: AppSelector): Promise<App | undefined> {
    const id = 'id' in selector ? selector.id : this.#idOfClient.get(selector.client_id);
    const known = id === undefined ? undefined : this.#byId.get(id);
    if (known !== undefined && this.#isFresh(known)) return known.app;
    const changeCount = this.#changeCount;
    const readMs = this.#clock.monotonicMs();
    const app = await this.#store.find(selector);
    if (app !== undefined && changeCount === this.#changeCount) this.#remember(app, readMs);
    return app;
  }

  /** Call when a change to the app has become durable. */
  forget(appId: number): void {
    this.#changeCount += 1;
    const known = this.#byId.get(appId);
    this.#byId.delete(appId);
    if (known !== undefined) this.#idOfClient.delete(known.app.client_id);
  }

  #isFresh({ readMs }: Remembered): boolean {
    return !this.#store.isShared || this.#clock.monotonicMs() - readMs < SHARED_TTL_MS;
  }

  #remember(app: App, readMs: number): void {
    this.#byId.delete(app.id);
    this.#byId.set(app.id, { app, readMs });
    this.#idOfClient.set(app.client_id, app.id);
    if (this.#byId.size <= MAX_APP_COUNT) return;
    for (const [id, { app: oldest }] of this.#byId) {
      this.#byId.delete(id);
      this.#idOfClient.delete(oldest.client_id);
      break;
    }
  }
}

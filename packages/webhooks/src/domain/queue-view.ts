import type { QueueItem, QueueState } from '../model/event.js';
import type { QueueStore } from '../storage/queue/queue-store.js';

/** The queue as operators see it. */
export class QueueView {
  readonly #store: QueueStore;

  constructor(store: QueueStore) {
    this.#store = store;
  }

  async describe(appId: number): Promise<{
    readonly counts: Readonly<Record<'pending' | 'leased' | 'dead', number>>;
    readonly oldestDueMs: number | undefined;
  }> {
    const { pending, held, leased, dead } = await this.#store.counts.countByState(appId);
    const oldestDueMs = await this.#store.counts.oldestDueMs(appId);
    return { counts: { pending: pending + held, leased, dead }, oldestDueMs };
  }

  async list(
    appId: number,
    states: readonly QueueState[],
    limit: number,
  ): Promise<readonly (QueueItem & { readonly state: QueueState })[]> {
    return await this.#store.counts.listItems(appId, states, limit);
  }
}

import type { Clock, Logger } from '@plinth/kernel';
import type { QueueStore } from '../../storage/queue/queue-store.js';
import type { AppQueue } from './app-queue.js';
import type { AppQueues } from './app-queues.js';
import type { OrphanedItems } from './orphaned-items.js';

export interface ClaimDeps {
  readonly queue: QueueStore;
  readonly appQueues: AppQueues;
  readonly orphanedItems: OrphanedItems;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called after a claim with the queues that it served. */
  readonly onClaimed: (appQueues: readonly AppQueue[]) => void;
}

const MAX_CLAIMS_AT_ONCE = 64;
const FAILURE_PAUSE_MS = 1000;

/**
 * Fills queue windows from the store. Requests made during a claim are combined into the next one.
 */
export class Claims {
  readonly #deps: ClaimDeps;
  readonly #requested = new Set<AppQueue>();
  #isRunning = false;
  #isStopping = false;

  constructor(deps: ClaimDeps) {
    this.#deps = deps;
  }

  /** Requests more items for a queue. */
  request(appQueue: AppQueue): void {
    if (appQueue.isClaiming) return;
    this.#requested.add(appQueue);
    if (!this.#isRunning) void this.#run();
  }

  /** Prevents further claims. */
  stop(): void {
    this.#isStopping = true;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      while (this.#requested.size > 0 && !this.#isStopping) {
        const appQueues = [...this.#requested].slice(0, MAX_CLAIMS_AT_ONCE);
        for (const appQueue of appQueues) this.#requested.delete(appQueue);
        await this.#claim(appQueues);
      }
    } finally {
      this.#isRunning = false;
    }
  }

  async #claim(appQueues: readonly AppQueue[]): Promise<void> {
    const { queue, clock, log } = this.#deps;
    const limit = this.#deps.appQueues.claimLimit;
    const dueHints = appQueues.map((appQueue) => appQueue.dueHints);
    for (const appQueue of appQueues) appQueue.isClaiming = true;
    try {
      const items = await this.#deps.orphanedItems.trackLeasing(async () => {
        const claimed = await queue.claim(
          appQueues.map(({ appId }) => ({ appId, limit })),
          clock.nowMs(),
        );
        // The node may have lost its lease during the claim, and these items with it.
        const stillLeased = claimed.filter(({ leaseHolder }) => leaseHolder === queue.leaseHolder);
        this.#deps.appQueues.add(stillLeased);
        return stillLeased;
      });
      const counts = new Map<number, number>();
      for (const { appId } of items) counts.set(appId, (counts.get(appId) ?? 0) + 1);
      for (const [index, appQueue] of appQueues.entries()) {
        if ((counts.get(appQueue.appId) ?? 0) < limit) {
          appQueue.handledDueHints = dueHints[index] ?? 0;
          appQueue.nextDueMs = await queue.counts.oldestDueMs(appQueue.appId);
        }
      }
    } catch (err) {
      log.error({ err }, 'cannot read the webhook queue');
      await clock.sleep(FAILURE_PAUSE_MS).catch(() => {});
    } finally {
      for (const appQueue of appQueues) appQueue.isClaiming = false;
      this.#deps.onClaimed(appQueues);
    }
  }
}

import type { Clock, Logger } from '@plinth/kernel';
import type { QueueStore } from '../../storage/queue/queue-store.js';

/** A store that was frozen may still commit a write whose caller has given up. */
const UNVERIFIED_MS = 60_000;

/**
 * Finds items that are leased to this node in the store but missing in its memory. This happens if
 * the response to a claim was lost or a release failed. While this node is alive, no other node
 * would claim them.
 */
export class OrphanedItems {
  readonly #queue: QueueStore;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #ownIds: () => ReadonlySet<number>;
  readonly #leasing = new Set<Promise<unknown>>();
  #unverifiedUntilMs = Number.NEGATIVE_INFINITY;
  #isChecking = false;

  constructor(deps: {
    readonly queue: QueueStore;
    readonly clock: Clock;
    readonly log: Logger;
    /** Ids of all items that this node holds, including started ones. */
    readonly ownIds: () => ReadonlySet<number>;
  }) {
    this.#queue = deps.queue;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#ownIds = deps.ownIds;
  }

  /**
   * Runs `lease`. If it rejects, its items may nevertheless be leased in the store, so the leases
   * are checked for some time. Checks wait for running calls.
   * @param lease leases items and resolves when the node holds them.
   */
  async trackLeasing<T>(lease: () => Promise<T>): Promise<T> {
    const leased = lease();
    this.#leasing.add(leased);
    try {
      return await leased;
    } catch (error) {
      this.invalidate();
      throw error;
    } finally {
      this.#leasing.delete(leased);
    }
  }

  /** Marks the leases in the store as unverified. */
  invalidate(): void {
    this.#unverifiedUntilMs = this.#clock.monotonicMs() + UNVERIFIED_MS;
  }

  /** Releases the orphaned items it finds. Call it regularly. */
  check(): void {
    if (this.#isChecking || this.#clock.monotonicMs() > this.#unverifiedUntilMs) return;
    this.#isChecking = true;
    this.#release()
      .catch((err: unknown) => {
        this.invalidate();
        this.#log.error({ err }, 'cannot check the leases of this node');
      })
      .finally(() => {
        this.#isChecking = false;
      });
  }

  async #release(): Promise<void> {
    const before = this.#ownIds();
    const leased = await this.#queue.nodes.leasedIds();
    // Claims that ran during the query add their items to `ownIds` when they complete.
    await Promise.allSettled(this.#leasing);
    const now = this.#ownIds();
    const orphaned = leased.filter((id) => !before.has(id) && !now.has(id));
    if (orphaned.length === 0) return;
    await this.#queue.nodes.release(orphaned);
    this.#log.warn({ count: orphaned.length }, 'orphaned leases released');
  }
}

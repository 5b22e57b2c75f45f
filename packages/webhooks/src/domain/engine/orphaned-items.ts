import type { Clock, Logger } from '@plinth/kernel';
import type { QueueStore } from '../../storage/queue/queue-store.js';

/** A commit that nobody waits for any more may come late, from a store that was frozen. */
const DOUBT_MS = 60_000;

/**
 * Items that the store has leased to this node and that the node does not have, because it did not hear that they were
 * leased, or could not give them back. Nobody else would take them while it lives.
 */
export class OrphanedItems {
  readonly #queue: QueueStore;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #ownIds: () => ReadonlySet<number>;
  readonly #taking = new Set<Promise<unknown>>();
  #unverifiedUntilMs = Number.NEGATIVE_INFINITY;
  #isLooking = false;

  constructor(needs: {
    readonly queue: QueueStore;
    readonly clock: Clock;
    readonly log: Logger;
    /** Of all items that this node has, also of those that it has begun. */
    readonly ownIds: () => ReadonlySet<number>;
  }) {
    this.#queue = needs.queue;
    this.#clock = needs.clock;
    this.#log = needs.log;
    this.#ownIds = needs.ownIds;
  }

  /** @param take leases items, and ends when the node has them. */
  async taking<T>(take: () => Promise<T>): Promise<T> {
    const taken = take();
    this.#taking.add(taken);
    try {
      return await taken;
    } catch (error) {
      this.invalidate();
      throw error;
    } finally {
      this.#taking.delete(taken);
    }
  }

  /** It is not known what the store has. */
  invalidate(): void {
    this.#unverifiedUntilMs = this.#clock.monotonicMs() + DOUBT_MS;
  }

  /** To be called often; gives back what it finds. */
  look(): void {
    if (this.#isLooking || this.#clock.monotonicMs() > this.#unverifiedUntilMs) return;
    this.#isLooking = true;
    this.#release()
      .catch((err: unknown) => {
        this.invalidate();
        this.#log.error({ err }, 'own leases not looked at');
      })
      .finally(() => {
        this.#isLooking = false;
      });
  }

  async #release(): Promise<void> {
    const before = this.#ownIds();
    const leased = await this.#queue.nodes.leasedIds();
    // What is among them because it is being taken is known afterwards.
    await Promise.allSettled(this.#taking);
    const now = this.#ownIds();
    const orphaned = leased.filter((id) => !before.has(id) && !now.has(id));
    if (orphaned.length === 0) return;
    await this.#queue.nodes.release(orphaned);
    this.#log.warn({ count: orphaned.length }, 'leases given back of which nothing had been heard');
  }
}

import type { Clock, Logger } from '@plinth/kernel';
import { NODE_LEASE_MS } from '../../storage/queue/node-leases.js';
import type { QueueStore } from '../../storage/queue/queue-store.js';

interface OwnLeaseDeps {
  readonly queue: QueueStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Others have what was claimed. */
  readonly onLost: () => void;
  /** It is not known whether something was given back. */
  readonly onUnverified: () => void;
}

/**
 * What this node has claimed is its own as long as the others have heard of it lately; asked before every attempt. By the clock
 * of this process, from before the store was told: never longer than the store has it.
 */
export class OwnLease {
  readonly #needs: OwnLeaseDeps;
  #untilMs = Number.NEGATIVE_INFINITY;
  /** Since when it was never over. */
  #steadySinceMs = Number.POSITIVE_INFINITY;
  #over = new AbortController();

  constructor(needs: OwnLeaseDeps) {
    this.#needs = needs;
  }

  get isHeld(): boolean {
    return !this.#needs.queue.isShared || this.#needs.clock.monotonicMs() < this.#untilMs;
  }

  /** Aborted when it is over. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  async start(): Promise<void> {
    const sinceMs = this.#needs.clock.monotonicMs();
    await this.#needs.queue.start(this.#needs.clock.nowMs());
    this.#renew(sinceMs);
  }

  /** To be called often: nobody else tells that it is over. */
  look(): void {
    if (!this.isHeld && !this.over.aborted) this.#over.abort(new Error('the lease is over'));
  }

  /** Rejects when the store could not be told. */
  async keep(): Promise<void> {
    const { nodes } = this.#needs.queue;
    const sinceMs = this.#needs.clock.monotonicMs();
    if (!(await nodes.heartbeat(this.#needs.clock.nowMs()))) {
      this.#needs.log.warn('leases lost: others go on with what this node had');
      this.#over.abort(new Error('the lease is lost'));
      this.#needs.onLost();
    }
    this.#renew(sinceMs);
    // After an outage of the store all leases are over, and each node comes back in its own time.
    if (sinceMs - this.#steadySinceMs < NODE_LEASE_MS) return;
    const released = await nodes.releaseExpired(this.#needs.clock.nowMs());
    if (released > 0) this.#needs.log.warn({ count: released }, 'leases of a dead node taken back');
  }

  /** Gives back items that were claimed and not begun; others may go on with them. */
  release(ids: readonly number[]): void {
    this.#needs.queue.nodes.release(ids).catch((err: unknown) => {
      this.#needs.log.error({ err }, 'leases not given back');
      this.#needs.onUnverified();
    });
  }

  #renew(sinceMs: number): void {
    this.look();
    if (this.over.aborted || this.#steadySinceMs === Number.POSITIVE_INFINITY) {
      this.#over = new AbortController();
      this.#steadySinceMs = sinceMs;
    }
    this.#untilMs = sinceMs + NODE_LEASE_MS;
  }
}

import type { Clock, Logger } from '@plinth/kernel';
import { NODE_LEASE_MS } from '../../storage/queue/node-leases.js';
import type { QueueStore } from '../../storage/queue/queue-store.js';

interface OwnLeaseDeps {
  readonly queue: QueueStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when other nodes own the items that this node had claimed. */
  readonly onLost: () => void;
  /** Called when a release failed, so that the leases in the store are unverified. */
  readonly onUnverified: () => void;
}

/**
 * The lease of this node on its claimed items, checked before every attempt. Its time is measured
 * by the monotonic clock of this process, starting before each heartbeat is sent. It therefore
 * never outlasts the lease in the store.
 */
export class OwnLease {
  readonly #deps: OwnLeaseDeps;
  #untilMs = Number.NEGATIVE_INFINITY;
  /** Start of the period in which the lease has not expired. */
  #steadySinceMs = Number.POSITIVE_INFINITY;
  #lost = new AbortController();

  constructor(deps: OwnLeaseDeps) {
    this.#deps = deps;
  }

  get isValid(): boolean {
    return !this.#deps.queue.isShared || this.#deps.clock.monotonicMs() < this.#untilMs;
  }

  /** Signal that is aborted when the lease expires. */
  get lostSignal(): AbortSignal {
    return this.#lost.signal;
  }

  async start(): Promise<void> {
    const sinceMs = this.#deps.clock.monotonicMs();
    await this.#deps.queue.start(this.#deps.clock.nowMs());
    this.#renew(sinceMs);
  }

  /**
   * Aborts `lostSignal` when the lease has expired. Call it regularly, because nothing else detects the
   * expiry.
   */
  check(): void {
    if (!this.isValid && !this.lostSignal.aborted)
      this.#lost.abort(new Error('the lease has expired'));
  }

  /** Renews the lease. Rejects when the store is unavailable. */
  async keep(): Promise<void> {
    const { nodes } = this.#deps.queue;
    const sinceMs = this.#deps.clock.monotonicMs();
    if (!(await nodes.heartbeat(this.#deps.clock.nowMs()))) {
      this.#deps.log.warn('leases lost: other nodes continue with the items of this node');
      this.#lost.abort(new Error('the lease was lost'));
      this.#deps.onLost();
    }
    this.#renew(sinceMs);
    // After an outage of the store, all leases have expired. The other nodes therefore first have
    // time to renew theirs.
    if (sinceMs - this.#steadySinceMs < NODE_LEASE_MS) return;
    const released = await nodes.releaseExpired(this.#deps.clock.nowMs());
    if (released > 0) this.#deps.log.warn({ count: released }, 'leases of a failed node released');
  }

  /** Releases items that were claimed and not started, so that other nodes can claim them. */
  release(ids: readonly number[]): void {
    this.#deps.queue.nodes.release(ids).catch((err: unknown) => {
      this.#deps.log.error({ err }, 'cannot release leases of queue items');
      this.#deps.onUnverified();
    });
  }

  #renew(sinceMs: number): void {
    this.check();
    if (this.lostSignal.aborted || this.#steadySinceMs === Number.POSITIVE_INFINITY) {
      this.#lost = new AbortController();
      this.#steadySinceMs = sinceMs;
    }
    this.#untilMs = sinceMs + NODE_LEASE_MS;
  }
}

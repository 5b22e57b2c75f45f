import { type Clock, type Leases, type Logger, repeatJob } from '@plinth/kernel';
import type { DeliveryStore } from '../storage/delivery-store.js';

const CHECK_MS = 60_000;
const BATCH_COUNT = 1000;
const PAUSE_MS = 50;
const DAY_MS = 86_400_000;

/**
 * Removes old records in small batches, so that other writers can run in between. Source: webhooks,
 * section 7.6.
 */
export class Retention {
  readonly #deps: RetentionDeps;
  readonly #stop = new AbortController();
  #timer: Disposable | undefined;
  #running: Promise<unknown> | undefined;
  #payloadsDoneId = 0;

  constructor(deps: RetentionDeps) {
    this.#deps = deps;
  }

  start(): void {
    const { clock, log } = this.#deps;
    const job = { clock, log, name: 'webhooks retention', intervalMs: CHECK_MS };
    this.#timer = repeatJob(job, async () => {
      this.#running = this.#deps.leases.withLease('webhooks-retention', () => this.#purge());
      await this.#running;
    });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#timer?.[Symbol.dispose]();
    await this.#running?.catch(() => {});
  }

  async #purge(): Promise<void> {
    const { deliveries, clock, log, retentionDays, payloadDays } = this.#deps;
    try {
      let hasMore = true;
      while (hasMore && !this.#stop.signal.aborted) {
        hasMore = await deliveries.purge(clock.nowMs() - retentionDays * DAY_MS, BATCH_COUNT);
        if (hasMore) await clock.sleep(PAUSE_MS, this.#stop.signal).catch(() => {});
      }
      if (payloadDays === undefined) return;
      let next: number | undefined = this.#payloadsDoneId;
      while (next !== undefined && !this.#stop.signal.aborted) {
        this.#payloadsDoneId = next;
        const beforeMs = clock.nowMs() - payloadDays * DAY_MS;
        next = await deliveries.purgePayloads(beforeMs, next, BATCH_COUNT);
        if (next !== undefined) await clock.sleep(PAUSE_MS, this.#stop.signal).catch(() => {});
      }
    } catch (err) {
      log.error({ err }, 'cannot remove old delivery records');
    }
  }
}

interface RetentionDeps {
  readonly deliveries: DeliveryStore;
  readonly clock: Clock;
  readonly leases: Leases;
  readonly log: Logger;
  readonly retentionDays: number;
  readonly payloadDays: number | undefined;
}

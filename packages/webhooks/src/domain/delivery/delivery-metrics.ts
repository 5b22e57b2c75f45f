import { AttemptMetrics, type Clock, type Counter, type Metrics } from '@plinth/kernel';
import type { QueueStore } from '../../storage/queue/queue-store.js';

const makeCounter = (): Counter & { readonly value: number } => ({
  value: 0,
  inc(by = 1) {
    (this as { value: number }).value += by; // the public type is read-only; only this module increments
  },
});

/** Metrics of the delivery engine. Source: webhooks, section 14. */
export class DeliveryMetrics {
  readonly accepted = makeCounter();
  readonly throttled = makeCounter();
  readonly disabled = makeCounter();
  readonly leftOut = makeCounter();
  readonly attempts = new AttemptMetrics();
  readonly #queue: QueueStore;
  readonly #inflight: () => number;
  readonly #clock: Clock;

  constructor(queue: QueueStore, inflight: () => number, clock: Clock) {
    this.#queue = queue;
    this.#inflight = inflight;
    this.#clock = clock;
  }

  register(metrics: Metrics): void {
    const count = (name: string, help: string, counter: { readonly value: number }): void =>
      metrics.add({ name, help, type: 'counter', samples: () => [{ value: counter.value }] });
    count('webhook_events_accepted_total', 'Accepted events.', this.accepted);
    count('webhook_throttled_total', 'Attempts delayed by limits of this server.', this.throttled);
    count('webhook_disabled_total', 'Webhooks disabled by the server.', this.disabled);
    count(
      'webhook_targets_left_out_total',
      'Events not queued for an app because its queue was full.',
      this.leftOut,
    );
    this.attempts.register(metrics, 'webhook');
    metrics.add({
      name: 'webhook_queue_items',
      help: 'Queue items by state.',
      type: 'gauge',
      labels: ['state'],
      samples: async () =>
        Object.entries(await this.#queue.counts.countByState()).map(([state, value]) => ({
          labels: { state },
          value,
        })),
    });
    metrics.gauge({
      name: 'webhook_oldest_due_seconds',
      help: 'Time since the oldest queue item became due.',
      read: async () => {
        const dueMs = await this.#queue.counts.oldestDueMs();
        return dueMs === undefined ? 0 : Math.max(0, (this.#clock.nowMs() - dueMs) / 1000);
      },
    });
    metrics.gauge({
      name: 'webhook_inflight',
      help: 'Attempts in progress.',
      read: this.#inflight,
    });
  }
}

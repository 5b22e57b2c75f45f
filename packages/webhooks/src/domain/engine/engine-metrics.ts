import { type Clock, type Counter, Histogram, type Metrics } from '@plinth/kernel';
import type { QueueStore } from '../../storage/queue-store.js';
import { isSuccess, type Outcome } from '../transport/outcome.js';

const BOUNDS_SEC = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const makeCounter = (): Counter & { readonly value: number } => ({
  value: 0,
  inc(by = 1) {
    (this as { value: number }).value += by; // the type is read-only for those who look
  },
});

/** Source: webhooks, section 14. */
export class EngineMetrics {
  readonly accepted = makeCounter();
  readonly throttled = makeCounter();
  readonly disabled = makeCounter();
  readonly leftOut = makeCounter();
  readonly #attempts = new Map<string, number>();
  readonly #seconds = new Histogram(BOUNDS_SEC);
  readonly #queue: QueueStore;
  readonly #inflight: () => number;
  readonly #clock: Clock;

  constructor(queue: QueueStore, inflight: () => number, clock: Clock) {
    this.#queue = queue;
    this.#inflight = inflight;
    this.#clock = clock;
  }

  observe(outcome: Outcome, durationMs: number): void {
    const name = isSuccess(outcome)
      ? 'ok'
      : outcome.kind === 'answered'
        ? 'http_error'
        : outcome.kind;
    this.#attempts.set(name, (this.#attempts.get(name) ?? 0) + 1);
    this.#seconds.observe(durationMs / 1000);
  }

  register(metrics: Metrics): void {
    const count = (name: string, help: string, counter: { readonly value: number }): void =>
      metrics.add({ name, help, type: 'counter', samples: () => [{ value: counter.value }] });
    count('webhook_events_accepted_total', 'Events that were accepted.', this.accepted);
    count('webhook_throttled_total', 'Attempts that our own limits delayed.', this.throttled);
    count('webhook_disabled_total', 'Webhooks that were switched off.', this.disabled);
    count(
      'webhook_targets_left_out_total',
      'Events that an app did not get because its queue is full.',
      this.leftOut,
    );
    metrics.add({
      name: 'webhook_attempts_total',
      help: 'Attempts by outcome.',
      type: 'counter',
      samples: () =>
        [...this.#attempts].map(([outcome, value]) => ({ labels: { outcome }, value })),
    });
    metrics.add({
      name: 'webhook_attempt_seconds',
      help: 'Time of an attempt.',
      type: 'histogram',
      samples: () => this.#seconds.samples('webhook_attempt_seconds'),
    });
    metrics.add({
      name: 'webhook_queue_items',
      help: 'Items of the queue by state.',
      type: 'gauge',
      samples: async () =>
        Object.entries(await this.#queue.counts.totalByState()).map(([state, value]) => ({
          labels: { state },
          value,
        })),
    });
    metrics.gauge({
      name: 'webhook_oldest_due_seconds',
      help: 'How long the oldest item has been due.',
      read: async () => {
        const dueMs = await this.#queue.counts.oldestDueMs();
        return dueMs === undefined ? 0 : Math.max(0, (this.#clock.nowMs() - dueMs) / 1000);
      },
    });
    metrics.gauge({
      name: 'webhook_inflight',
      help: 'Attempts under way.',
      read: this.#inflight,
    });
  }
}

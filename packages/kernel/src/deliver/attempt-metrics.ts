import { Histogram } from '../metrics/histogram.js';
import type { Metrics } from '../metrics/metrics.js';
import { FAILURE_KINDS, isSuccess, type Outcome } from './outcome.js';

const BOUNDS_SEC = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Counts the attempts of one sender by outcome, and measures their duration. */
export class AttemptMetrics {
  readonly #attempts = new Map(['ok', 'http_error', ...FAILURE_KINDS].map((name) => [name, 0]));
  readonly #seconds = new Histogram(BOUNDS_SEC);

  observe(outcome: Outcome, durationMs: number): void {
    const isRefusal = outcome.kind === 'answered' && !isSuccess(outcome);
    const name = isRefusal ? 'http_error' : outcome.kind === 'answered' ? 'ok' : outcome.kind;
    this.#attempts.set(name, (this.#attempts.get(name) ?? 0) + 1);
    this.#seconds.observe(durationMs / 1000);
  }

  /** @param prefix prefix of the metric names, such as `webhook`. */
  register(metrics: Metrics, prefix: string): void {
    metrics.add({
      name: `${prefix}_attempts_total`,
      help: 'Attempts by outcome.',
      type: 'counter',
      labels: ['outcome'],
      samples: () =>
        [...this.#attempts].map(([outcome, value]) => ({ labels: { outcome }, value })),
    });
    metrics.add({
      name: `${prefix}_attempt_seconds`,
      help: 'Duration of a delivery attempt.',
      type: 'histogram',
      samples: () => this.#seconds.samples(`${prefix}_attempt_seconds`),
    });
  }
}

import { Histogram, type Metrics } from '@plinth/kernel';
import { LIMIT_KINDS, type LimitKind } from '../model/decision.js';
import type { Admission, LimitStore } from '../model/limit-store.js';
import { UNLIMITED } from '../model/resource.js';

const OUTCOMES = ['allowed', 'rejected', 'shadow_rejected'] as const;
type Outcome = (typeof OUTCOMES)[number];

/** A caller counts as near its limit above this share. */
const NEAR_SHARE = 0.8;

/** Only one decision in 32 is timed, because reading the clock for each would cost 10 % more. */
const TIMED_EVERY = 32;
const STORE_SECONDS = [
  0.000_001, 0.000_005, 0.000_02, 0.000_1, 0.000_5, 0.001, 0.005, 0.02, 0.05, 0.1, 1,
];

/**
 * Counts decisions. Labels are services, resources and limits, never identities, so their number is
 * bounded.
 */
export class LimiterMetrics {
  readonly #decisions = new Map<string, Map<string, Record<Outcome, number>>>();
  readonly #rejected = new Map<LimitKind, number>(LIMIT_KINDS.map((kind) => [kind, 0]));
  readonly #storeSeconds = new Histogram(STORE_SECONDS);
  #untimedCount = 0;
  #nearLimitCount = 0;
  #shadowCount = 0;

  /** Whether the next decision is to be timed. */
  isTimed(): boolean {
    this.#untimedCount += 1;
    if (this.#untimedCount < TIMED_EVERY) return false;
    this.#untimedCount = 0;
    return true;
  }

  time(durationMs: number): void {
    this.#storeSeconds.observe(durationMs / 1000);
  }

  count(service: string, admission: Admission, isShadowed: boolean): void {
    const { limitedBy, plan, limit, used } = admission;
    const counts = this.#countsOf(service, plan.resource.name);
    if (limitedBy === undefined) {
      counts.allowed += 1;
    } else {
      counts[isShadowed ? 'shadow_rejected' : 'rejected'] += 1;
      this.#rejected.set(limitedBy, (this.#rejected.get(limitedBy) ?? 0) + 1);
      if (isShadowed) this.#shadowCount += 1;
    }
    if (limit !== UNLIMITED && used >= limit * NEAR_SHARE) this.#nearLimitCount += 1;
  }

  /** Source: rate-limits, section 17. */
  show(metrics: Metrics, store: LimitStore): void {
    metrics.add({
      name: 'ratelimit_decisions_total',
      help: 'Rate limit decisions.',
      type: 'counter',
      labels: ['service', 'resource', 'outcome'],
      samples: () => this.#decisionSamples(),
    });
    metrics.add({
      name: 'ratelimit_rejected_total',
      help: 'Requests over a limit, by limit, including those allowed by shadow mode.',
      type: 'counter',
      labels: ['limit'],
      samples: () => [...this.#rejected].map(([limit, value]) => ({ labels: { limit }, value })),
    });
    const one = (name: string, help: string, read: () => number) =>
      metrics.add({ name, help, type: 'counter', samples: () => [{ value: read() }] });
    one(
      'ratelimit_near_limit_total',
      'Requests of callers that have used at least 80 % of their limit.',
      () => this.#nearLimitCount,
    );
    one(
      'ratelimit_shadow_rejected_total',
      'Requests over a limit that shadow mode allowed.',
      () => this.#shadowCount,
    );
    one(
      'ratelimit_store_errors_total',
      'Failed calls to the counter store.',
      () => store.stats.errorCount,
    );
    metrics.add({
      name: 'ratelimit_store_seconds',
      help: `Store latency of a rate limit decision; one of ${TIMED_EVERY} decisions is measured.`,
      type: 'histogram',
      samples: () => this.#storeSeconds.samples('ratelimit_store_seconds'),
    });
    const gauge = (name: string, help: string, read: () => number) =>
      metrics.gauge({ name, help, read });
    gauge('ratelimit_buckets', 'Buckets in memory.', () => store.stats.bucketCount);
    gauge('ratelimit_bans', 'Banned identities.', () => store.stats.banCount);
    gauge('ratelimit_inflight', 'Requests that hold a slot.', () => store.stats.inFlightCount);
  }

  #decisionSamples() {
    return [...this.#decisions].flatMap(([service, byResource]) =>
      [...byResource].flatMap(([resource, counts]) =>
        OUTCOMES.filter((outcome) => counts[outcome] > 0).map((outcome) => ({
          labels: { service, resource, outcome },
          value: counts[outcome],
        })),
      ),
    );
  }

  #countsOf(service: string, resource: string): Record<Outcome, number> {
    let byResource = this.#decisions.get(service);
    if (byResource === undefined) {
      byResource = new Map();
      this.#decisions.set(service, byResource);
    }
    let counts = byResource.get(resource);
    if (counts === undefined) {
      counts = { allowed: 0, rejected: 0, shadow_rejected: 0 };
      byResource.set(resource, counts);
    }
    return counts;
  }
}

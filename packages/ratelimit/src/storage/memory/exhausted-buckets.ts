import type { Clock } from '@plinth/kernel';
import type { Caller } from '../../model/caller.js';
import type { Plan } from '../../model/plan.js';
import { UNLIMITED } from '../../model/resource.js';
import { bucketOf, type RedisAdmission } from '../redis/redis-admission.js';

/** Time for which requests to an exhausted bucket are rejected locally before Redis is queried again. */
const KNOWN_MS = 1_000;
const MAX_COUNT = 100_000;

interface ExhaustedBucket {
  readonly untilMs: number;
  readonly used: number;
  readonly resetSec: number;
  /** Local refusals since the last Redis query, reported with the next one. */
  rejectionCount: number;
}

/** Caches exhausted buckets, so that a flood of rejected requests does not reach Redis. */
export class ExhaustedBuckets {
  readonly #clock: Clock;
  readonly #known = new Map<string, ExhaustedBucket>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns the bucket state if the request can be rejected without Redis. Otherwise returns the
   * number of refusals to report to Redis.
   */
  find(
    caller: Caller,
    plan: Plan,
  ): { readonly used: number; readonly resetSec: number } | { readonly unreportedCount: number } {
    if (this.#known.size === 0) return NOTHING_UNREPORTED;
    const bucket = bucketOf(caller.key, plan.resource);
    const known = this.#known.get(bucket);
    if (known === undefined) return NOTHING_UNREPORTED;
    const limit = caller.limits.limit[plan.resource.index] ?? UNLIMITED;
    const isEmpty = plan.cost > 0 && known.used + plan.cost > limit;
    if (isEmpty && this.#clock.monotonicMs() < known.untilMs) {
      known.rejectionCount += 1;
      return known;
    }
    this.#known.delete(bucket);
    return { unreportedCount: known.rejectionCount };
  }

  remember({ caller, plan, used, resetSec }: RedisAdmission): void {
    const leftMs = Math.min(KNOWN_MS, resetSec * 1000 - this.#clock.nowMs());
    if (leftMs <= 0) return;
    if (this.#known.size >= MAX_COUNT) this.#known.clear();
    const untilMs = this.#clock.monotonicMs() + leftMs;
    const bucket = bucketOf(caller.key, plan.resource);
    this.#known.set(bucket, { untilMs, used, resetSec, rejectionCount: 0 });
  }

  forget(identity: string): void {
    for (const bucket of this.#known.keys()) {
      if (bucket.startsWith(`${identity} `)) this.#known.delete(bucket);
    }
  }
}

const NOTHING_UNREPORTED = { unreportedCount: 0 };

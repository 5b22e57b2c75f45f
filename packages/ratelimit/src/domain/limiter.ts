import type { Clock } from '@plinth/kernel';
import { type Caller, Callers } from '../model/caller.js';
import type { BucketUsage } from '../model/decision.js';
import type { Admission, LimitStore } from '../model/limit-store.js';
import type { Plan } from '../model/plan.js';
import type { PrimaryLimitRules } from '../model/primary-limits.js';
import { type Resource, type ResourceTable, UNLIMITED } from '../model/resource.js';
import type { LimiterMetrics } from './limiter-metrics.js';
import type { RejectionCounts } from './rejection-counts.js';
import { RequestCharge } from './request-charge.js';

export interface LimiterDeps {
  readonly store: LimitStore;
  readonly resources: ResourceTable;
  readonly rules: PrimaryLimitRules;
  readonly clock: Clock;
  readonly metrics: LimiterMetrics;
  readonly rejections: RejectionCounts;
  /** Counts requests without rejecting any. */
  readonly isShadow: boolean;
  readonly shadowResources: ReadonlySet<string>;
}

/** One bucket as `GET /rate_limit` shows it; members in this order. */
export interface BucketReport {
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  readonly reset: number;
}

/** Result of a request. */
export interface Outcome {
  readonly admission: Admission;
  /** Whether a limit was exceeded outside shadow mode. */
  readonly isRefused: boolean;
  /** `undefined` if a limit was exceeded; then nothing was charged. */
  readonly charge: RequestCharge | undefined;
}

/** Admits or rejects requests from any source, and counts the decisions. */
export class Limiter {
  readonly callers: Callers;
  readonly resources: ResourceTable;
  readonly store: LimitStore;
  readonly rejections: RejectionCounts;
  readonly #deps: LimiterDeps;

  constructor(deps: LimiterDeps) {
    this.#deps = deps;
    this.store = deps.store;
    this.resources = deps.resources;
    this.rejections = deps.rejections;
    this.callers = new Callers(deps.rules);
  }

  /** Decides whether the request may proceed, and charges it if so. Throws `store_unavailable`. */
  admit(caller: Caller, plan: Plan, service: string): Outcome | Promise<Outcome> {
    const { metrics, clock } = this.#deps;
    const startMs = metrics.isTimed() ? clock.monotonicMs() : undefined;
    const found = this.store.admit(caller, plan);
    return found instanceof Promise
      ? found.then((admission) => this.#conclude(caller, admission, service, startMs))
      : this.#conclude(caller, found, service, startMs);
  }

  /** Returns the usage of every bucket of a caller. */
  async report(caller: Caller, resources: readonly Resource[]): Promise<readonly BucketReport[]> {
    const usage = await this.store.usage(caller.key, resources);
    const nowSec = Math.floor(this.#deps.clock.nowMs() / 1000);
    return resources.map((resource, position) =>
      reportOf(caller, resource, usage[position], nowSec),
    );
  }

  /** Counts the decision and applies shadow mode. */
  #conclude(
    caller: Caller,
    admission: Admission,
    service: string,
    startMs: number | undefined,
  ): Outcome {
    const { metrics, clock, isShadow, shadowResources } = this.#deps;
    if (startMs !== undefined) metrics.time(clock.monotonicMs() - startMs);
    const { isAllowed, limitedBy, plan } = admission;
    const isShadowed = !isAllowed && (isShadow || shadowResources.has(plan.resource.name));
    metrics.count(service, admission, isShadowed);
    if (limitedBy !== undefined && !isShadowed) this.rejections.count(caller.key, limitedBy);
    const isAuthenticated = caller.identityClass !== 'ip';
    const charge = isAllowed
      ? new RequestCharge({ admission, isAuthenticated, store: this.store, clock })
      : undefined;
    return { admission, isRefused: !isAllowed && !isShadowed, charge };
  }
}

function reportOf(
  { limits }: Caller,
  { index, windowSec }: Resource,
  usage: BucketUsage | undefined,
  nowSec: number,
): BucketReport {
  const limit = limits.limit[index] ?? UNLIMITED;
  const used = usage?.used ?? 0;
  return {
    limit,
    used,
    remaining: Math.max(0, limit - used),
    reset: usage?.resetSec ?? nowSec + (limits.windowSec[index] ?? windowSec),
  };
}

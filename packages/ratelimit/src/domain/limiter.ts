import type { Clock } from '@plinth/kernel';
import { type Caller, Callers } from '../model/caller.js';
import type { BucketUsage } from '../model/decision.js';
import type { Admission, LimitStore } from '../model/limit-store.js';
import type { Plan } from '../model/plan.js';
import type { PrimaryLimitRules } from '../model/primary-limits.js';
import { type Resource, type ResourceTable, UNLIMITED } from '../model/resource.js';
import type { LimiterNumbers } from './limiter-numbers.js';

export interface LimiterNeeds {
  readonly store: LimitStore;
  readonly resources: ResourceTable;
  readonly rules: PrimaryLimitRules;
  readonly clock: Clock;
  readonly numbers: LimiterNumbers;
  /** Everything is counted and nothing refused. */
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

/** Decides about requests of whatever origin, and counts what it decides. */
export class Limiter {
  readonly callers: Callers;
  readonly resources: ResourceTable;
  readonly store: LimitStore;
  readonly #needs: LimiterNeeds;

  constructor(needs: LimiterNeeds) {
    this.#needs = needs;
    this.store = needs.store;
    this.resources = needs.resources;
    this.callers = new Callers(needs.rules);
  }

  /** Whether the request may go on. Charges it unless it was refused. */
  admit(caller: Caller, plan: Plan, service: string): Admission | Promise<Admission> {
    const { numbers, clock } = this.#needs;
    const startMs = numbers.isTimed() ? clock.monotonicMs() : undefined;
    const found = this.store.admit(caller, plan);
    if (found instanceof Promise) {
      return found.then((admission) => {
        if (startMs !== undefined) numbers.time(clock.monotonicMs() - startMs);
        this.#count(admission, service);
        return admission;
      });
    }
    if (startMs !== undefined) numbers.time(clock.monotonicMs() - startMs);
    this.#count(found, service);
    return found;
  }

  /** A refusal that is only noted. */
  isShadowed({ plan }: Admission): boolean {
    return this.#needs.isShadow || this.#needs.shadowResources.has(plan.resource.name);
  }

  /** Every bucket of a caller. */
  async report(caller: Caller, resources: readonly Resource[]): Promise<readonly BucketReport[]> {
    const usage = await this.store.usage(caller.key, resources);
    const nowSec = Math.floor(this.#needs.clock.nowMs() / 1000);
    return resources.map((resource, position) =>
      reportOf(caller, resource, usage[position], nowSec),
    );
  }

  #count(admission: Admission, service: string): void {
    const { numbers } = this.#needs;
    const isShadowed = !admission.isAllowed && this.isShadowed(admission);
    numbers.count(service, admission, isShadowed);
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

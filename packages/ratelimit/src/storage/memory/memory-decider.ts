import type { Caller } from '../../model/caller.js';
import type { LimitKind } from '../../model/decision.js';
import { CONCURRENCY_RETRY_SEC, type LimitRules } from '../../model/limit-store.js';
import { UNLIMITED } from '../../model/resource.js';
import { SLOT_COUNT, type SlidingSum } from '../../model/sliding-sum.js';
import { type SlotTime, type SteadyTime, wholeSec } from '../steady-time.js';
import type { ExtraState } from './identity-state.js';
import { type MemoryAdmission, refuse } from './memory-admission.js';

/** Checks requests against their callers' counters. */
export class MemoryDecider {
  readonly #rules: LimitRules;
  readonly #time: SteadyTime;

  constructor(rules: LimitRules, time: SteadyTime) {
    this.#rules = rules;
    this.#time = time;
  }

  /** Sets the usage and the first exceeded limit of `admission`. Changes no counter. */
  decide(admission: MemoryAdmission, caller: Caller, nowMs: number): void {
    const { plan, state } = admission;
    const { index } = plan.resource;
    const limit = caller.limits.limit[index] ?? UNLIMITED;
    const windowSec = caller.limits.windowSec[index] ?? plan.resource.windowSec;
    const nowSec = wholeSec(nowMs);
    admission.limit = limit;
    admission.resetSec = nowSec + windowSec;
    const window = state.windowOf(index);
    if (window !== undefined && nowMs < window.resetSec * 1000) {
      admission.used = window.used;
      // After the clock steps back, a window must not last longer than its length.
      if (window.resetSec > admission.resetSec) window.resetSec = admission.resetSec;
      admission.resetSec = window.resetSec;
    }
    const steadyMs = nowMs + this.#time.offsetMs;
    const bannedUntilMs = state.extra?.bannedUntilMs ?? 0;
    if (bannedUntilMs > steadyMs) {
      refuse(admission, 'ban', Math.ceil((bannedUntilMs - steadyMs) / 1000));
    } else if (limit !== UNLIMITED && plan.cost > 0 && admission.used + plan.cost > limit) {
      refuse(admission, 'primary', Math.max(1, Math.ceil(admission.resetSec - nowMs / 1000)));
    } else {
      this.#decideSecondary(admission, steadyMs);
    }
  }

  #decideSecondary(admission: MemoryAdmission, steadyMs: number): void {
    const { plan, state } = admission;
    const rules = this.#rules;
    if (plan.takesSlot && state.inFlight >= rules.concurrency) {
      refuse(admission, 'concurrency', CONCURRENCY_RETRY_SEC);
      return;
    }
    if (plan.points > 0) {
      const slot = this.#time.minuteSlot(steadyMs);
      const allowed = (plan.isGraph ? rules.pointsGraph : rules.pointsRest) - plan.points;
      if (state.pointsAt(plan.endpoint, slot) > allowed) {
        const slots = state.slotsUntilPoints(plan.endpoint, slot, allowed);
        const kind = plan.isGraph ? 'points_graph' : 'points_rest';
        const minute = this.#time.minuteAt(steadyMs);
        refuse(admission, kind, this.#retrySec(slots, minute));
        return;
      }
    }
    if (
      state.extra !== undefined ||
      plan.contentCount > 0 ||
      plan.heavy > 0 ||
      plan.isTokenCreation
    ) {
      this.#decideExtra(admission, state.extra, steadyMs);
    }
  }

  #decideExtra(admission: MemoryAdmission, extra: ExtraState | undefined, steadyMs: number): void {
    const { plan } = admission;
    const rules = this.#rules;
    const minute = this.#time.minuteAt(steadyMs);
    const check = (kind: LimitKind, sum: SlidingSum | undefined, max: number, at = minute) => {
      if (admission.limitedBy !== undefined || (sum?.at(at.slot) ?? 0) <= max) return;
      // A request that never fits gets the full window as its retry time.
      const slots = sum?.slotsUntil(at.slot, max) ?? SLOT_COUNT;
      refuse(admission, kind, this.#retrySec(slots, at));
    };
    if (plan.chargesCpu && extra !== undefined) {
      check('cpu', extra?.cpu, rules.cpuMs - 1);
      if (plan.isGraph) check('cpu_graph', extra?.cpuGraph, rules.cpuGraphMs - 1);
    }
    const hour = this.#time.hourAt(steadyMs);
    if (plan.isTokenCreation) check('token_creation', extra?.tokenHour, rules.tokenHour - 1, hour);
    const { contentCount } = plan;
    if (contentCount > 0) {
      check('content_minute', extra?.contentMinute, rules.contentMinute - contentCount);
      if (plan.contentPerMinute !== undefined) {
        const own = extra?.contentByEndpoint?.get(plan.endpoint);
        check('content_minute', own, plan.contentPerMinute - contentCount);
      }
      check('content_hour', extra?.contentHour, rules.contentHour - contentCount, hour);
    }
    if (plan.heavy > 0) check('heavy', extra?.heavy, rules.heavy - plan.heavy);
  }

  #retrySec(slots: number, { slot, slotMs, sinceMs }: SlotTime): number {
    const seconds = Math.ceil(((slot + slots) * slotMs - sinceMs) / 1000);
    const windowSec = Math.ceil((slotMs * SLOT_COUNT) / 1000);
    return Math.max(this.#rules.minRetryAfterSec, 1, Math.min(windowSec, seconds));
  }
}

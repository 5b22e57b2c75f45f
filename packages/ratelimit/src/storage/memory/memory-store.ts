import type { Clock } from '@plinth/kernel';
import type { Caller } from '../../model/caller.js';
import type { Ban, BucketUsage, Decision, SecondaryUsage } from '../../model/decision.js';
import {
  BAN_MEMORY_MS,
  DEFAULT_RULES,
  type LimitRules,
  type LimitStore,
  SLOT_LEASE_MS,
  type StoreStats,
} from '../../model/limit-store.js';
import type { Plan } from '../../model/plan.js';
import { type Resource, UNLIMITED } from '../../model/resource.js';
import { SlidingSum } from '../../model/sliding-sum.js';
import { SteadyTime, wholeSec } from '../steady-time.js';
import { CachedIdentities } from './cached-identities.js';
import { IdentityState } from './identity-state.js';
import { IdentityTable, windowCount } from './identity-table.js';
import { MemoryAdmission, RunningRequests } from './memory-admission.js';
import { MemoryBans } from './memory-bans.js';
import { MemoryDecider } from './memory-decider.js';

export interface MemoryStoreOptions {
  readonly clock: Clock;
  readonly rules?: LimitRules;
  /**
   * Maximum number of identities. Above it, the least recently used identity of a sample is evicted, addresses first.
   */
  readonly maxIdentityCount?: number;
  /** Called when a ban starts. */
  readonly onBan?: (ban: Ban) => void;
}

const DEFAULT_MAX_IDENTITY_COUNT = 1_000_000;
/** Interval for removing idle identities and charging running requests. */
const TICK_MS = 1_000;
/** An identity without open windows is removed after this time without a request. */
const IDLE_SEC = 120;
/** A request that has run this long is charged for its time so far. */
const CHARGE_RUNNING_MS = 1_000;

/**
 * Counters of this process. Decisions are synchronous, so they are atomic. Timestamps that clients
 * see are from the wall clock. Sums over the last minute use a clock that never steps back.
 */
export class MemoryStore implements LimitStore {
  readonly #clock: Clock;
  readonly #states: IdentityTable;
  readonly #running = new RunningRequests();
  readonly #time: SteadyTime;
  readonly #decider: MemoryDecider;
  readonly #bans: MemoryBans;
  /** For persistence across restarts. */
  readonly cachedIdentities: CachedIdentities;
  #inFlightCount = 0;
  #ticker: Disposable | undefined;

  constructor(options: MemoryStoreOptions) {
    const { clock, rules = DEFAULT_RULES, onBan = () => {} } = options;
    const { maxIdentityCount = DEFAULT_MAX_IDENTITY_COUNT } = options;
    this.#clock = clock;
    this.#time = new SteadyTime(clock, rules);
    this.#decider = new MemoryDecider(rules, this.#time);
    this.#states = new IdentityTable({
      clock,
      maxCount: maxIdentityCount,
      isIdle: (state) => this.#isIdle(state, this.#time.lastMs),
    });
    this.cachedIdentities = new CachedIdentities(this.#states, this.#time, maxIdentityCount);
    this.#bans = new MemoryBans({
      states: this.#states,
      time: this.#time,
      rules,
      onBegin: (state, ban) => {
        this.cachedIdentities.noteChange(state);
        onBan(ban);
      },
    });
  }

  get stats(): StoreStats {
    return {
      bucketCount: this.#states.bucketCount,
      inFlightCount: this.#inFlightCount,
      banCount: this.#states.bannedKeys.size,
      errorCount: 0,
    };
  }

  async start(): Promise<void> {
    this.#ticker ??= this.#clock.every(TICK_MS, () => this.#tick());
  }

  async close(): Promise<void> {
    this.#ticker?.[Symbol.dispose]();
    this.#ticker = undefined;
  }

  admit(caller: Caller, plan: Plan): MemoryAdmission {
    const admission = this.#decide(caller, plan);
    const { limitedBy, state } = admission;
    if (limitedBy !== undefined && limitedBy !== 'ban') {
      this.#bans.countRejection(state, this.#time.steadyMs());
    }
    return admission;
  }

  peek(caller: Caller, plan: Plan): Decision {
    const nowMs = this.#time.nowMs();
    const decision = new MemoryAdmission();
    decision.plan = plan;
    decision.state = this.#states.get(caller.key) ?? new IdentityState(caller.key);
    this.#decider.decide(decision, caller, nowMs);
    decision.isAllowed = decision.limitedBy === undefined;
    return decision;
  }

  refund(admission: MemoryAdmission): void {
    const { plan, state } = admission;
    const window = state.windowOf(plan.resource.index);
    // A window opened later was not charged for this request.
    if (window === undefined || window.resetSec !== admission.resetSec) return;
    window.used = Math.max(0, window.used - plan.cost);
    admission.used = Math.max(0, admission.used - plan.cost);
    this.cachedIdentities.noteChange(state);
  }

  releaseSlot(admission: MemoryAdmission): void {
    if (!admission.hasSlot) return;
    admission.hasSlot = false;
    admission.state.inFlight -= 1;
    this.#inFlightCount -= 1;
  }

  watchRunning(admission: MemoryAdmission, charge: () => void): void {
    admission.onTick = charge;
  }

  chargeCpu({ state, plan }: MemoryAdmission, cpuMs: number): void {
    const amount = Math.round(cpuMs);
    if (amount <= 0) return;
    const slot = this.#time.minuteSlot(this.#time.steadyMs());
    const extra = state.withExtra();
    extra.cpu ??= new SlidingSum(slot);
    extra.cpu.add(slot, amount);
    if (!plan.isGraph) return;
    extra.cpuGraph ??= new SlidingSum(slot);
    extra.cpuGraph.add(slot, amount);
  }

  finish(admission: MemoryAdmission): void {
    if (this.#running.remove(admission)) this.releaseSlot(admission);
  }

  usage(key: string, resources: readonly Resource[]): readonly (BucketUsage | undefined)[] {
    const state = this.#states.get(key);
    const nowMs = this.#time.nowMs();
    return resources.map(({ index }) => {
      const window = state?.windowOf(index);
      if (window === undefined || nowMs >= window.resetSec * 1000) return undefined;
      return { used: window.used, resetSec: window.resetSec };
    });
  }

  secondaryUsage(key: string): SecondaryUsage {
    const state = this.#states.get(key);
    const steadyMs = this.#time.steadyMs();
    const minute = this.#time.minuteSlot(steadyMs);
    const extra = state?.extra;
    const points = state?.pointList(minute) ?? [];
    return {
      concurrency: state?.inFlight ?? 0,
      cpu_ms: extra?.cpu?.at(minute) ?? 0,
      cpu_graph_ms: extra?.cpuGraph?.at(minute) ?? 0,
      content_minute: extra?.contentMinute?.at(minute) ?? 0,
      content_hour: extra?.contentHour?.at(this.#time.hourSlot(steadyMs)) ?? 0,
      heavy: extra?.heavy?.at(minute) ?? 0,
      points: points.sort((a, b) => b.points - a.points),
    };
  }

  reset(key: string): void {
    const old = this.#states.get(key);
    if (old === undefined) return;
    const { extra } = old;
    this.#states.bucketCount -= windowCount(old);
    // The object is reused, because running requests will release their slots on it.
    old.used = 0;
    old.resetSec = 0;
    old.resourceIndex = -1;
    old.endpoint = undefined;
    old.slotPoints = 0;
    old.extra = undefined;
    if (extra !== undefined && extra.bannedUntilMs > 0) {
      const withExtra = old.withExtra();
      withExtra.bannedUntilMs = extra.bannedUntilMs;
      withExtra.banLevel = extra.banLevel;
      withExtra.lastBanMs = extra.lastBanMs;
    }
    this.cachedIdentities.noteChange(old);
  }

  ban(key: string, durationSec: number): void {
    const state = this.#states.get(key) ?? this.#states.open(key);
    const steadyMs = this.#time.steadyMs();
    state.seenSec = wholeSec(steadyMs);
    this.#bans.begin(state, durationSec * 1000, steadyMs);
  }

  unban(key: string): boolean {
    const state = this.#states.get(key);
    if (state?.extra === undefined) return false;
    const wasBanned = this.#bans.end(state);
    this.cachedIdentities.noteChange(state);
    return wasBanned;
  }

  banOf(key: string): Ban | undefined {
    return this.#bans.find(key);
  }

  countWrongLogin(): undefined {}

  bans(limit: number): readonly Ban[] {
    return this.#bans.all(limit);
  }

  top(
    { index }: Resource,
    limit: number,
  ): readonly { readonly identity: string; readonly used: number }[] {
    const nowSec = this.#time.nowMs() / 1000;
    const best: { identity: string; used: number }[] = [];
    let least = 0;
    for (const state of this.#states.values()) {
      const window = state.windowOf(index);
      if (window === undefined || window.used <= least || window.resetSec <= nowSec) continue;
      best.push({ identity: state.key, used: window.used });
      if (best.length < 2 * limit) continue;
      best.sort((a, b) => b.used - a.used).length = limit;
      least = best.at(-1)?.used ?? 0;
    }
    return best.sort((a, b) => b.used - a.used).slice(0, limit);
  }

  /** Decides a request, and charges it if it is admitted. */
  #decide(caller: Caller, plan: Plan): MemoryAdmission {
    const nowMs = this.#time.nowMs();
    const steadyMs = nowMs + this.#time.offsetMs;
    const state = this.#states.get(caller.key) ?? this.#states.open(caller.key);
    state.seenSec = wholeSec(steadyMs);
    const admission = new MemoryAdmission();
    admission.plan = plan;
    admission.state = state;
    this.#decider.decide(admission, caller, nowMs);
    if (admission.limitedBy === undefined) this.#commit(admission, steadyMs);
    return admission;
  }

  #commit(admission: MemoryAdmission, steadyMs: number): void {
    const { plan, state } = admission;
    if (plan.cost > 0 && admission.limit !== UNLIMITED) {
      admission.used += plan.cost;
      const window = state.windowOf(plan.resource.index);
      if (window !== undefined) {
        window.used = admission.used;
        window.resetSec = admission.resetSec;
      } else if (state.openWindow(plan.resource.index, admission.used, admission.resetSec)) {
        this.#states.bucketCount += 1;
      }
      this.cachedIdentities.noteChange(state);
    }
    const slot = this.#time.minuteSlot(steadyMs);
    if (plan.points > 0) state.addPoints(plan.endpoint, slot, plan.points);
    if (plan.contentCount > 0) this.#commitContent(plan, state, steadyMs);
    if (plan.isTokenCreation) {
      const hourSlot = this.#time.hourSlot(steadyMs);
      const extra = state.withExtra();
      extra.tokenHour ??= new SlidingSum(hourSlot);
      extra.tokenHour.add(hourSlot, 1);
    }
    if (plan.heavy > 0) {
      const extra = state.withExtra();
      extra.heavy ??= new SlidingSum(slot);
      extra.heavy.add(slot, plan.heavy);
    }
    if (plan.takesSlot) {
      admission.hasSlot = true;
      state.inFlight += 1;
      this.#inFlightCount += 1;
    }
    admission.isAllowed = true;
    admission.startedMs = steadyMs;
    this.#running.add(admission);
  }

  #commitContent(plan: Plan, state: IdentityState, steadyMs: number): void {
    const extra = state.withExtra();
    const slot = this.#time.minuteSlot(steadyMs);
    const hourSlot = this.#time.hourSlot(steadyMs);
    extra.contentMinute ??= new SlidingSum(slot);
    extra.contentMinute.add(slot, 1);
    extra.contentHour ??= new SlidingSum(hourSlot);
    extra.contentHour.add(hourSlot, 1);
    this.cachedIdentities.noteChange(state);
    if (plan.contentPerMinute === undefined) return;
    // Only routes declare such a limit, so the map stays small.
    extra.contentByEndpoint ??= new Map();
    const own = extra.contentByEndpoint.get(plan.endpoint) ?? new SlidingSum(slot);
    extra.contentByEndpoint.set(plan.endpoint, own);
    own.add(slot, 1);
  }

  #tick(): void {
    const steadyMs = this.#time.steadyMs();
    this.#running.forEachSince(steadyMs - CHARGE_RUNNING_MS, (running) => {
      if (steadyMs - running.startedMs >= SLOT_LEASE_MS) this.releaseSlot(running);
      running.onTick?.();
    });
    this.#states.sweep();
  }

  #isIdle(state: IdentityState, nowMs: number): boolean {
    const steadyMs = nowMs + this.#time.offsetMs;
    if (steadyMs / 1000 - state.seenSec < IDLE_SEC || state.isDirty) return false;
    if (state.resetSec * 1000 > nowMs) return false;
    const { extra } = state;
    if (extra === undefined) return true;
    for (const { resetSec } of extra.windows?.values() ?? []) {
      if (resetSec * 1000 > nowMs) return false;
    }
    if (extra.lastBanMs > 0 && steadyMs - extra.lastBanMs < BAN_MEMORY_MS) return false;
    const hourSlot = this.#time.hourSlot(steadyMs);
    return (extra.contentHour?.at(hourSlot) ?? 0) + (extra.tokenHour?.at(hourSlot) ?? 0) === 0;
  }
}

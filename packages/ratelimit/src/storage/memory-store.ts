import type { Clock } from '@plinth/kernel';
import type { Caller } from '../model/caller.js';
import type { Ban, BucketUsage, Decision, SecondaryUsage } from '../model/decision.js';
import {
  BAN_MEMORY_MS,
  DEFAULT_RULES,
  type LimitRules,
  type LimitStore,
  REJECTION_WINDOW_MS,
  SLOT_LEASE_MS,
  type StoreStats,
} from '../model/limit-store.js';
import type { Plan } from '../model/plan.js';
import { type Resource, UNLIMITED } from '../model/resource.js';
import { SlidingSum } from '../model/sliding-sum.js';
import { type ExtraState, IdentityState } from './identity-state.js';
import { IdentityTable, windowCount } from './identity-table.js';
import { MemoryAdmission, RunningRequests } from './memory-admission.js';
import { MemoryJudge } from './memory-judge.js';
import { SteadyTime, wholeSec } from './steady-time.js';

export interface MemoryStoreOptions {
  readonly clock: Clock;
  readonly rules?: LimitRules;
  /** Identities that are kept; then the least recently seen of a sample gives way, addresses first. */
  readonly maxIdentityCount?: number;
  /** Told of every ban that begins. */
  readonly onBan?: (ban: Ban) => void;
}

const DEFAULT_MAX_IDENTITY_COUNT = 1_000_000;
/** How often idle identities are looked for and running requests are charged. */
const TICK_MS = 1_000;
/** An identity without open windows is forgotten when it was not seen for so long. */
const IDLE_SEC = 120;
/** A request is charged for its running time when it has run for so long. */
const CHARGE_RUNNING_MS = 1_000;

/**
 * Counters in this process. One decision is one synchronous call: no other request can come in between. Times that
 * clients see are wall-clock; sums over the last minute use a clock that does not follow steps backwards.
 */
export class MemoryStore implements LimitStore {
  readonly #clock: Clock;
  readonly #rules: LimitRules;
  readonly #onBan: (ban: Ban) => void;
  readonly #states: IdentityTable;
  readonly #running = new RunningRequests();
  readonly #time: SteadyTime;
  readonly #judge: MemoryJudge;
  #inFlightCount = 0;
  #dirty: IdentityState[] | undefined;
  #ticker: Disposable | undefined;

  constructor(options: MemoryStoreOptions) {
    this.#clock = options.clock;
    this.#rules = options.rules ?? DEFAULT_RULES;
    this.#time = new SteadyTime(this.#clock, this.#rules);
    this.#judge = new MemoryJudge(this.#rules, this.#time);
    this.#states = new IdentityTable({
      clock: this.#clock,
      maxCount: options.maxIdentityCount ?? DEFAULT_MAX_IDENTITY_COUNT,
      isIdle: (state) => this.#isIdle(state, this.#time.lastMs),
    });
    this.#onBan = options.onBan ?? (() => {});
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
    const nowMs = this.#time.nowMs();
    const steadyMs = nowMs + this.#time.offsetMs;
    const state = this.#states.get(caller.key) ?? this.#states.open(caller.key);
    state.seenSec = wholeSec(steadyMs);
    const admission = new MemoryAdmission();
    admission.plan = plan;
    admission.state = state;
    this.#judge.judge(admission, caller, nowMs);
    if (admission.limitedBy === undefined) this.#commit(admission, steadyMs);
    else if (admission.limitedBy !== 'ban') this.#countRejection(state, steadyMs);
    return admission;
  }

  peek(caller: Caller, plan: Plan): Decision {
    const nowMs = this.#time.nowMs();
    const decision = new MemoryAdmission();
    decision.plan = plan;
    decision.state = this.#states.get(caller.key) ?? new IdentityState(caller.key);
    this.#judge.judge(decision, caller, nowMs);
    decision.isAllowed = decision.limitedBy === undefined;
    return decision;
  }

  refund(admission: MemoryAdmission): void {
    const { plan, state } = admission;
    const window = state.windowOf(plan.resource.index);
    // A window that has begun since then owes nothing to this request.
    if (window === undefined || window.resetSec !== admission.resetSec) return;
    window.used = Math.max(0, window.used - plan.cost);
    admission.used = Math.max(0, admission.used - plan.cost);
    this.#markDirty(state);
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
    // The same object goes on: running requests will give their slots back to it.
    old.used = 0;
    old.resetSec = 0;
    old.resourceIndex = -1;
    old.endpoint = undefined;
    old.slotPoints = 0;
    old.extra = undefined;
    if (extra !== undefined && extra.bannedUntilMs > 0) {
      const kept = old.withExtra();
      kept.bannedUntilMs = extra.bannedUntilMs;
      kept.banLevel = extra.banLevel;
      kept.lastBanMs = extra.lastBanMs;
    }
    this.#markDirty(old);
  }

  ban(key: string, durationSec: number): void {
    const state = this.#states.get(key) ?? this.#states.open(key);
    state.seenSec = wholeSec(this.#time.steadyMs());
    this.#startBan(state, durationSec * 1000, this.#time.steadyMs());
  }

  unban(key: string): boolean {
    const state = this.#states.get(key);
    const extra = state?.extra;
    if (state === undefined || extra === undefined) return false;
    const wasBanned = extra.bannedUntilMs > this.#time.steadyMs();
    extra.bannedUntilMs = 0;
    extra.banLevel = 0;
    extra.rejectionCount = 0;
    this.#states.bannedKeys.delete(key);
    this.#markDirty(state);
    return wasBanned;
  }

  banOf(key: string): Ban | undefined {
    const extra = this.#states.get(key)?.extra;
    if (extra === undefined || extra.bannedUntilMs <= this.#time.steadyMs()) return undefined;
    return this.#banOf(key, extra);
  }

  bans(limit: number): readonly Ban[] {
    const steadyMs = this.#time.steadyMs();
    const found: Ban[] = [];
    for (const key of this.#states.bannedKeys) {
      const extra = this.#states.get(key)?.extra;
      if (extra === undefined || extra.bannedUntilMs <= steadyMs)
        this.#states.bannedKeys.delete(key);
      else found.push(this.#banOf(key, extra));
    }
    return found.sort((a, b) => b.untilSec - a.untilSec).slice(0, limit);
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

  /** From here on `takeDirty` names what changed. */
  trackChanges(): void {
    this.#dirty ??= [];
  }

  /** Identities that changed since the last call, at most `limit`, as rows that can be kept. */
  takeDirty(limit: number): readonly KeptIdentity[] {
    return (this.#dirty ?? []).splice(0, limit).map((state) => {
      state.isDirty = false;
      return this.#keptOf(state);
    });
  }

  /** Puts back what was kept; what has ended meanwhile is left out. Before the first request. */
  restore(kept: KeptIdentity): void {
    const nowMs = this.#time.nowMs();
    const windows = kept.windows.filter(({ resetSec }) => resetSec * 1000 > nowMs);
    const hourSlot = this.#time.hourSlot(nowMs);
    const content = kept.contentHour.filter(([slot]) => slot <= hourSlot && slot > hourSlot - 61);
    const bannedUntilMs = kept.ban?.untilMs ?? 0;
    const isBanRemembered = nowMs - bannedUntilMs < BAN_MEMORY_MS;
    if (windows.length === 0 && content.length === 0 && !isBanRemembered) return;
    const state = this.#states.get(kept.key) ?? this.#states.open(kept.key);
    state.seenSec = wholeSec(nowMs);
    for (const { resourceIndex, used, resetSec } of windows) {
      if (state.openWindow(resourceIndex, used, resetSec)) this.#states.bucketCount += 1;
    }
    for (const [slot, amount] of content) {
      const extra = state.withExtra();
      extra.contentHour ??= new SlidingSum(slot);
      extra.contentHour.add(slot, amount);
    }
    if (kept.ban === undefined || !isBanRemembered) return;
    const extra = state.withExtra();
    extra.bannedUntilMs = bannedUntilMs;
    extra.lastBanMs = bannedUntilMs;
    extra.banLevel = kept.ban.level;
    if (bannedUntilMs > nowMs) this.#states.bannedKeys.add(kept.key);
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
      this.#markDirty(state);
    }
    const slot = this.#time.minuteSlot(steadyMs);
    if (plan.points > 0) state.addPoints(plan.endpoint, slot, plan.points);
    if (plan.isContent) this.#commitContent(plan, state, steadyMs);
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
    this.#markDirty(state);
    if (plan.contentPerMinute === undefined) return;
    // Only routes declare such a limit, so there are few of them.
    extra.contentByEndpoint ??= new Map();
    const own = extra.contentByEndpoint.get(plan.endpoint) ?? new SlidingSum(slot);
    extra.contentByEndpoint.set(plan.endpoint, own);
    own.add(slot, 1);
  }

  #countRejection(state: IdentityState, steadyMs: number): void {
    if (!this.#rules.isBanEnabled) return;
    const extra = state.withExtra();
    if (steadyMs - extra.rejectionsSinceMs >= REJECTION_WINDOW_MS) {
      extra.rejectionsSinceMs = steadyMs;
      extra.rejectionCount = 0;
    }
    extra.rejectionCount += 1;
    if (extra.rejectionCount < this.#rules.banThreshold) return;
    extra.rejectionCount = 0;
    extra.rejectionsSinceMs = steadyMs;
    const isRepeated = extra.banLevel > 0 && steadyMs - extra.lastBanMs < BAN_MEMORY_MS;
    const level = isRepeated ? extra.banLevel + 1 : 1;
    extra.banLevel = level - 1;
    this.#startBan(state, Math.min(BAN_MEMORY_MS, this.#rules.banMs * 2 ** (level - 1)), steadyMs);
  }

  #startBan(state: IdentityState, durationMs: number, steadyMs: number): void {
    const extra = state.withExtra();
    extra.banLevel += 1;
    extra.bannedUntilMs = steadyMs + durationMs;
    extra.lastBanMs = extra.bannedUntilMs;
    this.#states.bannedKeys.add(state.key);
    this.#markDirty(state);
    this.#onBan(this.#banOf(state.key, extra));
  }

  #banOf(identity: string, extra: ExtraState): Ban {
    const untilSec = Math.ceil((extra.bannedUntilMs - this.#time.offsetMs) / 1000);
    return { identity, untilSec, level: extra.banLevel };
  }

  #keptOf(state: IdentityState): KeptIdentity {
    const windows: KeptIdentity['windows'][number][] = [];
    if (state.resourceIndex !== -1) {
      const { resourceIndex, used, resetSec } = state;
      windows.push({ resourceIndex, used, resetSec });
    }
    for (const [resourceIndex, { used, resetSec }] of state.extra?.windows ?? []) {
      windows.push({ resourceIndex, used, resetSec });
    }
    const slotOffset = Math.round(this.#time.offsetMs / this.#time.hourSlotMs);
    const entries = state.extra?.contentHour?.entries() ?? [];
    const { bannedUntilMs = 0, banLevel = 0 } = state.extra ?? {};
    return {
      key: state.key,
      windows,
      contentHour: entries.map(([slot, amount]) => [slot - slotOffset, amount]),
      ban:
        bannedUntilMs > 0
          ? { untilMs: bannedUntilMs - this.#time.offsetMs, level: banLevel }
          : undefined,
    };
  }

  #markDirty(state: IdentityState): void {
    if (state.isDirty || this.#dirty === undefined) return;
    state.isDirty = true;
    this.#dirty.push(state);
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

/** What outlives the process. Slots of content are minutes of the wall clock. */
export interface KeptIdentity {
  readonly key: string;
  readonly windows: readonly {
    readonly resourceIndex: number;
    readonly used: number;
    readonly resetSec: number;
  }[];
  readonly contentHour: readonly (readonly [slot: number, amount: number])[];
  readonly ban: { readonly untilMs: number; readonly level: number } | undefined;
}

import type { Clock, Random } from '@plinth/kernel';
import type { Caller } from '../../model/caller.js';
import type { Ban, BucketUsage, Decision, SecondaryUsage } from '../../model/decision.js';
import {
  DEFAULT_RULES,
  type LimitRules,
  type LimitStore,
  SLOT_LEASE_MS,
  SLOT_OF_NODE_MS,
  type StoreStats,
  type WrongLogin,
} from '../../model/limit-store.js';
import type { Plan } from '../../model/plan.js';
import { type Resource, UNLIMITED } from '../../model/resource.js';
import { LimitKeys } from '../limit-keys.js';
import { ExhaustedBuckets } from '../memory/exhausted-buckets.js';
import { NodeCount } from '../node-count.js';
import { type RedisAdmission, type ScriptResponse, toAdmission } from './redis-admission.js';
import { banOf, RedisBans } from './redis-bans.js';
import { RedisCalls } from './redis-calls.js';
import { hasSecondaryCharges, RedisDecisions } from './redis-decisions.js';
import { RedisSettlement } from './redis-settlement.js';
import { type IdentityUse, RedisUsage } from './redis-usage.js';
import { type ReservedBucket, ReservedUnits } from './reserved-units.js';

export interface RedisStoreOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Prefix of every key. */
  readonly prefix?: string;
  /** Maximum time without a response while calls are pending. */
  readonly timeoutMs?: number;
  readonly rules?: LimitRules;
  /** Units to reserve for a busy bucket; 0 disables reservations. */
  readonly reserve?: number;
  readonly onBan?: (ban: Ban) => void;
  readonly onError?: (error: Error) => void;
}

/** Interval at which running requests are charged. */
const TICK_MS = 1_000;
const DEFAULT_TIMEOUT_MS = 50;
/** Heartbeat interval of a slot; two heartbeats may be lost. */
const SLOT_HEARTBEAT_MS = SLOT_OF_NODE_MS / 3;

/**
 * Counters in Redis or Valkey, shared by all nodes. Each decision is one atomic script call.
 * The keys of an identity share its hash tag. Source: rate-limits, section 14.2.
 */
export class RedisStore implements LimitStore {
  readonly #clock: Clock;
  readonly #rules: LimitRules;
  readonly #onBan: (ban: Ban) => void;
  readonly #nodeId: string;
  readonly #keys: LimitKeys;
  readonly #calls: RedisCalls;
  readonly #settlement: RedisSettlement;
  readonly #decisions: RedisDecisions;
  readonly #usage: RedisUsage;
  readonly #bans: RedisBans;
  readonly #nodes: NodeCount;
  readonly #exhausted: ExhaustedBuckets;
  readonly #reserved: ReservedUnits | undefined;
  readonly #running = new Set<RedisAdmission>();
  #ticker: Disposable | undefined;
  #slotCount = 0;

  constructor(options: RedisStoreOptions) {
    const { url, clock, random, prefix = 'rl:', rules = DEFAULT_RULES, reserve = 0 } = options;
    const { timeoutMs = DEFAULT_TIMEOUT_MS, onBan = () => {}, onError = () => {} } = options;
    this.#clock = clock;
    this.#rules = rules;
    this.#onBan = onBan;
    this.#nodeId = random.uuidV4();
    const keys = new LimitKeys(prefix);
    const calls = new RedisCalls({ url, clock, rules, timeoutMs, onError });
    this.#keys = keys;
    this.#calls = calls;
    this.#settlement = new RedisSettlement(calls, keys, rules);
    this.#decisions = new RedisDecisions(calls, keys, this.#settlement);
    this.#usage = new RedisUsage(calls, keys, rules);
    this.#bans = new RedisBans(calls, keys);
    this.#nodes = new NodeCount(calls, keys, this.#nodeId);
    this.#exhausted = new ExhaustedBuckets(clock);
    this.#reserved = reserve > 0 ? new ReservedUnits(clock, reserve) : undefined;
  }

  /** Last known number of nodes that share this store. */
  get nodeCount(): number {
    return this.#nodes.latest;
  }

  get stats(): StoreStats {
    return {
      bucketCount: 0,
      inFlightCount: this.#running.size,
      banCount: 0,
      errorCount: this.#calls.errorCount,
    };
  }

  async start(): Promise<void> {
    if (this.#calls.isOpen) return;
    await this.#calls.start();
    this.#ticker = this.#clock.every(TICK_MS, () => this.#tick());
  }

  async close(): Promise<void> {
    this.#ticker?.[Symbol.dispose]();
    this.#ticker = undefined;
    await this.#settlement.refundUnits(this.#reserved?.dropAll() ?? []);
    this.#calls.close();
  }

  /** Returns the name of the server that counts for an identity; others may be available when it is not. */
  serverNameOf(identity: string): string {
    return this.#calls.serverNameOf(this.#keys.own(identity));
  }

  /** Decides synchronously if reserved units suffice, otherwise in one round trip. */
  admit(caller: Caller, plan: Plan): RedisAdmission | Promise<RedisAdmission> {
    const bucket = this.#bucketOf(caller, plan);
    if (bucket !== undefined) {
      const admission = this.#admitFromUnits(caller, plan, bucket);
      if (admission !== undefined) return admission;
    }
    const known = this.#exhausted.find(caller, plan);
    if ('used' in known) return this.#refuseLocally(caller, plan, known);
    const { unreportedCount } = known;
    if (bucket === undefined)
      return this.#admitByRedis(caller, plan, { unreportedCount, reserveCount: 0 });
    return this.#admitAndFill(caller, plan, bucket, unreportedCount);
  }

  async peek(caller: Caller, plan: Plan): Promise<Decision> {
    const options = { slotId: '', unreportedCount: 0, reserveCount: 0, isDryRun: true };
    const decision = toAdmission(
      caller,
      plan,
      await this.#decisions.run(caller, plan, options),
      this.#rules,
    );
    decision.used -= this.#unitsOf(decision);
    return decision;
  }

  refund(admission: RedisAdmission): void {
    const { caller, plan, resetSec } = admission;
    admission.used = Math.max(0, admission.used - plan.cost);
    if (this.#reserved?.release(caller.key, plan.resource, resetSec, plan.cost)) return;
    this.#settlement.settle(admission, { refund: plan.cost });
  }

  releaseSlot(admission: RedisAdmission): void {
    const { slotId } = admission;
    if (slotId === '') return;
    admission.slotId = '';
    this.#settlement.freeSlot(admission, slotId);
  }

  watchRunning(admission: RedisAdmission, charge: () => void): void {
    admission.onTick = charge;
    admission.startedMs = this.#clock.monotonicMs();
  }

  chargeCpu(admission: RedisAdmission, cpuMs: number): void {
    const whole = Math.round(cpuMs);
    if (whole > 0) admission.owedCpuMs += whole;
  }

  finish(admission: RedisAdmission): void {
    if (!this.#running.delete(admission)) {
      this.#chargeOwedCpu(admission);
      return;
    }
    const { slotId, owedCpuMs } = admission;
    admission.slotId = '';
    admission.owedCpuMs = 0;
    if (owedCpuMs > 0) this.#settlement.settle(admission, { slotId, cpuMs: owedCpuMs });
    else if (slotId !== '') this.#settlement.freeSlot(admission, slotId);
  }

  async usage(
    key: string,
    resources: readonly Resource[],
  ): Promise<readonly (BucketUsage | undefined)[]> {
    const found = await this.#usage.primary(key, resources);
    return resources.map((resource, index) => {
      const bucket = found[index];
      if (bucket === undefined) return undefined;
      const reserveCount = this.#reserved?.unitsOf(key, resource, bucket.resetSec) ?? 0;
      return { ...bucket, used: Math.max(0, bucket.used - reserveCount) };
    });
  }

  async secondaryUsage(key: string): Promise<SecondaryUsage> {
    return await this.#usage.secondary(key);
  }

  async reset(key: string, resources: readonly Resource[]): Promise<void> {
    this.#exhausted.forget(key);
    this.#reserved?.drop(key);
    await this.#usage.reset(key, resources);
  }

  async top(resource: Resource, limit: number): Promise<readonly IdentityUse[]> {
    return await this.#usage.top(resource, limit);
  }

  async ban(key: string, durationSec: number): Promise<void> {
    const ban = await this.#bans.begin(key, durationSec * 1000);
    await this.#noteBan(ban);
    await this.#bans.list(ban);
  }

  async unban(key: string): Promise<boolean> {
    return await this.#bans.end(key);
  }

  async banOf(key: string): Promise<Ban | undefined> {
    return await this.#bans.find(key);
  }

  countWrongLogin({ address, service }: WrongLogin, windowMs: number): Promise<number> {
    const key = this.#keys.of(address, service === undefined ? 'logins' : `logins:${service}`);
    return this.#calls.call(key, (client) => client.rlLogins(1, key, windowMs)).catch(() => 0);
  }

  async bans(limit: number): Promise<readonly Ban[]> {
    return await this.#bans.all(limit);
  }

  /**
   * Returns the bucket whose reserved units can serve this request. Other limits always need a call
   * to Redis.
   */
  #bucketOf({ key, limits }: Caller, plan: Plan): ReservedBucket | undefined {
    if (this.#reserved === undefined || plan.cost === 0 || hasSecondaryCharges(plan))
      return undefined;
    const limit = limits.limit[plan.resource.index] ?? UNLIMITED;
    return limit === UNLIMITED ? undefined : this.#reserved.open(key, plan.resource);
  }

  #admitFromUnits(caller: Caller, plan: Plan, bucket: ReservedBucket): RedisAdmission | undefined {
    const limit = caller.limits.limit[plan.resource.index] ?? UNLIMITED;
    if (!this.#reserved?.take(bucket, plan.cost, limit)) return undefined;
    const response: ScriptResponse = [bucket.used - bucket.units, bucket.resetSec];
    const admission = toAdmission(caller, plan, response, this.#rules);
    this.#running.add(admission);
    return admission;
  }

  /**
   * Requests a decision and reserves units. Concurrent requests wait once for the response, because
   * otherwise each would reserve units.
   */
  async #admitAndFill(
    caller: Caller,
    plan: Plan,
    bucket: ReservedBucket,
    unreportedCount: number,
  ): Promise<RedisAdmission> {
    if (bucket.filling !== undefined && !bucket.isScarce) {
      await bucket.filling.catch(() => {});
      const admission = this.#admitFromUnits(caller, plan, bucket);
      if (admission !== undefined) return admission;
    }
    const reserveCount =
      bucket.filling === undefined ? (this.#reserved?.unitsToReserve(bucket) ?? 0) : 0;
    const pending = this.#admitByRedis(caller, plan, { unreportedCount, reserveCount });
    if (reserveCount > 0) {
      bucket.filling = pending;
      const done = () => {
        bucket.filling = undefined;
      };
      pending.then(done, done);
    }
    return await pending;
  }

  async #admitByRedis(
    caller: Caller,
    plan: Plan,
    options: { readonly unreportedCount: number; readonly reserveCount: number },
  ): Promise<RedisAdmission> {
    const slotId = plan.takesSlot ? this.#nextSlotId() : '';
    const sentMs = this.#reserved === undefined ? 0 : this.#clock.monotonicMs();
    const response = await this.#decisions.run(caller, plan, {
      slotId,
      ...options,
      isDryRun: false,
    });
    const admission = toAdmission(caller, plan, response, this.#rules);
    const [, , , leftMs = 0, level = 0, untilMs = 0, units = 0] = response;
    if (level > 0) {
      const ban = banOf(caller.key, level, untilMs);
      await this.#noteBan(ban);
      void this.#bans.list(ban);
    }
    if (admission.isAllowed) {
      const { used, resetSec } = admission;
      const bucket = this.#reserved?.find(caller.key, plan.resource);
      if (bucket !== undefined) {
        const requestedUnits = options.reserveCount;
        this.#reserved?.note(bucket, { used, resetSec, requestedUnits, units, leftMs, sentMs });
        admission.used -= this.#unitsOf(admission);
      } else if (units > 0) {
        // The bucket was dropped during the call.
        const { key: identity } = caller;
        const { resource } = plan;
        void this.#settlement.refundUnits([{ identity, resource, units, resetSec }]);
        admission.used -= units;
      }
      if (slotId !== '') this.#noteSlot(admission, slotId);
      this.#running.add(admission);
    } else if (admission.limitedBy === 'primary') {
      this.#exhausted.remember(admission);
    }
    return admission;
  }

  /** Returns the units that are charged in Redis but not used yet. */
  #unitsOf({ caller, plan, resetSec }: RedisAdmission): number {
    return this.#reserved?.unitsOf(caller.key, plan.resource, resetSec) ?? 0;
  }

  /** Returns a slot id that is unique across all nodes. */
  #nextSlotId(): string {
    this.#slotCount += 1;
    return `${this.#nodeId}${this.#slotCount.toString(36)}`;
  }

  #chargeOwedCpu(admission: RedisAdmission): void {
    const { owedCpuMs } = admission;
    if (owedCpuMs === 0) return;
    admission.owedCpuMs = 0;
    this.#settlement.settle(admission, { cpuMs: owedCpuMs });
  }

  async #tick(): Promise<void> {
    await this.#nodes.tick();
    void this.#settlement.refundUnits(this.#reserved?.dropIdle() ?? []);
    const nowMs = this.#clock.monotonicMs();
    this.#holdSlots(nowMs);
    for (const admission of this.#running) {
      if (admission.startedMs === 0 || nowMs - admission.startedMs < TICK_MS) continue;
      admission.onTick?.();
      this.#chargeOwedCpu(admission);
    }
  }

  #noteSlot(admission: RedisAdmission, slotId: string): void {
    admission.slotId = slotId;
    admission.slotSinceMs = this.#clock.monotonicMs();
    admission.lastHeartbeatMs = admission.slotSinceMs;
  }

  /** Sends heartbeats for the slots of long-running requests. */
  #holdSlots(nowMs: number): void {
    const slots = new Map<string, string[]>();
    for (const admission of this.#running) {
      const { caller, slotId, slotSinceMs, lastHeartbeatMs } = admission;
      if (slotId === '' || nowMs - lastHeartbeatMs < SLOT_HEARTBEAT_MS) continue;
      if (nowMs - slotSinceMs > SLOT_LEASE_MS) continue; // The request never ended.
      admission.lastHeartbeatMs = nowMs;
      const own = slots.get(caller.key);
      if (own === undefined) slots.set(caller.key, [slotId]);
      else own.push(slotId);
    }
    for (const [identity, slotIds] of slots) this.#settlement.holdSlots(identity, slotIds);
  }

  #refuseLocally(
    caller: Caller,
    plan: Plan,
    { used, resetSec }: { readonly used: number; readonly resetSec: number },
  ): RedisAdmission {
    const waitMs = resetSec * 1000 - this.#clock.nowMs();
    return toAdmission(caller, plan, [used, resetSec, 'primary', waitMs], this.#rules);
  }

  /**
   * Reports a ban that is already in force. Reserved units are refunded, because they would let
   * requests pass.
   */
  async #noteBan(ban: Ban): Promise<void> {
    await this.#settlement.refundUnits(this.#reserved?.drop(ban.identity) ?? []);
    this.#onBan(ban);
  }
}

import { hash } from 'node:crypto';
import { type Clock, invariant, type Random } from '@plinth/kernel';
import type { Caller } from '../model/caller.js';
import type { Ban, BucketUsage, Decision, SecondaryUsage } from '../model/decision.js';
import {
  DEFAULT_RULES,
  type LimitRules,
  type LimitStore,
  type StoreStats,
} from '../model/limit-store.js';
import type { Plan } from '../model/plan.js';
import { type Resource, UNLIMITED } from '../model/resource.js';
import { AskedTogether } from './asked-together.js';
import { CallWatch } from './call-watch.js';
import { EmptyBuckets } from './empty-buckets.js';
import { type RedisAdmission, type ScriptAnswer, toAdmission } from './redis-admission.js';
import { type RedisClient, RedisLink } from './redis-client.js';
import { type ReservedBucket, ReservedUnits } from './reserved-units.js';

export interface RedisStoreOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly random: Random;
  /** First part of every key. */
  readonly prefix?: string;
  /** Longest silence of Redis while calls wait. */
  readonly timeoutMs?: number;
  readonly rules?: LimitRules;
  /** Units of a busy bucket that are taken ahead; 0: none. */
  readonly reserve?: number;
  readonly onBan?: (ban: Ban) => void;
  readonly onError?: (error: Error) => void;
}

/** Running requests are charged about so often. */
const TICK_MS = 1_000;
const DEFAULT_TIMEOUT_MS = 50;
/** A node says so often that it lives, and is forgotten when it has missed so many times. */
const NODE_TICK_COUNT = 5;
const NODE_COUNT_COUNT = 3;
const NODE_LIFE_MS = NODE_COUNT_COUNT * NODE_TICK_COUNT * TICK_MS;
/** Keys that an operator's question may look through. */
const MAX_SCANNED_COUNT = 200_000;
const SCAN_STEP_COUNT = 1_000;
const MAX_ENDPOINT_COUNT = 100_000;

/**
 * Counters in Redis or Valkey, shared by all nodes. A decision is made within one script call, so that nothing comes in
 * between; all keys of an identity carry it as their hash tag. Source: rate-limits, section 14.2.
 */
export class RedisStore implements LimitStore {
  readonly #options: RedisStoreOptions;
  readonly #rules: LimitRules;
  readonly #prefix: string;
  readonly #empty: EmptyBuckets;
  readonly #watch: CallWatch;
  readonly #reserved: ReservedUnits | undefined;
  readonly #together = new AskedTogether(
    (keys, args, onLate) =>
      this.#call((client) => client.rlAdmitPrimary(keys.length, ...keys, ...args), onLate),
    ([primary, ban], [limit = 0, , cost = 0], answer) =>
      this.#takeBack({ primary, ban, cost: limit < 0 ? 0 : cost, slotId: '' }, answer),
  );
  readonly #running = new Set<RedisAdmission>();
  readonly #endpointHashes = new Map<string, string>();
  #link: RedisLink | undefined;
  #ticker: Disposable | undefined;
  #errorCount = 0;
  /** As they were counted last, the latest at the end. */
  readonly #nodeCounts: number[] = [];
  #ticks = 0;
  #slotCount = 0;
  readonly #nodeId: string;

  constructor(options: RedisStoreOptions) {
    this.#options = options;
    this.#rules = options.rules ?? DEFAULT_RULES;
    this.#prefix = options.prefix ?? 'rl:';
    this.#nodeId = options.random.uuidV4();
    this.#empty = new EmptyBuckets(options.clock);
    this.#watch = new CallWatch(options.clock, options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    const { reserve = 0 } = options;
    this.#reserved = reserve > 0 ? new ReservedUnits(options.clock, reserve) : undefined;
  }

  /**
   * Nodes that share this store, as far as was known last; the most for as long as a node may live unseen, because a
   * Redis that has lost its keys hears of the nodes one by one.
   */
  get nodeCount(): number {
    return Math.max(1, ...this.#nodeCounts);
  }

  get stats(): StoreStats {
    return {
      bucketCount: 0,
      inFlightCount: this.#running.size,
      banCount: 0,
      errorCount: this.#errorCount,
    };
  }

  async start(): Promise<void> {
    if (this.#link !== undefined) return;
    const { url, clock, onError = () => {} } = this.#options;
    const onBytes = () => this.#watch.heard();
    this.#link = await RedisLink.open({ url, rules: this.#rules, onError, onBytes });
    await this.#link.connectSoon(clock);
    this.#ticker = clock.every(TICK_MS, () => this.#tick());
  }

  async close(): Promise<void> {
    this.#ticker?.[Symbol.dispose]();
    this.#ticker = undefined;
    await this.#giveUnitsBack(this.#reserved?.dropAll() ?? []);
    this.#link?.close();
    this.#link = undefined;
  }

  /** At once where this node can say it alone, with one round trip otherwise. */
  admit(caller: Caller, plan: Plan): RedisAdmission | Promise<RedisAdmission> {
    const bucket = this.#bucketOf(caller, plan);
    if (bucket !== undefined) {
      const admission = this.#admitFromUnits(caller, plan, bucket);
      if (admission !== undefined) return admission;
    }
    const known = this.#empty.look(caller, plan);
    if ('used' in known) return this.#refuseAlone(caller, plan, known);
    const { untoldCount } = known;
    if (bucket === undefined) return this.#admitByRedis(caller, plan, { untoldCount, ahead: 0 });
    return this.#admitAndFill(caller, plan, bucket, untoldCount);
  }

  async peek(caller: Caller, plan: Plan): Promise<Decision> {
    const ask = { slotId: '', untoldCount: 0, ahead: 0, isDry: true };
    const decision = toAdmission(caller, plan, await this.#ask(caller, plan, ask), this.#rules);
    decision.used -= this.#unitsOf(decision);
    return decision;
  }

  refund(admission: RedisAdmission): void {
    const { caller, plan, resetSec } = admission;
    admission.used = Math.max(0, admission.used - plan.cost);
    if (this.#reserved?.giveBack(caller.key, plan.resource, resetSec, plan.cost)) return;
    this.#settle(admission, { refund: plan.cost });
  }

  releaseSlot(admission: RedisAdmission): void {
    const { slotId } = admission;
    if (slotId === '') return;
    admission.slotId = '';
    this.#giveBack(admission, slotId);
  }

  watchRunning(admission: RedisAdmission, charge: () => void): void {
    admission.onTick = charge;
    admission.startedMs = this.#options.clock.monotonicMs();
  }

  chargeCpu(admission: RedisAdmission, cpuMs: number): void {
    const whole = Math.round(cpuMs);
    if (whole > 0) admission.owedCpuMs += whole;
  }

  finish(admission: RedisAdmission): void {
    if (!this.#running.delete(admission)) {
      this.#payCpu(admission);
      return;
    }
    const { slotId, owedCpuMs } = admission;
    admission.slotId = '';
    admission.owedCpuMs = 0;
    if (owedCpuMs > 0) this.#settle(admission, { slotId, cpuMs: owedCpuMs });
    else if (slotId !== '') this.#giveBack(admission, slotId);
  }

  async usage(
    key: string,
    resources: readonly Resource[],
  ): Promise<readonly (BucketUsage | undefined)[]> {
    const keys = resources.map(({ bucket }) => this.#key(key, `p:${bucket}`));
    const found = await this.#call((client) => client.rlUsage(keys.length, ...keys));
    return resources.map((resource, index) => {
      const resetSec = found[2 * index + 1] ?? 0;
      if (resetSec === 0) return undefined;
      const ahead = this.#reserved?.unitsOf(key, resource, resetSec) ?? 0;
      return { used: Math.max(0, (found[2 * index] ?? 0) - ahead), resetSec };
    });
  }

  async secondaryUsage(key: string): Promise<SecondaryUsage> {
    const { minuteMs, hourMs } = this.#rules;
    const keys = ['cpu', 'cpug', 'cm', 'h', 'ch', 'c'].map((part) => this.#key(key, part));
    const found = await this.#call((client) =>
      client.rlSecondary(keys.length, ...keys, minuteMs, hourMs),
    );
    const [cpu_ms = 0, cpu_graph_ms = 0, content_minute = 0, heavy = 0, content_hour = 0] = found;
    const concurrency = found[5] ?? 0;
    // Endpoints are hashed in the keys, so that their names cannot be told.
    return {
      concurrency,
      cpu_ms,
      cpu_graph_ms,
      content_minute,
      content_hour,
      heavy,
      points: [],
    };
  }

  async reset(key: string, resources: readonly Resource[]): Promise<void> {
    this.#empty.forget(key);
    this.#reserved?.drop(key);
    const own = this.#key(key, '');
    // Named here, because the search ends after so many keys; what it misses is forgotten within a minute.
    const known = [
      ...resources.map(({ bucket }) => `p:${bucket}`),
      ...['cpu', 'cpug', 'cm', 'ch', 'th', 'h', 'rej'],
    ].map((part) => own + part);
    await this.#call((client) => client.unlink(...known));
    const kept = new Set([this.#key(key, 'ban'), this.#key(key, 'c')]);
    await this.#scan(`${escapeGlob(own)}*`, async (keys) => {
      const gone = keys.filter((each) => !kept.has(each));
      if (gone.length > 0) await this.#call((client) => client.unlink(...gone));
    });
  }

  async ban(key: string, durationSec: number): Promise<void> {
    const [level, untilMs] = await this.#call((client) =>
      client.rlBan(1, this.#key(key, 'ban'), durationSec * 1000),
    );
    await this.#noteBan(key, level, untilMs);
  }

  async unban(key: string): Promise<boolean> {
    const ban = await this.banOf(key);
    await this.#call((client) => client.del(this.#key(key, 'ban'), this.#key(key, 'rej')));
    await this.#call((client) => client.zrem(this.#bansKey, key));
    return ban !== undefined;
  }

  async banOf(key: string): Promise<Ban | undefined> {
    const [level, untilMs = 0] = await this.#call((client) =>
      client.rlBanOf(1, this.#key(key, 'ban')),
    );
    if (level === undefined) return undefined;
    return { identity: key, untilSec: Math.ceil(untilMs / 1000), level };
  }

  async bans(limit: number): Promise<readonly Ban[]> {
    const keys = await this.#call((client) => client.rlBans(1, this.#bansKey, limit));
    const found = await Promise.all(keys.map((key) => this.banOf(key)));
    return found.filter((ban) => ban !== undefined);
  }

  async top(
    resource: Resource,
    limit: number,
  ): Promise<readonly { readonly identity: string; readonly used: number }[]> {
    const best: { identity: string; used: number }[] = [];
    const suffix = `}:p:${resource.bucket}`;
    await this.#scan(`${escapeGlob(this.#prefix)}{*}:p:${resource.bucket}`, async (keys) => {
      const values = await Promise.all(keys.map((key) => this.#call((client) => client.get(key))));
      for (const [index, key] of keys.entries()) {
        const identity = key.slice(this.#prefix.length + 1, -suffix.length);
        best.push({ identity, used: Number(values[index] ?? 0) });
      }
      best.sort((a, b) => b.used - a.used).splice(limit);
    });
    return best;
  }

  /** A bucket whose units may be given to this request. Limits that live in Redis alone ask it every time. */
  #bucketOf({ key, limits }: Caller, plan: Plan): ReservedBucket | undefined {
    if (this.#reserved === undefined || plan.cost === 0 || countsBesides(plan)) return undefined;
    const limit = limits.limit[plan.resource.index] ?? UNLIMITED;
    return limit === UNLIMITED ? undefined : this.#reserved.open(key, plan.resource);
  }

  #admitFromUnits(caller: Caller, plan: Plan, bucket: ReservedBucket): RedisAdmission | undefined {
    const limit = caller.limits.limit[plan.resource.index] ?? UNLIMITED;
    if (!this.#reserved?.take(bucket, plan.cost, limit)) return undefined;
    const answer: ScriptAnswer = [bucket.used - bucket.units, bucket.resetSec];
    const admission = toAdmission(caller, plan, answer, this.#rules);
    this.#running.add(admission);
    return admission;
  }

  /**
   * Asks with units ahead. Of those who come meanwhile each waits for the answer, once: they would all ask for units
   * otherwise.
   */
  async #admitAndFill(
    caller: Caller,
    plan: Plan,
    bucket: ReservedBucket,
    untoldCount: number,
  ): Promise<RedisAdmission> {
    if (bucket.filling !== undefined && !bucket.isScarce) {
      await bucket.filling.catch(() => {});
      const admission = this.#admitFromUnits(caller, plan, bucket);
      if (admission !== undefined) return admission;
    }
    const ahead = bucket.filling === undefined ? (this.#reserved?.wish(bucket) ?? 0) : 0;
    const asked = this.#admitByRedis(caller, plan, { untoldCount, ahead });
    if (ahead > 0) {
      bucket.filling = asked;
      const done = () => {
        bucket.filling = undefined;
      };
      asked.then(done, done);
    }
    return await asked;
  }

  async #admitByRedis(
    caller: Caller,
    plan: Plan,
    how: { readonly untoldCount: number; readonly ahead: number },
  ): Promise<RedisAdmission> {
    const slotId = plan.takesSlot ? this.#nextSlotId() : '';
    const askedMs = this.#reserved === undefined ? 0 : this.#options.clock.monotonicMs();
    const answer = await this.#ask(caller, plan, { slotId, ...how, isDry: false });
    const admission = toAdmission(caller, plan, answer, this.#rules);
    const [, , , leftMs = 0, level = 0, untilMs = 0, units = 0] = answer;
    if (level > 0) await this.#noteBan(caller.key, level, untilMs);
    if (admission.isAllowed) {
      const { used, resetSec } = admission;
      const bucket = this.#reserved?.find(caller.key, plan.resource);
      if (bucket !== undefined) {
        const wished = how.ahead;
        this.#reserved?.note(bucket, { used, resetSec, wished, units, leftMs, askedMs });
        admission.used -= this.#unitsOf(admission);
      } else if (units > 0) {
        // The bucket was given up while Redis was asked.
        const { key: identity } = caller;
        void this.#giveUnitsBack([{ identity, resource: plan.resource, units, resetSec }]);
        admission.used -= units;
      }
      admission.slotId = slotId;
      this.#running.add(admission);
    } else if (admission.limitedBy === 'primary') {
      this.#empty.remember(admission);
    }
    return admission;
  }

  /** What is charged in Redis, but used by nobody yet. */
  #unitsOf({ caller, plan, resetSec }: RedisAdmission): number {
    return this.#reserved?.unitsOf(caller.key, plan.resource, resetSec) ?? 0;
  }

  async #giveUnitsBack(
    buckets: readonly Pick<ReservedBucket, 'identity' | 'resource' | 'units' | 'resetSec'>[],
  ): Promise<void> {
    await Promise.all(
      buckets.map(async ({ identity, resource, units, resetSec }) => {
        const own = `${this.#prefix}{${identity}}:`;
        const keys = [`${own}p:${resource.bucket}`, `${own}c`, `${own}cpu`, `${own}cpug`];
        const args = [units, resetSec, '', 0, '0', this.#rules.minuteMs];
        // What is lost with Redis is free again when its window ends.
        await this.#call((client) => client.rlSettle(keys.length, ...keys, ...args)).catch(
          () => {},
        );
      }),
    );
  }

  #ask(
    caller: Caller,
    plan: Plan,
    how: {
      readonly slotId: string;
      readonly untoldCount: number;
      readonly ahead: number;
      readonly isDry: boolean;
    },
  ): Promise<ScriptAnswer> {
    const { index, bucket } = plan.resource;
    const limit = caller.limits.limit[index] ?? UNLIMITED;
    const windowSec = caller.limits.windowSec[index] ?? plan.resource.windowSec;
    const own = `${this.#prefix}{${caller.key}}:`;
    const [primary, ban] = [`${own}p:${bucket}`, `${own}ban`];
    const most = limit === UNLIMITED ? -1 : limit;
    const { slotId, untoldCount, ahead, isDry } = how;
    if (!countsBesides(plan) && !plan.chargesCpu && !isDry) {
      return this.#together.ask([primary, ban], [most, windowSec, plan.cost, untoldCount, ahead]);
    }
    const cost = isDry || most < 0 ? 0 : plan.cost;
    return this.#call(
      (client) =>
        client.rlAdmitAll(
          primary,
          ban,
          `${own}s:${this.#endpointHash(plan.endpoint)}`,
          most,
          windowSec,
          plan.cost,
          untoldCount,
          ahead,
          isDry ? 1 : 0,
          slotId,
          plan.points,
          plan.isGraph ? 1 : 0,
          plan.chargesCpu ? 1 : 0,
          plan.isContent ? 1 : plan.isTokenCreation ? 2 : 0,
          plan.contentPerMinute ?? -1,
          plan.heavy,
        ),
      (answer) => this.#takeBack({ primary, ban, cost, slotId }, answer),
    );
  }

  /**
   * Gives back what Redis charged for a decision that was made without it meanwhile. Sums over a minute or an hour keep
   * the request: that is on the safe side, and ends by itself.
   */
  #takeBack(
    asked: {
      readonly primary: string;
      readonly ban: string;
      readonly cost: number;
      readonly slotId: string;
    },
    [, resetSec, kind = '', , , , units = 0]: ScriptAnswer,
  ): void {
    const { primary, ban, cost, slotId } = asked;
    const due = cost + units;
    if (kind !== '' || (due === 0 && slotId === '')) return;
    if (this.#link === undefined) return; // Closed meanwhile: what is not given back ends by itself.
    const own = ban.slice(0, -'ban'.length);
    const keys = [primary, `${own}c`, `${own}cpu`, `${own}cpug`];
    const args = [due, resetSec, slotId, 0, '0', this.#rules.minuteMs];
    // What is lost with Redis ends by itself, too.
    void this.#call((client) => client.rlSettle(keys.length, ...keys, ...args)).catch(() => {});
  }

  #settle(
    admission: RedisAdmission,
    due: { readonly refund?: number; readonly slotId?: string; readonly cpuMs?: number },
  ): void {
    const { caller, plan, resetSec } = admission;
    const own = `${this.#prefix}{${caller.key}}:`;
    const keys = [`${own}p:${plan.resource.bucket}`, `${own}c`, `${own}cpu`, `${own}cpug`];
    const { refund = 0, slotId = '', cpuMs = 0 } = due;
    const args = [refund, resetSec, slotId, cpuMs, plan.isGraph ? '1' : '0', this.#rules.minuteMs];
    // Nobody waits for this. What is lost with Redis ends by itself: slots expire, windows do.
    void this.#call((client) => client.rlSettle(keys.length, ...keys, ...args)).catch(() => {});
  }

  /** A slot alone needs no script. Nobody waits for this; a slot that is lost with Redis expires. */
  #giveBack({ caller }: RedisAdmission, slotId: string): void {
    const key = `${this.#prefix}{${caller.key}}:c`;
    void this.#call((client) => client.zrem(key, slotId)).catch(() => {});
  }

  /** No other node makes the same. */
  #nextSlotId(): string {
    this.#slotCount += 1;
    return `${this.#nodeId}${this.#slotCount.toString(36)}`;
  }

  #payCpu(admission: RedisAdmission): void {
    const { owedCpuMs } = admission;
    if (owedCpuMs === 0) return;
    admission.owedCpuMs = 0;
    this.#settle(admission, { cpuMs: owedCpuMs });
  }

  /** Says that this node lives, and counts those that said so lately. */
  async #countNodes(): Promise<void> {
    const key = `${this.#prefix}nodes`;
    try {
      const count = await this.#call((client) =>
        client.rlNodes(1, key, this.#nodeId, NODE_LIFE_MS),
      );
      if (this.#nodeCounts.push(count) > NODE_COUNT_COUNT) this.#nodeCounts.shift();
    } catch {
      // What was known last is the best there is.
    }
  }

  async #tick(): Promise<void> {
    if (this.#ticks % NODE_TICK_COUNT === 0) await this.#countNodes();
    this.#ticks += 1;
    void this.#giveUnitsBack(this.#reserved?.dropIdle() ?? []);
    const nowMs = this.#options.clock.monotonicMs();
    for (const admission of this.#running) {
      if (admission.startedMs === 0 || nowMs - admission.startedMs < TICK_MS) continue;
      admission.onTick?.();
      this.#payCpu(admission);
    }
  }

  #refuseAlone(
    caller: Caller,
    plan: Plan,
    { used, resetSec }: { readonly used: number; readonly resetSec: number },
  ): RedisAdmission {
    const waitMs = resetSec * 1000 - this.#options.clock.nowMs();
    return toAdmission(caller, plan, [used, resetSec, 'primary', waitMs], this.#rules);
  }

  async #noteBan(identity: string, level: number, untilMs: number): Promise<void> {
    await this.#giveUnitsBack(this.#reserved?.drop(identity) ?? []);
    this.#options.onBan?.({ identity, level, untilSec: Math.ceil(untilMs / 1000) });
    await this.#call((client) => client.zadd(this.#bansKey, untilMs, identity));
  }

  /** Looks through the keys of every server. */
  async #scan(pattern: string, see: (keys: readonly string[]) => Promise<void>): Promise<void> {
    let seenCount = 0;
    for (const shard of this.#link?.shards ?? []) {
      let cursor = '0';
      do {
        const at = cursor;
        const [next, keys] = await this.#call(() =>
          shard.scan(at, 'MATCH', pattern, 'COUNT', SCAN_STEP_COUNT),
        );
        cursor = next;
        seenCount += SCAN_STEP_COUNT;
        if (keys.length > 0) await see(keys);
      } while (cursor !== '0' && seenCount < MAX_SCANNED_COUNT);
    }
  }

  #call<T>(run: (client: RedisClient) => Promise<T>, onLate?: (answer: T) => void): Promise<T> {
    const link = this.#link;
    invariant(link, 'the store was started');
    return this.#watch.watch(run(link.client), onLate).catch((error: unknown) => {
      this.#errorCount += 1;
      throw error;
    });
  }

  #key(identity: string, part: string): string {
    return `${this.#prefix}{${identity}}:${part}`;
  }

  get #bansKey(): string {
    return `${this.#prefix}bans`;
  }

  /** Clients may name what they like; keys stay short. */
  #endpointHash(endpoint: string): string {
    let found = this.#endpointHashes.get(endpoint);
    if (found === undefined) {
      found = hash('sha1', endpoint, 'base64url').slice(0, 16);
      if (this.#endpointHashes.size >= MAX_ENDPOINT_COUNT) this.#endpointHashes.clear();
      this.#endpointHashes.set(endpoint, found);
    }
    return found;
  }
}

/** Whether a decision changes more in Redis than the primary bucket. */
const countsBesides = (plan: Plan): boolean =>
  plan.takesSlot || plan.isContent || plan.isTokenCreation || plan.points > 0 || plan.heavy > 0;

const escapeGlob = (text: string): string => text.replace(/[*?[\]\\]/g, '\\$&');

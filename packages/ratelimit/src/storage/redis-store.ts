import { hash } from 'node:crypto';
import { type Clock, invariant, type Random } from '@plinth/kernel';
import type { Redis } from 'ioredis';
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
import { type RedisAdmission, type ScriptAnswer, toAdmission } from './redis-admission.js';
import { admitAll, admitPrimary, BAN, SECONDARY, SETTLE, USAGE } from './redis-scripts.js';

export interface RedisStoreOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly random: Random;
  /** First part of every key. */
  readonly prefix?: string;
  /** Longest wait for one answer. */
  readonly timeoutMs?: number;
  readonly rules?: LimitRules;
  readonly onBan?: (ban: Ban) => void;
  readonly onError?: (error: Error) => void;
}

/** A bucket that is known to be empty is refused here for so long before Redis is asked again. */
const NEGATIVE_MS = 1_000;
const MAX_NEGATIVE_COUNT = 100_000;
/** Running requests are charged about so often. */
const TICK_MS = 1_000;
const DEFAULT_TIMEOUT_MS = 50;
const MAX_FIRST_WAIT_MS = 500;
const CONNECT_TIMEOUT_MS = 2_000;
/** A node says so often that it lives, and is forgotten after so long. */
const NODE_TICK_COUNT = 5;
const NODE_LIFE_MS = 15_000;
const MAX_RECONNECT_MS = 1_000;
/** Keys that an operator's question may look through. */
const MAX_SCANNED_COUNT = 200_000;
const SCAN_STEP_COUNT = 1_000;

interface Negative {
  readonly untilMs: number;
  readonly used: number;
  readonly resetSec: number;
  /** Refusals since Redis was asked, told to it with the next question. */
  rejectionCount: number;
}

/** The commands that the scripts become. */
interface Scripts {
  rlAdmitPrimary(...keysAndArguments: (string | number)[]): Promise<ScriptAnswer>;
  rlAdmitAll(...keysAndArguments: (string | number)[]): Promise<ScriptAnswer>;
  rlSettle(keyCount: number, ...rest: (string | number)[]): Promise<number>;
  rlUsage(keyCount: number, ...keys: string[]): Promise<number[]>;
  rlSecondary(keyCount: number, ...rest: (string | number)[]): Promise<number[]>;
  rlBan(keyCount: number, key: string, durationMs: number): Promise<[number, number]>;
}

/**
 * Counters in Redis or Valkey, shared by all nodes. One script call is one decision, so that nothing comes in between;
 * all keys of an identity carry it as their hash tag. Source: rate-limits, section 14.2.
 */
export class RedisStore implements LimitStore {
  readonly #options: RedisStoreOptions;
  readonly #rules: LimitRules;
  readonly #prefix: string;
  readonly #negatives = new Map<string, Negative>();
  readonly #running = new Set<RedisAdmission>();
  readonly #endpointHashes = new Map<string, string>();
  #client: (Redis & Scripts) | undefined;
  #ticker: Disposable | undefined;
  #errorCount = 0;
  #nodeCount = 1;
  #ticks = 0;
  #slotCount = 0;
  readonly #nodeId: string;

  constructor(options: RedisStoreOptions) {
    this.#options = options;
    this.#rules = options.rules ?? DEFAULT_RULES;
    this.#prefix = options.prefix ?? 'rl:';
    this.#nodeId = options.random.uuidV4();
  }

  /** Nodes that share this store, as far as was known last. */
  get nodeCount(): number {
    return this.#nodeCount;
  }

  get stats(): StoreStats {
    return {
      bucketCount: 0,
      inFlightCount: this.#running.size,
      banCount: 0,
      errorCount: this.#errorCount,
    };
  }

  /** Connects in the background: a server starts without Redis, too. */
  async start(): Promise<void> {
    if (this.#client !== undefined) return;
    // Loaded here, so that nobody without Redis pays for it.
    const { Redis } = await import('ioredis');
    const options = {
      lazyConnect: true,
      enableOfflineQueue: false,
      enableAutoPipelining: true,
      connectTimeout: CONNECT_TIMEOUT_MS,
      maxRetriesPerRequest: 0,
      commandTimeout: this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      retryStrategy: (attempt: number) => Math.min(MAX_RECONNECT_MS, 50 * attempt),
      scripts: {
        rlAdmitPrimary: { lua: admitPrimary(this.#rules), numberOfKeys: 2 },
        rlAdmitAll: { lua: admitAll(this.#rules), numberOfKeys: 3 },
        rlSettle: { lua: SETTLE },
        rlUsage: { lua: USAGE },
        rlSecondary: { lua: SECONDARY },
        rlBan: { lua: BAN },
      },
    };
    // The option `scripts` makes commands of these names.
    const client = new Redis(this.#options.url, options) as unknown as Redis & Scripts;
    client.on('error', (error) => this.#options.onError?.(error));
    this.#client = client;
    // Goes on by itself, and every failure is told through `onError`; one that hangs must not stop the start.
    const connected = client.connect().catch(() => {});
    const patience = new AbortController();
    const waited = this.#options.clock.sleep(MAX_FIRST_WAIT_MS, patience.signal).catch(() => {});
    await Promise.race([connected, waited]);
    patience.abort();
    this.#ticker = this.#options.clock.every(TICK_MS, () => this.#tick());
  }

  async close(): Promise<void> {
    this.#ticker?.[Symbol.dispose]();
    this.#ticker = undefined;
    const client = this.#client;
    this.#client = undefined;
    client?.disconnect();
  }

  async admit(caller: Caller, plan: Plan): Promise<RedisAdmission> {
    let rejectionCount = 0;
    if (this.#negatives.size > 0) {
      const negative = this.#findNegative(caller, plan);
      if (negative?.isValid) return this.#refuseLocally(caller, plan, negative);
      rejectionCount = negative?.rejectionCount ?? 0;
    }
    const slotId = plan.takesSlot ? this.#nextSlotId() : '';
    const answer = await this.#ask(caller, plan, { slotId, rejectionCount, isDry: false });
    const admission = toAdmission(caller, plan, answer, this.#rules);
    const [, , , , level = 0, untilMs = 0] = answer;
    if (level > 0) await this.#noteBan(caller.key, level, untilMs);
    if (admission.isAllowed) {
      admission.slotId = slotId;
      this.#running.add(admission);
    } else if (admission.limitedBy === 'primary') {
      this.#rememberEmpty(admission);
    }
    return admission;
  }

  async peek(caller: Caller, plan: Plan): Promise<Decision> {
    const ask = { slotId: '', rejectionCount: 0, isDry: true };
    return toAdmission(caller, plan, await this.#ask(caller, plan, ask), this.#rules);
  }

  refund(admission: RedisAdmission): void {
    admission.used = Math.max(0, admission.used - admission.plan.cost);
    this.#settle(admission, { refund: admission.plan.cost });
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
    const keys = resources.map(({ name }) => this.#key(key, `p:${name}`));
    const found = await this.#call((client) => client.rlUsage(keys.length, ...keys));
    return resources.map((_, index) => {
      const resetSec = found[2 * index + 1] ?? 0;
      return resetSec === 0 ? undefined : { used: found[2 * index] ?? 0, resetSec };
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

  async reset(key: string): Promise<void> {
    for (const bucket of this.#negatives.keys()) {
      if (bucket.startsWith(`${key} `)) this.#negatives.delete(bucket);
    }
    const own = this.#key(key, '');
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
    const value = await this.#call((client) => client.get(this.#key(key, 'ban')));
    const [, level, untilMs] = /^(\d+):(\d+)$/.exec(value ?? '') ?? [];
    const untilSec = Math.ceil(Number(untilMs) / 1000);
    const isOver = level === undefined || Number(untilMs) <= this.#options.clock.nowMs();
    return isOver ? undefined : { identity: key, untilSec, level: Number(level) };
  }

  async bans(limit: number): Promise<readonly Ban[]> {
    const nowMs = this.#options.clock.nowMs();
    await this.#call((client) => client.zremrangebyscore(this.#bansKey, '-inf', nowMs));
    const keys = await this.#call((client) => client.zrevrange(this.#bansKey, 0, limit - 1));
    const found = await Promise.all(keys.map((key) => this.banOf(key)));
    return found.filter((ban) => ban !== undefined);
  }

  async top(
    resource: Resource,
    limit: number,
  ): Promise<readonly { readonly identity: string; readonly used: number }[]> {
    const best: { identity: string; used: number }[] = [];
    const suffix = `}:p:${resource.name}`;
    await this.#scan(`${escapeGlob(this.#prefix)}{*}:p:${resource.name}`, async (keys) => {
      const values = await Promise.all(keys.map((key) => this.#call((client) => client.get(key))));
      for (const [index, key] of keys.entries()) {
        const identity = key.slice(this.#prefix.length + 1, -suffix.length);
        best.push({ identity, used: Number(values[index] ?? 0) });
      }
      best.sort((a, b) => b.used - a.used).splice(limit);
    });
    return best;
  }

  #ask(
    caller: Caller,
    plan: Plan,
    how: { readonly slotId: string; readonly rejectionCount: number; readonly isDry: boolean },
  ): Promise<ScriptAnswer> {
    const { index, name } = plan.resource;
    const limit = caller.limits.limit[index] ?? UNLIMITED;
    const windowSec = caller.limits.windowSec[index] ?? plan.resource.windowSec;
    const own = `${this.#prefix}{${caller.key}}:`;
    const [primary, ban] = [`${own}p:${name}`, `${own}ban`];
    const most = limit === UNLIMITED ? -1 : limit;
    const { slotId, rejectionCount, isDry } = how;
    const isPrimaryOnly =
      !plan.takesSlot &&
      !plan.chargesCpu &&
      !plan.isContent &&
      !plan.isTokenCreation &&
      plan.points === 0 &&
      plan.heavy === 0;
    if (isPrimaryOnly && !isDry) {
      return this.#call((client) =>
        client.rlAdmitPrimary(primary, ban, most, windowSec, plan.cost, rejectionCount),
      );
    }
    return this.#call((client) =>
      client.rlAdmitAll(
        primary,
        ban,
        `${own}s:${this.#endpointHash(plan.endpoint)}`,
        most,
        windowSec,
        plan.cost,
        rejectionCount,
        isDry ? 1 : 0,
        slotId,
        plan.points,
        plan.isGraph ? 1 : 0,
        plan.chargesCpu ? 1 : 0,
        plan.isContent ? 1 : plan.isTokenCreation ? 2 : 0,
        plan.contentPerMinute ?? -1,
        plan.heavy,
      ),
    );
  }

  #settle(
    admission: RedisAdmission,
    due: { readonly refund?: number; readonly slotId?: string; readonly cpuMs?: number },
  ): void {
    const { caller, plan, resetSec } = admission;
    const own = `${this.#prefix}{${caller.key}}:`;
    const keys = [`${own}p:${plan.resource.name}`, `${own}c`, `${own}cpu`, `${own}cpug`];
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
    const nowMs = this.#options.clock.nowMs();
    try {
      await this.#call(async (client) => {
        await client.zadd(key, nowMs + NODE_LIFE_MS, this.#nodeId);
        await client.zremrangebyscore(key, '-inf', nowMs);
        await client.pexpire(key, NODE_LIFE_MS);
        this.#nodeCount = Math.max(1, await client.zcard(key));
      });
    } catch {
      // What was known last is the best there is.
    }
  }

  async #tick(): Promise<void> {
    if (this.#ticks % NODE_TICK_COUNT === 0) await this.#countNodes();
    this.#ticks += 1;
    const nowMs = this.#options.clock.monotonicMs();
    for (const admission of this.#running) {
      if (admission.startedMs === 0 || nowMs - admission.startedMs < TICK_MS) continue;
      admission.onTick?.();
      this.#payCpu(admission);
    }
  }

  #findNegative(
    caller: Caller,
    plan: Plan,
  ): (Negative & { readonly isValid: boolean }) | undefined {
    const bucket = bucketOf(caller, plan);
    const negative = this.#negatives.get(bucket);
    if (negative === undefined) return undefined;
    const limit = caller.limits.limit[plan.resource.index] ?? UNLIMITED;
    const isEmpty = plan.cost > 0 && negative.used + plan.cost > limit;
    const isValid = isEmpty && this.#options.clock.monotonicMs() < negative.untilMs;
    if (isValid) negative.rejectionCount += 1;
    else this.#negatives.delete(bucket);
    return { ...negative, isValid };
  }

  #refuseLocally(caller: Caller, plan: Plan, negative: Negative): RedisAdmission {
    const waitMs = negative.resetSec * 1000 - this.#options.clock.nowMs();
    const answer: ScriptAnswer = [negative.used, negative.resetSec, 'primary', waitMs];
    return toAdmission(caller, plan, answer, this.#rules);
  }

  #rememberEmpty({ caller, plan, used, resetSec }: RedisAdmission): void {
    const { clock } = this.#options;
    const leftMs = Math.min(NEGATIVE_MS, resetSec * 1000 - clock.nowMs());
    if (leftMs <= 0) return;
    if (this.#negatives.size >= MAX_NEGATIVE_COUNT) this.#negatives.clear();
    const untilMs = clock.monotonicMs() + leftMs;
    this.#negatives.set(bucketOf(caller, plan), { untilMs, used, resetSec, rejectionCount: 0 });
  }

  async #noteBan(identity: string, level: number, untilMs: number): Promise<void> {
    this.#options.onBan?.({ identity, level, untilSec: Math.ceil(untilMs / 1000) });
    await this.#call((client) => client.zadd(this.#bansKey, untilMs, identity));
  }

  async #scan(pattern: string, see: (keys: readonly string[]) => Promise<void>): Promise<void> {
    let cursor = '0';
    let seenCount = 0;
    do {
      const at = cursor;
      const [next, keys] = await this.#call((client) =>
        client.scan(at, 'MATCH', pattern, 'COUNT', SCAN_STEP_COUNT),
      );
      cursor = next;
      seenCount += SCAN_STEP_COUNT;
      if (keys.length > 0) await see(keys);
    } while (cursor !== '0' && seenCount < MAX_SCANNED_COUNT);
  }

  #call<T>(run: (client: Redis & Scripts) => Promise<T>): Promise<T> {
    const client = this.#client;
    invariant(client, 'the store was started');
    return run(client).catch((error: unknown) => {
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
      if (this.#endpointHashes.size >= MAX_NEGATIVE_COUNT) this.#endpointHashes.clear();
      this.#endpointHashes.set(endpoint, found);
    }
    return found;
  }
}

const bucketOf = (caller: Caller, plan: Plan): string => `${caller.key} ${plan.resource.name}`;

const escapeGlob = (text: string): string => text.replace(/[*?[\]\\]/g, '\\$&');

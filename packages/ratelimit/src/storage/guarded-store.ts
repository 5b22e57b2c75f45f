import type { Clock } from '@plinth/kernel';
import { rateLimitError } from '../errors.js';
import type { Caller } from '../model/caller.js';
import type { Ban, BucketUsage, Decision, SecondaryUsage } from '../model/decision.js';
import type {
  Admission,
  LimitRules,
  LimitStore,
  StoreStats,
  WrongLogin,
} from '../model/limit-store.js';
import type { Plan } from '../model/plan.js';
import { type Resource, UNLIMITED } from '../model/resource.js';
import { MemoryStore } from './memory/memory-store.js';
import { NodeShares } from './node-shares.js';
import { Outages } from './outages.js';
import { isRedisAway } from './redis/redis-away.js';
import type { RedisStore } from './redis/redis-store.js';

export type OnStoreError = 'local' | 'open' | 'closed';

export interface GuardedStoreOptions {
  readonly shared: RedisStore;
  readonly mode: OnStoreError;
  readonly clock: Clock;
  readonly rules: LimitRules;
  readonly maxIdentityCount: number;
  /** Called for bans that start in this process only. */
  readonly onBan?: (ban: Ban) => void;
  /**
   * Called when part of the shared store becomes unavailable, and when all of it is available
   * again.
   */
  readonly onChange?: (isReachable: boolean) => void;
}

/** Server name of queries about all identities, which fail when any server is unavailable. */
const ALL_SERVERS = 'all';
/** Retention of local counters after their last use, because outages may follow one another. */
const KEPT_MS = 3_600_000;

/**
 * Uses a fallback while the shared store is unavailable: local counters, allowing all requests, or
 * rejecting all.
 * A request is always finished in the store that admitted it. Source: rate-limits, section 14.3.
 */
export class GuardedStore implements LimitStore {
  readonly #options: GuardedStoreOptions;
  readonly #shared: RedisStore;
  /** Counters for outages, and for identities with unreadable keys. They are not merged back. */
  #local: MemoryStore | undefined;
  #localAskedMs = 0;
  readonly #outages: Outages;
  readonly #shares: NodeShares;
  /** Store that admitted each request, if not the shared one. */
  readonly #owners = new WeakMap<Admission, MemoryStore | 'open'>();

  constructor(options: GuardedStoreOptions) {
    this.#options = options;
    this.#shared = options.shared;
    this.#outages = new Outages(options.clock, options.onChange ?? (() => {}));
    this.#shares = new NodeShares(options.rules, () => options.shared.nodeCount);
  }

  get stats(): StoreStats {
    const local = this.#local?.stats;
    const shared = this.#shared.stats;
    return {
      bucketCount: local?.bucketCount ?? 0,
      inFlightCount: shared.inFlightCount + (local?.inFlightCount ?? 0),
      banCount: local?.banCount ?? 0,
      errorCount: shared.errorCount,
    };
  }

  async start(): Promise<void> {
    await this.#shared.start();
  }

  async close(): Promise<void> {
    await this.#local?.close();
    await this.#shared.close();
  }

  admit(caller: Caller, plan: Plan): Admission | Promise<Admission> {
    const server = this.#shared.serverNameOf(caller.key);
    if (this.#outages.isPaused(server)) return this.#admitAlone(caller, plan);
    const found = this.#shared.admit(caller, plan);
    if (!(found instanceof Promise)) return found;
    return found.then(
      (admission) => {
        this.#outages.noteSuccess(server);
        return admission;
      },
      (error: unknown) => {
        this.#noteFailure(server, error);
        return this.#admitAlone(caller, plan);
      },
    );
  }

  async peek(caller: Caller, plan: Plan): Promise<Decision> {
    const server = this.#shared.serverNameOf(caller.key);
    if (!this.#outages.isPaused(server)) {
      try {
        const decision = await this.#shared.peek(caller, plan);
        this.#outages.noteSuccess(server);
        return decision;
      } catch (error) {
        this.#noteFailure(server, error);
      }
    }
    if (this.#options.mode === 'local') {
      return this.#ownStore().peek(this.#shares.shareOf(caller), plan);
    }
    return this.#admitAlone(caller, plan);
  }

  refund(admission: Admission): void {
    this.#ownerOf(admission)?.refund(admission as never); // each store receives its own admissions
  }

  releaseSlot(admission: Admission): void {
    this.#ownerOf(admission)?.releaseSlot(admission as never); // each store receives its own admissions
  }

  watchRunning(admission: Admission, charge: () => void): void {
    this.#ownerOf(admission)?.watchRunning(admission as never, charge); // each store receives its own admissions
  }

  chargeCpu(admission: Admission, cpuMs: number): void {
    this.#ownerOf(admission)?.chargeCpu(admission as never, cpuMs); // each store receives its own admissions
  }

  finish(admission: Admission): void {
    this.#ownerOf(admission)?.finish(admission as never); // each store receives its own admissions
  }

  async usage(
    key: string,
    resources: readonly Resource[],
  ): Promise<readonly (BucketUsage | undefined)[]> {
    return await this.#query(
      this.#shared.serverNameOf(key),
      (store) => store.usage(key, resources),
      () => resources.map(() => undefined),
    );
  }

  async secondaryUsage(key: string): Promise<SecondaryUsage> {
    return await this.#query(this.#shared.serverNameOf(key), (store) => store.secondaryUsage(key));
  }

  async reset(key: string, resources: readonly Resource[]): Promise<void> {
    await this.#query(this.#shared.serverNameOf(key), (store) => store.reset(key, resources));
  }

  async ban(key: string, durationSec: number): Promise<void> {
    await this.#query(this.#shared.serverNameOf(key), (store) => store.ban(key, durationSec));
  }

  async unban(key: string): Promise<boolean> {
    return await this.#query(this.#shared.serverNameOf(key), (store) => store.unban(key));
  }

  async banOf(key: string): Promise<Ban | undefined> {
    return await this.#query(this.#shared.serverNameOf(key), (store) => store.banOf(key));
  }

  countWrongLogin(login: WrongLogin, windowMs: number): Promise<number> | undefined {
    // Without the shared store, each node counts separately.
    const server = this.#shared.serverNameOf(login.address);
    if (this.#outages.isPaused(server)) return undefined;
    return this.#shared.countWrongLogin(login, windowMs);
  }

  async bans(limit: number): Promise<readonly Ban[]> {
    return await this.#query(ALL_SERVERS, (store) => store.bans(limit));
  }

  async top(
    resource: Resource,
    limit: number,
  ): Promise<readonly { readonly identity: string; readonly used: number }[]> {
    return await this.#query(ALL_SERVERS, (store) => store.top(resource, limit));
  }

  #admitAlone(caller: Caller, plan: Plan): Admission {
    switch (this.#options.mode) {
      case 'local': {
        const store = this.#ownStore();
        const admission = store.admit(this.#shares.shareOf(caller), plan);
        this.#owners.set(admission, store);
        return admission;
      }
      case 'open': {
        const admission: Admission = {
          isAllowed: true,
          limitedBy: undefined,
          limit: UNLIMITED,
          used: 0,
          resetSec: 0,
          retryAfterSec: 0,
          plan,
        };
        this.#owners.set(admission, 'open');
        return admission;
      }
      case 'closed':
        throw rateLimitError('store_unavailable');
    }
  }

  /** Runs a query of an operator or of `/rate_limit` on the store that currently counts. */
  async #query<T>(
    server: string,
    run: (store: LimitStore) => T | Promise<T>,
    whenOpen?: () => T,
  ): Promise<T> {
    if (!this.#outages.isPaused(server)) {
      try {
        const response = await run(this.#shared);
        this.#outages.noteSuccess(server);
        return response;
      } catch (error) {
        this.#noteFailure(server, error);
      }
    }
    const { mode } = this.#options;
    if (mode === 'local') return await run(this.#ownStore());
    if (mode === 'open' && whenOpen !== undefined) return whenOpen();
    throw rateLimitError('store_unavailable');
  }

  #ownerOf(admission: Admission): LimitStore | undefined {
    const owner = this.#owners.get(admission);
    if (owner === undefined) return this.#shared;
    return owner === 'open' ? undefined : owner;
  }

  #noteFailure(server: string, error: unknown): void {
    // Unreadable keys of one identity do not mean that Redis is unavailable for others.
    if (isRedisAway(error)) this.#outages.noteFailure(server);
  }

  #ownStore(): MemoryStore {
    const { clock, maxIdentityCount, onBan = () => {} } = this.#options;
    const nowMs = clock.monotonicMs();
    if (this.#local !== undefined && nowMs - this.#localAskedMs > KEPT_MS) {
      void this.#local.close();
      this.#local = undefined;
    }
    this.#localAskedMs = nowMs;
    if (this.#local === undefined) {
      const { rules } = this.#shares;
      this.#local = new MemoryStore({ clock, rules, maxIdentityCount, onBan });
      void this.#local.start();
    }
    return this.#local;
  }
}

import type { BucketUsage, SecondaryUsage } from '../../model/decision.js';
import type { LimitRules } from '../../model/limit-store.js';
import type { Resource } from '../../model/resource.js';
import type { LimitKeys } from '../limit-keys.js';
import { escapeGlob, type RedisCalls } from './redis-calls.js';

export interface IdentityUse {
  readonly identity: string;
  readonly used: number;
}

/** Key parts of the secondary limits. */
const SUM_PARTS = ['cpu', 'cpug', 'cm', 'ch', 'th', 'h'];
/** Key parts that a reset keeps: the ban, and the slots of running requests. */
const KEPT_PARTS = ['ban', 'c'];

/** Returns the usage of identities, for `/rate_limit` and for operators. */
export class RedisUsage {
  readonly #calls: RedisCalls;
  readonly #keys: LimitKeys;
  readonly #rules: LimitRules;

  constructor(calls: RedisCalls, keys: LimitKeys, rules: LimitRules) {
    this.#calls = calls;
    this.#keys = keys;
    this.#rules = rules;
  }

  /**
   * Units reserved by a node count as used. `undefined` at the index of a resource without an open
   * window.
   */
  async primary(
    identity: string,
    resources: readonly Resource[],
  ): Promise<readonly (BucketUsage | undefined)[]> {
    const own = this.#keys.own(identity);
    const keys = resources.map(({ bucket }) => `${own}p:${bucket}`);
    const found = await this.#calls.call(own, (client) => client.rlUsage(keys.length, ...keys));
    return resources.map((_, index) => {
      const resetSec = found[2 * index + 1] ?? 0;
      return resetSec === 0 ? undefined : { used: found[2 * index] ?? 0, resetSec };
    });
  }

  async secondary(identity: string): Promise<SecondaryUsage> {
    const { minuteMs, hourMs } = this.#rules;
    const own = this.#keys.own(identity);
    const keys = ['cpu', 'cpug', 'cm', 'h', 'ch', 'c'].map((part) => own + part);
    const found = await this.#calls.call(own, (client) =>
      client.rlSecondary(keys.length, ...keys, minuteMs, hourMs),
    );
    const [cpu_ms = 0, cpu_graph_ms = 0, content_minute = 0, heavy = 0, content_hour = 0] = found;
    const concurrency = found[5] ?? 0;
    return {
      concurrency,
      cpu_ms,
      cpu_graph_ms,
      content_minute,
      content_hour,
      heavy,
      // Keys contain only hashes of endpoints, so their names are unknown.
      points: [],
    };
  }

  /** Deletes all counters of an identity, except its running requests and its ban. */
  async reset(identity: string, resources: readonly Resource[]): Promise<void> {
    const own = this.#keys.own(identity);
    // Deleted by name, because the scan has a limit. Counters that the scan misses expire within a
    // minute.
    const buckets = resources.map(({ bucket }) => `p:${bucket}`);
    const known = [...buckets, ...SUM_PARTS, 'rej'].map((part) => own + part);
    await this.#calls.call(own, (client) => client.unlink(...known));
    const retainedKeys = new Set(KEPT_PARTS.map((part) => own + part));
    await this.#calls.scanBeside(own, `${escapeGlob(own)}*`, async (keys) => {
      const gone = keys.filter((each) => !retainedKeys.has(each));
      if (gone.length > 0) await this.#calls.call(own, (client) => client.unlink(...gone));
    });
  }

  /** Returns the identities with the highest usage of a resource. */
  async top(resource: Resource, limit: number): Promise<readonly IdentityUse[]> {
    const best: IdentityUse[] = [];
    const { prefix } = this.#keys;
    const part = `p:${resource.bucket}`;
    await this.#calls.scanAll(`${escapeGlob(prefix)}{*}:${part}`, async (keys) => {
      const values = await Promise.all(
        keys.map((key) => this.#calls.call(key, (client) => client.get(key))),
      );
      for (const [index, key] of keys.entries()) {
        const identity = this.#keys.identityOf(key, part);
        best.push({ identity, used: Number(values[index] ?? 0) });
      }
      best.sort((a, b) => b.used - a.used).splice(limit);
    });
    return best;
  }
}

import type { Ban } from '../../model/decision.js';
import type { LimitKeys } from '../limit-keys.js';
import type { RedisCalls } from './redis-calls.js';

/**
 * Bans in Redis, stored as a key of each identity. A separate list of all bans serves operators.
 * The list may be on another server, so bans start and end without it.
 */
export class RedisBans {
  readonly #calls: RedisCalls;
  readonly #keys: LimitKeys;

  constructor(calls: RedisCalls, keys: LimitKeys) {
    this.#calls = calls;
    this.#keys = keys;
  }

  /** Starts a ban. `list` adds it to the list afterwards. */
  async begin(identity: string, durationMs: number): Promise<Ban> {
    const key = this.#keys.of(identity, 'ban');
    const [level, untilMs] = await this.#calls.call(key, (client) =>
      client.rlBan(1, key, durationMs),
    );
    return banOf(identity, level, untilMs);
  }

  /** Never rejects: a ban is in force even if it is missing from the list. */
  async list({ identity, untilSec }: Ban): Promise<void> {
    const { bans } = this.#keys;
    const added = this.#calls.call(bans, (client) => client.zadd(bans, untilSec * 1000, identity));
    await added.catch(() => {});
  }

  /** @returns whether the identity was banned. */
  async end(identity: string): Promise<boolean> {
    const ban = await this.find(identity);
    const key = this.#keys.of(identity, 'ban');
    await this.#calls.call(key, (client) => client.del(key, this.#keys.of(identity, 'rej')));
    const { bans } = this.#keys;
    // A stale entry is harmless, because bans are looked up before they are shown.
    await this.#calls.call(bans, (client) => client.zrem(bans, identity)).catch(() => {});
    return ban !== undefined;
  }

  async find(identity: string): Promise<Ban | undefined> {
    const key = this.#keys.of(identity, 'ban');
    const [level, untilMs = 0] = await this.#calls.call(key, (client) => client.rlBanOf(1, key));
    return level === undefined ? undefined : banOf(identity, level, untilMs);
  }

  /** Returns at most `limit` bans, those with the longest remaining time first. */
  async all(limit: number): Promise<readonly Ban[]> {
    const { bans } = this.#keys;
    const identities = await this.#calls.call(bans, (client) => client.rlBans(1, bans, limit));
    const found = await Promise.all(identities.map((identity) => this.find(identity)));
    return found.filter((ban) => ban !== undefined);
  }
}

export const banOf = (identity: string, level: number, untilMs: number): Ban => ({
  identity,
  untilSec: Math.ceil(untilMs / 1000),
  level,
});

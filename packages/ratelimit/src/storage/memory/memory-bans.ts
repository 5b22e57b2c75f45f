import type { Ban } from '../../model/decision.js';
import { BAN_MEMORY_MS, type LimitRules, REJECTION_WINDOW_MS } from '../../model/limit-store.js';
import type { SteadyTime } from '../steady-time.js';
import type { ExtraState, IdentityState } from './identity-state.js';
import type { IdentityTable } from './identity-table.js';

export interface MemoryBansDeps {
  readonly states: IdentityTable;
  readonly time: SteadyTime;
  readonly rules: LimitRules;
  readonly onBegin: (state: IdentityState, ban: Ban) => void;
}

/** Bans in a memory store, and the refusals that cause them. Source: rate-limits, section 9. */
export class MemoryBans {
  readonly #states: IdentityTable;
  readonly #time: SteadyTime;
  readonly #rules: LimitRules;
  readonly #onBegin: (state: IdentityState, ban: Ban) => void;

  constructor({ states, time, rules, onBegin }: MemoryBansDeps) {
    this.#states = states;
    this.#time = time;
    this.#rules = rules;
    this.#onBegin = onBegin;
  }

  /** Counts a refusal, and starts a ban when the threshold is reached. */
  countRejection(state: IdentityState, steadyMs: number): void {
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
    this.begin(state, Math.min(BAN_MEMORY_MS, this.#rules.banMs * 2 ** (level - 1)), steadyMs);
  }

  begin(state: IdentityState, durationMs: number, steadyMs: number): void {
    const extra = state.withExtra();
    extra.banLevel += 1;
    extra.bannedUntilMs = steadyMs + durationMs;
    extra.lastBanMs = extra.bannedUntilMs;
    this.#states.bannedKeys.add(state.key);
    this.#onBegin(state, this.#show(state.key, extra));
  }

  /** @returns whether the identity was banned. */
  end(state: IdentityState): boolean {
    const { extra } = state;
    if (extra === undefined) return false;
    const wasBanned = extra.bannedUntilMs > this.#time.steadyMs();
    extra.bannedUntilMs = 0;
    extra.banLevel = 0;
    extra.rejectionCount = 0;
    this.#states.bannedKeys.delete(state.key);
    return wasBanned;
  }

  find(key: string): Ban | undefined {
    const extra = this.#states.get(key)?.extra;
    if (extra === undefined || extra.bannedUntilMs <= this.#time.steadyMs()) return undefined;
    return this.#show(key, extra);
  }

  /** Returns at most `limit` bans, those with the longest remaining time first. */
  all(limit: number): readonly Ban[] {
    const found: Ban[] = [];
    for (const key of this.#states.bannedKeys) {
      const ban = this.find(key);
      if (ban === undefined) this.#states.bannedKeys.delete(key);
      else found.push(ban);
    }
    return found.sort((a, b) => b.untilSec - a.untilSec).slice(0, limit);
  }

  #show(identity: string, extra: ExtraState): Ban {
    const untilSec = Math.ceil((extra.bannedUntilMs - this.#time.offsetMs) / 1000);
    return { identity, untilSec, level: extra.banLevel };
  }
}

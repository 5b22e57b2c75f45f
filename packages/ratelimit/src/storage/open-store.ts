import type { Clock, Random } from '@plinth/kernel';
import { limitRules, type RateLimitConfig } from '../config.js';
import type { Ban } from '../model/decision.js';
import type { LimitStore } from '../model/limit-store.js';
import { GuardedStore } from './guarded-store.js';
import { MemoryStore } from './memory/memory-store.js';
import { RedisStore } from './redis/redis-store.js';

export interface StoreDeps {
  readonly config: RateLimitConfig;
  readonly clock: Clock;
  readonly random: Random;
  readonly onBan: (ban: Ban) => void;
  /** Called when Redis becomes unavailable or available. */
  readonly onChange: (isReachable: boolean) => void;
}

/** Returns the configured store, not started. */
export function openStore({ config, clock, random, onBan, onChange }: StoreDeps): LimitStore {
  const rules = limitRules(config);
  const maxIdentityCount = config.max_buckets;
  if (config.store === 'memory') return new MemoryStore({ clock, rules, maxIdentityCount, onBan });
  const shared = new RedisStore({
    url: config.redis_url,
    clock,
    random,
    prefix: config.redis_prefix,
    timeoutMs: config.redis_timeout_ms,
    reserve: config.redis_reserve,
    rules,
    onBan,
  });
  const mode = config.on_store_error;
  return new GuardedStore({ shared, mode, clock, rules, maxIdentityCount, onBan, onChange });
}

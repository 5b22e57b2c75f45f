import type { Clock } from '@plinth/kernel';
import type { RateLimitConfig } from '../config.js';
import type { LimitStore } from '../model/limit-store.js';
import { PrimaryLimitRules } from '../model/primary-limits.js';
import { ResourceTable } from '../model/resource.js';
import { Limiter } from './limiter.js';
import type { LimiterMetrics } from './limiter-metrics.js';
import { RejectionCounts } from './rejection-counts.js';

/** Creates a limiter from the settings and an opened store. */
export function makeLimiter(deps: {
  readonly config: RateLimitConfig;
  readonly store: LimitStore;
  readonly clock: Clock;
  readonly metrics: LimiterMetrics;
}): Limiter {
  const { config, store, clock, metrics } = deps;
  const resources = new ResourceTable(config.resources, config.test_window_seconds);
  const scaling = { excessOnly: config.scaling_excess_only, cap: config.scaling_cap };
  const shadowed = Object.entries(config.resources).filter(([, { shadow }]) => shadow);
  return new Limiter({
    store,
    resources,
    rules: new PrimaryLimitRules(resources, scaling),
    clock,
    metrics,
    rejections: new RejectionCounts(clock),
    isShadow: config.shadow,
    shadowResources: new Set(shadowed.map(([name]) => name)),
  });
}

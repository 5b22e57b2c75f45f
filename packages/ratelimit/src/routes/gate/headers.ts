import type { Clock, HeaderList } from '@plinth/kernel';
import type { RateLimitConfig } from '../../config.js';
import type { Admission } from '../../model/limit-store.js';
import { UNLIMITED } from '../../model/resource.js';

/** Returns the rate limit headers for every response. Source: rate-limits, sections 5.2 and 5.4. */
export function headerList(
  { limit, used, resetSec, plan }: Pick<Admission, 'limit' | 'used' | 'resetSec' | 'plan'>,
  options: { readonly windowSec: number; readonly clock: Clock; readonly hasIetfHeaders: boolean },
): HeaderList {
  if (limit === UNLIMITED) return [];
  const remaining = limit > used ? limit - used : 0;
  const { name } = plan.resource;
  const headers: [string, string][] = [
    ['x-ratelimit-limit', String(limit)],
    ['x-ratelimit-remaining', String(remaining)],
    ['x-ratelimit-used', String(used)],
    ['x-ratelimit-reset', String(resetSec)],
    ['x-ratelimit-resource', name],
  ];
  if (options.hasIetfHeaders) {
    const leftSec = Math.max(0, Math.ceil(resetSec - options.clock.nowMs() / 1000));
    headers.push(['ratelimit-policy', `"${name}";q=${limit};w=${options.windowSec}`]);
    headers.push(['ratelimit', `"${name}";r=${remaining};t=${leftSec}`]);
  }
  return headers;
}

/** Returns the header that names the exceeded limit, if enabled. Source: rate-limits, section 5.2. */
export const limitedByHeaderOf = (config: Pick<RateLimitConfig, 'vendor_name'>): string =>
  `x-${config.vendor_name.toLowerCase()}-limited-by`;

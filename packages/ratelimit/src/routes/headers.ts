import type { RateLimitConfig } from '../config.js';
import type { Decision } from '../model/decision.js';
import type { Plan } from '../model/plan.js';
import { UNLIMITED } from '../model/resource.js';

export type HeaderSink = (name: string, value: string) => void;

export interface HeaderOptions {
  readonly hasIetfHeaders: boolean;
}

/** Headers about the bucket of a request, on every answer. Source: rate-limits, sections 5.2 and 5.4. */
export function writeHeaders(
  decision: Decision,
  plan: Plan,
  at: { readonly windowSec: number; readonly nowMs: number } & HeaderOptions,
  write: HeaderSink,
): void {
  const { limit, used, resetSec } = decision;
  if (limit === UNLIMITED) return;
  const remaining = limit > used ? limit - used : 0;
  const { name } = plan.resource;
  write('x-ratelimit-limit', String(limit));
  write('x-ratelimit-remaining', String(remaining));
  write('x-ratelimit-used', String(used));
  write('x-ratelimit-reset', String(resetSec));
  write('x-ratelimit-resource', name);
  if (!at.hasIetfHeaders) return;
  const leftSec = Math.max(0, Math.ceil(resetSec - at.nowMs / 1000));
  write('ratelimit-policy', `"${name}";q=${limit};w=${at.windowSec}`);
  write('ratelimit', `"${name}";r=${remaining};t=${leftSec}`);
}

/** Names the limit of a refusal, where the operator wants that to be known. Source: rate-limits, section 5.2. */
export const limitedByHeaderOf = (config: Pick<RateLimitConfig, 'vendor_name'>): string =>
  `x-${config.vendor_name.toLowerCase()}-limited-by`;

/** Headers of ours that scripts of other origins may read. */
export const EXPOSED_HEADERS =
  'ETag, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Used, X-RateLimit-Resource, X-RateLimit-Reset';

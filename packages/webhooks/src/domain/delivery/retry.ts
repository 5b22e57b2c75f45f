import type { RetryPolicy } from '../../model/hook.js';

/** Delay in seconds before each retry. Source: webhooks, section 7.3. */
const STANDARD_SEC = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
const JITTER = 0.2;
const MAX_RETRY_AFTER_MS = 86_400_000;

/** Returns the number of milliseconds until the next attempt; undefined after the last one. */
export function retryDelayMs(options: {
  readonly policy: RetryPolicy;
  /** Number of attempts so far, at least 1. */
  readonly attemptNo: number;
  /** Delay from the receiver's `Retry-After`. */
  readonly retryAfterMs: number | undefined;
  /** A random number, uniform in [0, 1). */
  readonly chance: number;
}): number | undefined {
  const { policy, attemptNo, retryAfterMs = 0, chance } = options;
  const delayMs = scheduledMs(policy, attemptNo, chance);
  if (delayMs === undefined) return undefined;
  return Math.max(delayMs, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
}

/** Returns the delay in seconds before each retry, without jitter. */
export function retryDelaysSec({ policy, schedule = [] }: RetryPolicy): readonly number[] {
  if (policy === 'none') return [];
  return policy === 'standard' ? STANDARD_SEC : schedule;
}

function scheduledMs(policy: RetryPolicy, attemptNo: number, chance: number): number | undefined {
  const delaySec = retryDelaysSec(policy)[attemptNo - 1];
  if (delaySec === undefined) return undefined;
  const jitter = policy.policy === 'standard' ? JITTER * (2 * chance - 1) : 0;
  return delaySec * 1000 * (1 + jitter);
}

/** Whether an event is kept for the operator after its last attempt failed. */
export const keepsDead = (policy: RetryPolicy): boolean => policy.policy !== 'none';

/**
 * Returns the number of milliseconds until the time in a `Retry-After` header, which contains
 * seconds or a date.
 */
export function parseRetryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

import type { Caller } from '../../model/caller.js';
import type { Decision, LimitKind } from '../../model/decision.js';
import { CONCURRENCY_RETRY_SEC, type LimitRules } from '../../model/limit-store.js';
import type { Plan } from '../../model/plan.js';
import { type Resource, UNLIMITED } from '../../model/resource.js';

/**
 * An admission has only the first two members, unless units were reserved or a ban started;
 * `waitMs` is then the time until the window ends.
 */
export type ScriptResponse = [
  used: number,
  resetSec: number,
  kind?: string,
  waitMs?: number,
  banLevel?: number,
  bannedUntilMs?: number,
  aheadCount?: number,
];

/** Returns the name of a bucket on this node. */
export const bucketOf = (identity: string, { bucket }: Resource): string => `${identity} ${bucket}`;

/** A decision of Redis, with the charges that this node still has to settle. */
export interface RedisAdmission extends Decision {
  readonly caller: Caller;
  readonly plan: Plan;
  used: number;
  slotId: string;
  owedCpuMs: number;
  startedMs: number;
  /** Timestamps of the slot's acquisition and of the last heartbeat that Redis received for it. */
  slotSinceMs: number;
  lastHeartbeatMs: number;
  onTick: (() => void) | undefined;
}

/** Converts a script result to a decision without pending charges. */
export function toAdmission(
  caller: Caller,
  plan: Plan,
  [used, resetSec, kind = '', waitMs = 0]: ScriptResponse,
  rules: LimitRules,
): RedisAdmission {
  const limitedBy = kind === '' ? undefined : (kind as LimitKind); // the script returns only kinds that this code passed to it
  return {
    isAllowed: limitedBy === undefined,
    limitedBy,
    limit: caller.limits.limit[plan.resource.index] ?? UNLIMITED,
    used,
    resetSec,
    retryAfterSec: limitedBy === undefined ? 0 : waitSec(limitedBy, waitMs, rules),
    caller,
    plan,
    slotId: '',
    owedCpuMs: 0,
    startedMs: 0,
    slotSinceMs: 0,
    lastHeartbeatMs: 0,
    onTick: undefined,
  };
}

function waitSec(kind: LimitKind, waitMs: number, rules: LimitRules): number {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  if (kind === 'primary' || kind === 'ban') return seconds;
  if (kind === 'concurrency') return CONCURRENCY_RETRY_SEC;
  const isOfHour = kind === 'content_hour' || kind === 'token_creation';
  const windowSec = Math.ceil((isOfHour ? rules.hourMs : rules.minuteMs) / 1000);
  return Math.max(rules.minRetryAfterSec, Math.min(windowSec, seconds));
}

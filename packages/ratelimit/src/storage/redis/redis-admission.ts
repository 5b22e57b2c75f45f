import type { Caller } from '../../model/caller.js';
import type { Decision, LimitKind } from '../../model/decision.js';
import { CONCURRENCY_RETRY_SEC, type LimitRules } from '../../model/limit-store.js';
import type { Plan } from '../../model/plan.js';
import { type Resource, UNLIMITED } from '../../model/resource.js';

/**
 * Of an admission the first two alone, unless units were taken ahead or a ban began; the wait is then that for the
 * window's end.
 */
export type ScriptAnswer = [
  used: number,
  resetSec: number,
  kind?: string,
  waitMs?: number,
  banLevel?: number,
  bannedUntilMs?: number,
  aheadCount?: number,
];

/** The name of a bucket on this node. */
export const bucketOf = (identity: string, { bucket }: Resource): string => `${identity} ${bucket}`;

/** A decision of Redis, and what this node still owes for it. */
export interface RedisAdmission extends Decision {
  readonly caller: Caller;
  readonly plan: Plan;
  used: number;
  slotId: string;
  owedCpuMs: number;
  startedMs: number;
  /** When its slot was taken, and when Redis last heard that it is. */
  slotSinceMs: number;
  slotHeardMs: number;
  onTick: (() => void) | undefined;
}

/** Takes an answer of the scripts for a decision; nothing is owed for it yet. */
export function toAdmission(
  caller: Caller,
  plan: Plan,
  [used, resetSec, kind = '', waitMs = 0]: ScriptAnswer,
  rules: LimitRules,
): RedisAdmission {
  const limitedBy = kind === '' ? undefined : (kind as LimitKind); // names went there from here
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
    slotHeardMs: 0,
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

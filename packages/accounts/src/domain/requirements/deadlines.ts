import type { DeadlineStatus } from '../../model/account/requirements.js';
import type { Capability, MissingField } from './missing-field.js';
import type { RequirementsContext } from './requirements-context.js';

const DAY_MS = 86_400_000;
const STRICTNESS: Readonly<Record<DeadlineStatus, number>> = {
  past_due: 2,
  currently_due: 1,
  eventually_due: 0,
};

/**
 * Returns the instant at which a missing field becomes past due for a capability. Source: accounts,
 * section 16.3.
 */
export function dueMsOf(
  context: RequirementsContext,
  missingField: MissingField,
  capability: Capability,
): number {
  const { account, input } = context;
  const { requirements_enforcement: modes, requirements_grace_seconds: graceSec } = input.platform;
  const isDeferred = modes[account.livemode ? 'live' : 'test'] === 'deferred';
  const graceCount = (isDeferred ? 1 : 0) + (missingField.extraGraceCount ?? 0);
  const firstMs = account.applied[capability.configuration]?.firstMs ?? account.createdMs;
  return firstMs + graceCount * graceSec * 1000;
}

/**
 * Returns the status of a field: it is currently due on the last day before it becomes past due.
 */
export function statusAt(dueMs: number, nowMs: number): DeadlineStatus {
  if (nowMs >= dueMs) return 'past_due';
  return nowMs >= dueMs - DAY_MS ? 'currently_due' : 'eventually_due';
}

/** Returns the next instant at which the status of a field that is not past due changes. */
export function nextChangeMs(dueMs: number, nowMs: number): number {
  return dueMs - DAY_MS > nowMs ? dueMs - DAY_MS : dueMs;
}

export function strictest(statuses: readonly DeadlineStatus[]): DeadlineStatus {
  return statuses.reduce(
    (found, status) => (STRICTNESS[status] > STRICTNESS[found] ? status : found),
    'eventually_due',
  );
}

export function earliest(instantsMs: readonly (number | undefined)[]): number | undefined {
  const known = instantsMs.filter((instantMs) => instantMs !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

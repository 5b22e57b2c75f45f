import type { Account, DeadlineStatus, Requirement } from './account.js';

/** A capability of a configuration, with the requirements that restrict it. */
export interface CapabilityState {
  readonly configuration: string;
  readonly capability: string;
  readonly status: string;
  readonly details: readonly { readonly code: string; readonly resolution: string }[];
  readonly restrictedBy: readonly Requirement[];
}

interface StoredCapability {
  readonly status: string;
  readonly status_details?: CapabilityState['details'];
}

/** Returns all capabilities of an account. Nested ones are named by their path, such as `balance.payouts`. */
export function capabilitiesOf({ configuration, requirements }: Account): CapabilityState[] {
  const entries = requirements?.entries ?? [];
  return Object.entries(configuration).flatMap(([name, stored]) =>
    leavesOf(stored?.capabilities ?? {}, '').map(
      ([capability, { status, status_details = [] }]) => ({
        configuration: name,
        capability,
        status,
        details: status_details,
        restrictedBy: entries.filter(({ impact }) =>
          impact.restricts_capabilities.some(
            (each) => each.configuration === name && each.capability === capability,
          ),
        ),
      }),
    ),
  );
}

function leavesOf(
  node: Readonly<Record<string, unknown>>,
  path: string,
): [string, StoredCapability][] {
  return Object.entries(node).flatMap(([name, value]): [string, StoredCapability][] => {
    if (typeof value !== 'object' || value === null) return [];
    const own = path === '' ? name : `${path}.${name}`;
    return 'status' in value
      ? [[own, value as StoredCapability]] // the wire format of a capability
      : leavesOf(value as Record<string, unknown>, own);
  });
}

const MAX_NAMED_COUNT = 8;

/** Explains why a capability is not active. Names each field once, even if it is missing for several persons. */
export function reasonText({ details, restrictedBy }: CapabilityState): string {
  const codes = details.map(
    ({ code, resolution }) => `${statusText(code)} (${statusText(resolution)})`,
  );
  const fields = [...new Set(restrictedBy.map(({ description }) => fieldName(description)))];
  const more = fields.length - MAX_NAMED_COUNT;
  return [
    ...codes,
    ...fields.slice(0, MAX_NAMED_COUNT),
    ...(more > 0 ? [`${more} more`] : []),
  ].join(', ');
}

const ORDER: readonly DeadlineStatus[] = ['past_due', 'currently_due', 'eventually_due'];

/** Sorts the requirements, with the earliest deadline first. */
export const byDeadline = (entries: readonly Requirement[]): readonly Requirement[] =>
  [...entries].sort(
    (a, b) => ORDER.indexOf(a.minimum_deadline.status) - ORDER.indexOf(b.minimum_deadline.status),
  );

/** `Address: line 1` for `identity.business_details.address.line1`. */
export function fieldName(path: string): string {
  const words = path
    .split('.')
    .slice(-2)
    .map((part) => part.replaceAll('_', ' ').replace(/([a-z])(\d)/g, '$1 $2'));
  const [last = path, parent] = [...words].reverse();
  const isGeneric = parent === undefined || /details$|^(?:identity|defaults|profile)$/.test(parent);
  const text = isGeneric ? last : `${parent}: ${last}`;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export const statusText = (status: string): string => status.replaceAll('_', ' ');

/** `2 past due · 6 later`, or `Nothing due`. */
export function requirementSummary(entries: readonly Requirement[]): string {
  const count = (...statuses: readonly DeadlineStatus[]) =>
    entries.filter(({ minimum_deadline }) => statuses.includes(minimum_deadline.status)).length;
  const parts = [
    [count('past_due'), 'past due'],
    [count('currently_due'), 'due now'],
    [count('eventually_due'), 'later'],
  ] as const;
  const shown = parts.flatMap(([number, what]) => (number === 0 ? [] : [`${number} ${what}`]));
  return shown.length === 0 ? 'Nothing due' : shown.join(' · ');
}

import type { Collector, Dashboard } from '../platform/platform-settings.js';
import type { CapabilityTree, StoredAccount } from './account.js';
import { CONFIGURATION_NAMES, type ConfigurationName } from './configuration-name.js';
import type { RequestFields } from './parts.js';

/** Derives the requirements collector from dashboard and losses. Source: accounts, section 8.5. */
export function requirementsCollectorOf(options: {
  readonly dashboard: Dashboard | undefined;
  readonly losses: Collector | undefined;
}): Collector {
  return options.dashboard === 'none' && options.losses === 'application'
    ? 'application'
    : 'vendor';
}

/** Applied configurations that are not deactivated, in wire order. */
export function appliedConfigurations(account: StoredAccount): readonly ConfigurationName[] {
  return CONFIGURATION_NAMES.filter((name) => account.applied[name]?.isActive === true);
}

export function isMerchantOrRecipient(account: StoredAccount): boolean {
  return (
    account.applied.merchant?.isActive === true || account.applied.recipient?.isActive === true
  );
}

export interface NamedCapability {
  /** Capability id, such as `card_payments` or `bank_accounts.local`. */
  readonly id: string;
  readonly requested: boolean;
}

/** Leaves of a capability tree that set `requested`, in document order. */
export function capabilityRequests(
  tree: CapabilityTree | RequestFields<CapabilityTree> | null | undefined,
): NamedCapability[] {
  return collect(tree, '');
}

function collect(tree: unknown, prefix: string): NamedCapability[] {
  if (typeof tree !== 'object' || tree === null) return [];
  return Object.entries(tree).flatMap(([name, value]): NamedCapability[] => {
    const requested: unknown =
      typeof value === 'object' && value !== null && Object.hasOwn(value, 'requested')
        ? Reflect.get(value, 'requested')
        : undefined;
    const id = `${prefix}${name}`;
    return typeof requested === 'boolean' ? [{ id, requested }] : collect(value, `${id}.`);
  });
}

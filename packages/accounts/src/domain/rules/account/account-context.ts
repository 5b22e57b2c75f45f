import type { AccountFields } from '../../../model/account/account.js';
import {
  CONFIGURATION_NAMES,
  type ConfigurationName,
} from '../../../model/account/configuration-name.js';
import { requirementsCollectorOf } from '../../../model/account/derived.js';
import type {
  Collector,
  Dashboard,
  FeesCollector,
} from '../../../model/platform/platform-settings.js';
import type { AccountCheck } from '../../../model/rule-input.js';

/**
 * Dashboard and collectors after the request. The platform's defaults apply only if a merchant or recipient
 * configuration is applied; otherwise values that the account does not set are `undefined`.
 */
export interface Responsibilities {
  readonly dashboard: Dashboard | undefined;
  readonly fees: FeesCollector | undefined;
  readonly losses: Collector | undefined;
  readonly requirements: Collector;
}

/** An account write with values that several rules need. */
export interface AccountContext extends AccountCheck {
  /** The fields of the merged account. */
  readonly fields: AccountFields;
  readonly isCreate: boolean;
  readonly appliedAfter: ReadonlySet<ConfigurationName>;
  readonly newlyApplied: ReadonlySet<ConfigurationName>;
  /** Whether a merchant or recipient configuration is applied after the request. */
  readonly isBusiness: boolean;
  /** Whether the request newly applies a merchant or recipient configuration. */
  readonly becomesBusiness: boolean;
  readonly responsibilities: Responsibilities;
  readonly country: string | undefined;
}

export function accountContext(check: AccountCheck): AccountContext {
  const { stored, merged } = check;
  const appliedAfter = new Set(
    CONFIGURATION_NAMES.filter((name) => merged.applied[name]?.isActive),
  );
  const newlyApplied = new Set(
    [...appliedAfter].filter((name) => stored?.applied[name]?.isActive !== true),
  );
  const isBusiness = appliedAfter.has('merchant') || appliedAfter.has('recipient');
  return {
    fields: merged.fields,
    isCreate: check.operation === 'create',
    appliedAfter,
    newlyApplied,
    isBusiness,
    becomesBusiness: newlyApplied.has('merchant') || newlyApplied.has('recipient'),
    responsibilities: responsibilitiesOf(check, isBusiness),
    country: merged.fields.identity?.country,
    // The spread is last, because each member after a spread costs a microsecond.
    ...check,
  };
}

function responsibilitiesOf(check: AccountCheck, isBusiness: boolean): Responsibilities {
  const { fields } = check.merged;
  const stated = fields.defaults?.responsibilities;
  const defaults = isBusiness ? check.platform.default_responsibilities : undefined;
  const dashboard =
    fields.dashboard ?? (isBusiness ? check.platform.default_dashboard : undefined) ?? undefined;
  const losses = stated?.losses_collector ?? defaults?.losses;
  return {
    dashboard,
    fees: stated?.fees_collector ?? defaults?.fees,
    losses,
    requirements: requirementsCollectorOf({ dashboard, losses }),
  };
}

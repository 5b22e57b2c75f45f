import type {
  CapabilityStatus,
  DeadlineStatus,
  RequirementEntry,
} from '../../model/account/requirements.js';
import { capabilityRow, isOfferedIn, isOfferedTo } from '../reference/capabilities.js';
import { isCountryOf } from '../reference/countries.js';
import { isEntityTypeIn } from '../reference/entity-types.js';
import { hasTaxCountry } from './missing-business-fields.js';
import type { Capability } from './missing-field.js';
import { PAYOUTS, type RequirementsContext } from './requirements-context.js';

type Detail = CapabilityStatus['status_details'][number];

const ACTIVE: CapabilityStatus = { status: 'active', status_details: [] };

/**
 * Returns the status of a capability, which depends on the first reason that prevents it from being
 * active. Source: accounts, section 16.4.
 */
export function statusOf(
  context: RequirementsContext,
  capability: Capability,
  options: {
    readonly entries: readonly RequirementEntry[];
    readonly rejection: string | undefined;
  },
): CapabilityStatus {
  if (options.rejection !== undefined) {
    return because('rejected', `rejected_${options.rejection}`, 'contact_vendor');
  }
  const unsupported = whyUnsupported(context, capability);
  if (unsupported !== undefined) return because('unsupported', unsupported, 'no_resolution');
  const restricts = (entry: RequirementEntry, status?: DeadlineStatus): boolean =>
    entry.impact.restricts_capabilities.some(
      (restricted) =>
        restricted.capability === capability.id &&
        restricted.configuration === capability.configuration &&
        (status === undefined || restricted.deadline.status === status),
    );
  const { entries } = options;
  if (entries.some((one) => one.awaiting_action_from === 'user' && restricts(one, 'past_due'))) {
    return because('restricted', 'requirements_past_due', 'provide_info');
  }
  if (entries.some((one) => one.awaiting_action_from === 'vendor' && restricts(one))) {
    return because('pending', 'requirements_pending_verification', 'no_resolution');
  }
  return capability.configuration === 'customer' && !hasTaxCountry(context)
    ? because('pending', 'determining_status', 'provide_info')
    : ACTIVE;
}

function whyUnsupported(context: RequirementsContext, capability: Capability): string | undefined {
  const { country, entityType } = context;
  const { configuration, id } = capability;
  if (country === undefined || configuration === 'customer') return undefined;
  const row = capabilityRow(configuration, id);
  const isOffered =
    id === PAYOUTS
      ? isCountryOf('merchant', country) ||
        (configuration === 'recipient' && isCountryOf('recipient_only', country))
      : row !== undefined && isOfferedIn(row, country);
  if (!isOffered) return 'unsupported_country';
  if (entityType === undefined) return undefined;
  const isForType =
    isEntityTypeIn(entityType, country) &&
    (row === undefined || isOfferedTo(row, { country, entityType }));
  return isForType ? undefined : 'unsupported_entity_type';
}

function because(
  status: CapabilityStatus['status'],
  code: string,
  resolution: Detail['resolution'],
): CapabilityStatus {
  return { status, status_details: [{ code, resolution }] };
}

import type { AccountFields } from '../../../model/account/account.js';
import {
  CONFIGURATION_NAMES,
  type ConfigurationName,
} from '../../../model/account/configuration-name.js';
import { capabilityRequests } from '../../../model/account/derived.js';
import type { Violation } from '../../../model/violation.js';
import {
  type CapabilityRow,
  capabilityRow,
  isOfferedIn,
  isOfferedTo,
} from '../../reference/capabilities.js';
import { firstOf, firstViolation, quote, violate } from '../violate.js';
import type { AccountContext } from './account-context.js';

interface CapabilityContext {
  readonly account: AccountContext;
  readonly owner: ConfigurationName;
  readonly id: string;
  readonly row: CapabilityRow;
  /** Path such as `configuration.merchant.capabilities.card_payments`. */
  readonly path: string;
  readonly requestedBefore: ReadonlySet<string>;
  readonly requestedAfter: ReadonlySet<string>;
}

/** Checks requested and removed capabilities (step 17). */
export function checkCapabilities(context: AccountContext): Violation | undefined {
  return firstOf(CONFIGURATION_NAMES, (owner) => {
    const sent = capabilityRequests(context.requestFields.configuration?.[owner]?.capabilities);
    const requestedBefore = requestedIn(context.stored?.fields, owner);
    const requestedAfter = requestedIn(context.fields, owner);
    const contextOf = (id: string): CapabilityContext => ({
      account: context,
      owner,
      id,
      row: capabilityRow(owner, id) ?? { in: [] },
      path: `configuration.${owner}.capabilities.${id}`,
      requestedBefore,
      requestedAfter,
    });
    return (
      firstOf(sent, ({ id, requested }) =>
        requested ? undefined : checkUnrequested(contextOf(id)),
      ) ??
      firstOf(sent, ({ id, requested }) =>
        requested ? firstViolation(REQUESTED_RULES, contextOf(id)) : undefined,
      ) ??
      firstOf(context.provided.has('dashboard') ? requestedAfter : [], (id) =>
        checkDashboard(contextOf(id)),
      )
    );
  });
}

const REQUESTED_RULES = [
  checkPlatformCountry,
  checkCountry,
  checkEntityType,
  checkDashboard,
  checkLossCollector,
  checkNeeds,
  checkNeedsInCountry,
];

/**
 * A capability cannot be removed if another requested one requires it (row 28). If it was not
 * requested before, `checkNeeds` and `checkNeedsInCountry` reject it instead.
 */
function checkUnrequested(context: CapabilityContext): Violation | undefined {
  if (!context.requestedBefore.has(context.id)) return undefined;
  const dependent = [...context.requestedAfter].find((id) => {
    const row = capabilityRow(context.owner, id);
    return [...(row?.needs ?? []), ...neededInCountry(row, context.account.country)].includes(
      context.id,
    );
  });
  if (dependent === undefined) return undefined;
  return violate('capability_cannot_be_unrequested_due_to_other_capability_requirement', {
    param: context.path,
    message: `${context.path} cannot be removed: ${dependent} requires it.`,
  });
}

/** The capability must be available to platforms in this country (row 33). */
function checkPlatformCountry({ account, id, path }: CapabilityContext): Violation | undefined {
  const { country, platform_country_capabilities_denied: denied } = account.platform;
  if (!denied[id]?.includes(country)) return undefined;
  return violate('capability_not_available_in_platform_country', {
    param: path,
    message: `Platforms in ${country} cannot request ${path}.`,
  });
}

/** The capability must be available in the account's country (row 32). */
function checkCountry({ account, row, path }: CapabilityContext): Violation | undefined {
  const { country } = account;
  if (country === undefined || isOfferedIn(row, country)) return undefined;
  return violate('capability_not_available_in_country', {
    param: path,
    message: `${path} is not available in ${country}.`,
  });
}

/** The capability must be available for the entity type (row 30). */
function checkEntityType({ account, row, path }: CapabilityContext): Violation | undefined {
  const { country } = account;
  const entityType = account.fields.identity?.entity_type;
  if (country === undefined || entityType === undefined) return undefined;
  if (isOfferedTo(row, { country, entityType })) return undefined;
  return violate('capability_not_available_for_entity_type_in_country', {
    param: path,
    message: `${path} is not available for the entity type ${quote(entityType)} in ${country}.`,
  });
}

/** The capability must be available with the dashboard (row 29). */
function checkDashboard({ account, row, path }: CapabilityContext): Violation | undefined {
  const { dashboard } = account.responsibilities;
  if (dashboard === undefined || !row.not_on_dashboards?.includes(dashboard)) return undefined;
  return violate('capability_not_available_for_dashboard_type', {
    param: path,
    message: `${path} is not available with the dashboard ${quote(dashboard)}.`,
  });
}

/** The capability must be available with this losses collector (row 31). */
function checkLossCollector({ account, row, path }: CapabilityContext): Violation | undefined {
  if (!row.not_with_vendor_losses || account.responsibilities.losses !== 'vendor') return undefined;
  return violate('capability_not_available_for_loss_collector', {
    param: path,
    message: `${path} is not available while defaults.responsibilities.losses_collector is "vendor".`,
  });
}

/** Capabilities that this one requires must be requested (row 34). */
function checkNeeds({ row, path, requestedAfter }: CapabilityContext): Violation | undefined {
  const missing = (row.needs ?? []).find((id) => !requestedAfter.has(id));
  if (missing === undefined) return undefined;
  return violate('capability_not_available_without_other_capability', {
    param: path,
    message: `${path} can be requested only if ${missing} is also requested.`,
  });
}

/** Capabilities that this one requires in the account's country must be requested (row 35). */
function checkNeedsInCountry(context: CapabilityContext): Violation | undefined {
  const { country } = context.account;
  const missing = neededInCountry(context.row, country).find(
    (id) => !context.requestedAfter.has(id),
  );
  if (missing === undefined) return undefined;
  return violate('capability_not_available_without_other_capability_in_country', {
    param: context.path,
    message: `${context.path} can be requested in ${country} only if ${missing} is also requested.`,
  });
}

function requestedIn(
  fields: AccountFields | undefined,
  owner: ConfigurationName,
): ReadonlySet<string> {
  const found = capabilityRequests(fields?.configuration?.[owner]?.capabilities);
  return new Set(found.filter(({ requested }) => requested).map(({ id }) => id));
}

function neededInCountry(
  row: CapabilityRow | undefined,
  country: string | undefined,
): readonly string[] {
  return (country !== undefined ? row?.needs_in_country?.[country] : undefined) ?? [];
}

import {
  CONFIGURATION_NAMES,
  type ConfigurationName,
} from '../../../model/account/configuration-name.js';
import { capabilityRequests } from '../../../model/account/derived.js';
import type { Violation } from '../../../model/violation.js';
import { firstOf, firstViolation, quote, violate } from '../violate.js';
import type { AccountContext } from './account-context.js';

/**
 * Checks which configurations and capabilities the platform offers, and changes to deactivated ones
 * (step 11).
 */
export function checkConfigurations(context: AccountContext): Violation | undefined {
  return firstViolation(
    [
      checkHighRiskActivities,
      checkPurposeDescription,
      checkEnabledCapabilities,
      checkEnabledConfigurations,
      checkDeactivations,
    ],
    context,
  );
}

/** The value `none` must be the only one (row 52). */
function checkHighRiskActivities(context: AccountContext): Violation | undefined {
  const activities = context.requestFields.configuration?.storer?.high_risk_activities ?? [];
  if (!activities.includes('none') || activities.every((name) => name === 'none')) return undefined;
  return violate('high_risk_activities_none_cant_be_combined_with_other_options', {
    param: 'configuration.storer.high_risk_activities',
    message: `configuration.storer.high_risk_activities cannot combine "none" with other values: ${activities.join(', ')}.`,
  });
}

/** A description of the purpose is only allowed with `other` (row 74). */
function checkPurposeDescription(context: AccountContext): Violation | undefined {
  const path = 'configuration.storer';
  if (
    !context.provided.hasAny([`${path}.purpose_of_funds`, `${path}.purpose_of_funds_description`])
  ) {
    return undefined;
  }
  const storer = context.fields.configuration?.storer;
  if (!storer?.purpose_of_funds_description || storer.purpose_of_funds === 'other')
    return undefined;
  const purpose = storer.purpose_of_funds;
  return violate('purpose_of_funds_description_must_be_empty_for_non_other_purpose_of_funds', {
    param: `${path}.purpose_of_funds_description`,
    message: `${path}.purpose_of_funds_description is allowed only if purpose_of_funds is "other", not ${purpose ? quote(purpose) : 'unset'}.`,
  });
}

/** The platform must not have disabled the capability (row 1). */
function checkEnabledCapabilities(context: AccountContext): Violation | undefined {
  return firstOf(CONFIGURATION_NAMES, (name) =>
    firstOf(
      capabilityRequests(context.requestFields.configuration?.[name]?.capabilities),
      (capability) => {
        const { id, requested } = capability;
        if (!requested || !context.platform.disabled_capabilities.includes(id)) return undefined;
        return violate('account_capability_not_supported', {
          param: `configuration.${name}.capabilities.${id}`,
          message: `configuration.${name}.capabilities.${id} cannot be requested on this platform.`,
        });
      },
    ),
  );
}

/** The platform must offer the configuration (row 2). */
function checkEnabledConfigurations(context: AccountContext): Violation | undefined {
  const { disabled_configurations: disabled, storer_preview: hasStorer } = context.platform;
  const provided = [...CONFIGURATION_NAMES, 'storer' as const].filter(
    (name) => context.requestFields.configuration?.[name],
  );
  return firstOf(provided, (name) => {
    if (!disabled.includes(name) && (name !== 'storer' || hasStorer)) return undefined;
    return violate('account_configuration_not_supported', {
      param: `configuration.${name}`,
      message: `configuration.${name} is not available on this platform.`,
    });
  });
}

/** A configuration that is in use cannot be deactivated (section 10.4). */
function checkDeactivations(context: AccountContext): Violation | undefined {
  return firstOf(CONFIGURATION_NAMES, (name) => {
    const sent = context.requestFields.configuration?.[name];
    if (!sent || context.stored === undefined) return undefined;
    const isActive = context.stored.applied[name]?.isActive;
    const wants = 'applied' in sent ? sent.applied : undefined;
    if (wants === false) return checkDeactivation(context, name);
    if (isActive !== false || wants === true) return undefined;
    return violate('configuration_cannot_be_updated_while_deactivated', {
      param: `configuration.${name}`,
      message: `configuration.${name} is deactivated; set configuration.${name}.applied to true to use it again.`,
    });
  });
}

function checkDeactivation(
  context: AccountContext,
  name: ConfigurationName,
): Violation | undefined {
  const param = `configuration.${name}.applied`;
  if (name === 'merchant' && context.appliedAfter.has('recipient') && hasTransfers(context)) {
    return violate('configuration_cannot_be_deactivated_due_to_other_capability_requirement', {
      param,
      message: `${param} cannot be false: configuration.recipient.capabilities.vendor_balance.vendor_transfers requires configuration.merchant.`,
    });
  }
  if (
    name === 'customer' &&
    context.platform.unified_accounts_beta &&
    context.appliedAfter.has('merchant')
  ) {
    return violate('configuration_cannot_be_deactivated_due_to_other_configuration', {
      param,
      message: `${param} cannot be false while configuration.merchant is applied.`,
    });
  }
  if (name === 'merchant' && context.livemode && hasActiveCapability(context, name)) {
    return violate('configuration_cannot_be_deactivated', {
      param,
      message: `${param} cannot be false while capabilities of the configuration are active.`,
    });
  }
  return undefined;
}

function hasTransfers(context: AccountContext): boolean {
  return capabilityRequests(context.fields.configuration?.recipient?.capabilities).some(
    ({ id, requested }) => requested && id === 'vendor_balance.vendor_transfers',
  );
}

function hasActiveCapability(context: AccountContext, name: ConfigurationName): boolean {
  return Object.entries(context.stored?.capabilities ?? {}).some(
    ([id, { status }]) => id.startsWith(`${name}.`) && status === 'active',
  );
}

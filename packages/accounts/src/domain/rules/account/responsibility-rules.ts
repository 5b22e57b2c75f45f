import type {
  Collector,
  Dashboard,
  FeesCollector,
} from '../../../model/platform/platform-settings.js';
import type { Violation } from '../../../model/violation.js';
import { isPairAllowed } from '../../reference/cross-border.js';
import { firstOf, firstViolation, quote, violate } from '../violate.js';
import type { AccountContext } from './account-context.js';

const BLOCK = 'defaults.responsibilities';
/** Members of `identity` that must come from the person directly if tokens are mandatory. */
const MANDATED = ['business_details', 'individual', 'attestations'] as const;

/** Checks responsibilities (step 12). */
export function checkResponsibilities(context: AccountContext): Violation | undefined {
  const sent = context.requestFields.defaults?.responsibilities;
  if (sent && !context.isBusiness) {
    return violate('unsupported_field_for_configs', {
      param: BLOCK,
      message: `${BLOCK} can be set only with a merchant or recipient configuration.`,
    });
  }
  if (!context.isBusiness) return undefined;
  return firstViolation(
    [
      checkCombination,
      checkStatedCollector,
      checkLossesCollector,
      checkAcknowledgements,
      checkDormancy,
      checkCustomAccountBeta,
      checkCrossBorder,
      checkTokenMandate,
    ],
    context,
  );
}

type Verdict = 'ok' | 'unsupported';

/**
 * Supported combinations of dashboard, fees and losses, without and with unified accounts. Combinations that are
 * rejected by the two preceding rules are omitted. `-` denotes an account without a dashboard setting, which is checked
 * like `none`. Source: accounts, section 8.5.
 */
const OFFERED: Readonly<Record<string, readonly [plain: Verdict, unified: Verdict]>> = {
  'full vendor vendor': ['ok', 'ok'],
  'full application vendor': ['ok', 'unsupported'],
  'full application application': ['ok', 'ok'],
  'express application application': ['ok', 'ok'],
  'express application_express application': ['ok', 'unsupported'],
  'none application application': ['ok', 'ok'],
  'none application vendor': ['ok', 'unsupported'],
  'none application_custom application': ['ok', 'unsupported'],
  '- vendor vendor': ['ok', 'ok'],
};

/** Checks the combination of dashboard, fees and losses if the request affects it (rows 3 to 7). */
function checkCombination(context: AccountContext): Violation | undefined {
  const { dashboard, fees, losses } = context.responsibilities;
  if (!context.becomesBusiness && !context.provided.hasAny(['dashboard', BLOCK])) return undefined;
  if (fees === undefined || losses === undefined) return undefined;
  const { platform } = context;
  const shown = `dashboard ${dashboard ? quote(dashboard) : 'not set'}, fees_collector ${quote(fees)} and losses_collector ${quote(losses)}`;
  if (dashboard === 'express' && !isExpressPair(fees, losses)) {
    return violate('account_controller_express_dash_without_application_losses_or_fees', {
      param: 'dashboard',
      message: `If dashboard is "express", fees_collector and losses_collector must be "application", not ${quote(fees)} and ${quote(losses)}.`,
    });
  }
  if (losses === 'application' && fees === 'vendor') {
    return violate('account_controller_vendor_pricing_platform_liable', {
      param: `${BLOCK}.losses_collector`,
      message: `If ${BLOCK}.losses_collector is "application", ${BLOCK}.fees_collector must be "application", not ${quote(fees)}.`,
    });
  }
  if (platform.responsibilities_private_preview && !isPreviewed(context)) {
    return violate('account_controller_unsupported_configuration_private_preview', {
      param: 'dashboard',
      message: `The combination of ${shown} is not part of the private preview.`,
    });
  }
  const isUnified = platform.unified_accounts_beta;
  if (verdictOf({ dashboard, fees, losses, isUnified }) === 'ok') return undefined;
  return unsupported(context, {
    param: 'dashboard',
    message: `The combination of ${shown} is not supported.`,
  });
}

/**
 * The requirements collector follows from the other fields, so a request can only confirm it (row
 * 6).
 */
function checkStatedCollector(context: AccountContext): Violation | undefined {
  const stated = context.requestFields.defaults?.responsibilities?.requirements_collector;
  const derived = context.responsibilities.requirements;
  if (!stated || stated === derived) return undefined;
  const param = `${BLOCK}.requirements_collector`;
  return violate('account_controller_unsupported_configuration', {
    param,
    message: `${param} must be ${quote(derived)} for this account, not ${quote(stated)}.`,
    extra: permutation(context),
  });
}

/** The losses collector must be available to the platform (row 12). */
function checkLossesCollector(context: AccountContext): Violation | undefined {
  const losses = context.responsibilities.losses;
  if (
    !context.isCreate ||
    losses === undefined ||
    context.platform.losses_collector_available[losses]
  ) {
    return undefined;
  }
  return violate('account_creation_losses_collector_unavailable', {
    param: `${BLOCK}.losses_collector`,
    message: `This platform does not allow ${BLOCK}.losses_collector ${quote(losses)}; use a value that losses_collector_available of the platform allows.`,
  });
}

/**
 * The platform must have acknowledged liability and requirement collection (rows 11, 13 and 14).
 */
function checkAcknowledgements(context: AccountContext): Violation | undefined {
  if (!context.isCreate) return undefined;
  const { liability, requirement_collection: collection } = context.platform.acknowledged;
  const { losses, requirements } = context.responsibilities;
  if (requirements === 'application' && !collection) {
    return liability
      ? violate('account_creation_requirement_collection_unacknowledged', {
          param: BLOCK,
          message: `${BLOCK} makes this platform collect requirements; set acknowledged.requirement_collection for the platform first.`,
        })
      : violate('account_creation_requirement_collection_and_liability_unacknowledged', {
          param: BLOCK,
          message: `${BLOCK} makes this platform collect requirements and losses; set acknowledged.requirement_collection and acknowledged.liability for the platform first.`,
        });
  }
  if (losses !== 'application' || liability) return undefined;
  return violate('account_creation_liability_unacknowledged', {
    param: `${BLOCK}.losses_collector`,
    message: `If ${BLOCK}.losses_collector is "application", this platform is liable; set acknowledged.liability for the platform first.`,
  });
}

/** A dormant platform cannot collect requirements (row 25). */
function checkDormancy(context: AccountContext): Violation | undefined {
  if (!context.platform.dormant || !becomesCollector(context)) return undefined;
  return violate('can_create_platform_owned_onboarding_accounts_required', {
    param: BLOCK,
    message: `A dormant platform cannot collect requirements; use a dashboard other than "none", or ${BLOCK}.losses_collector "vendor".`,
  });
}

/** For accounts in some countries, platforms cannot collect requirements without a beta (row 40). */
function checkCustomAccountBeta(context: AccountContext): Violation | undefined {
  const { custom_account_beta_countries: countries, custom_account_beta_enabled: isOpen } =
    context.platform;
  const { country } = context;
  if (context.responsibilities.requirements !== 'application' || country === undefined)
    return undefined;
  if (isOpen || !countries.includes(country)) return undefined;
  if (!becomesCollector(context) && !context.provided.has('identity.country')) return undefined;
  return violate('custom_account_beta', {
    param: 'identity.country',
    message: `Platforms cannot collect the requirements of accounts with identity.country ${quote(country)}; set custom_account_beta_enabled for the platform first.`,
  });
}

/** The account's country must be allowed for the platform's country (row 39). */
function checkCrossBorder(context: AccountContext): Violation | undefined {
  const { country, platform } = context;
  if (!context.becomesBusiness || country === undefined) return undefined;
  const isRecipient = context.appliedAfter.has('recipient');
  if (isPairAllowed([platform.country, country], { rules: platform.cross_border, isRecipient })) {
    return undefined;
  }
  return violate('cross_border_connected_account_creation_not_allowed', {
    param: 'identity.country',
    message: `Platforms in ${platform.country} cannot add a merchant or recipient configuration to accounts with identity.country ${quote(country)}; use a country that the platform's cross-border rules allow.`,
  });
}

/** In some platform countries, identity data must be sent in an account token (row 16). */
function checkTokenMandate(context: AccountContext): Violation | undefined {
  if (context.hasAccountToken || context.responsibilities.requirements !== 'application')
    return undefined;
  if (!context.platform.token_mandate_countries.includes(context.platform.country))
    return undefined;
  return firstOf(MANDATED, (member) =>
    context.requestFields.identity?.[member]
      ? violate('account_token_required', {
          param: `identity.${member}`,
          message: `identity.${member} must be sent in an account_token for platforms in ${context.platform.country}.`,
        })
      : undefined,
  );
}

function becomesCollector(context: AccountContext): boolean {
  if (context.responsibilities.requirements !== 'application') return false;
  return context.becomesBusiness || context.provided.hasAny(['dashboard', BLOCK]);
}

function isExpressPair(fees: FeesCollector, losses: Collector): boolean {
  return losses === 'application' && (fees === 'application' || fees === 'application_express');
}

function isPreviewed(context: AccountContext): boolean {
  const { dashboard, fees, losses } = context.responsibilities;
  return context.platform.private_preview_combinations.some(
    (combination) =>
      combination[0] === (dashboard ?? 'none') &&
      combination[1] === fees &&
      combination[2] === losses,
  );
}

function verdictOf(options: {
  readonly dashboard: Dashboard | undefined;
  readonly fees: FeesCollector;
  readonly losses: Collector;
  readonly isUnified: boolean;
}): Verdict {
  const collectors = `${options.fees} ${options.losses}`;
  const verdicts =
    (options.dashboard === undefined ? OFFERED[`- ${collectors}`] : undefined) ??
    OFFERED[`${options.dashboard ?? 'none'} ${collectors}`];
  return verdicts?.[options.isUnified ? 1 : 0] ?? 'unsupported';
}

/**
 * Returns the error for a combination that is not offered (rows 5 and 6). The code with `ua` is for
 * creation with the unified accounts beta.
 */
function unsupported(
  context: AccountContext,
  options: { readonly param: string; readonly message: string },
): Violation {
  const code =
    context.isCreate && context.platform.unified_accounts_beta
      ? 'account_controller_ua_unsupported_configuration'
      : 'account_controller_unsupported_configuration';
  return violate(code, { ...options, extra: permutation(context) });
}

function permutation(context: AccountContext): Readonly<Record<string, unknown>> {
  const { dashboard, fees, losses, requirements } = context.responsibilities;
  return {
    invalid_permutation: {
      dashboard: dashboard ?? 'none',
      fees_collector: fees,
      losses_collector: losses,
      requirements_collector: requirements,
    },
  };
}

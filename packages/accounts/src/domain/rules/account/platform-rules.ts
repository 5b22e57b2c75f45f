import type { PlatformSettings } from '../../../model/platform/platform-settings.js';
import type { Violation } from '../../../model/violation.js';
import { firstViolation, violate } from '../violate.js';
import type { AccountContext } from './account-context.js';

/**
 * Accounts v2 must be enabled (row 17). A platform that is not registered must use a recent API version (row 66).
 * Requests on accounts and persons are checked for this after the concurrency limit (step 7).
 */
export function checkAccess(options: {
  readonly platform: PlatformSettings;
  readonly versionDate: string;
}): Violation | undefined {
  const { platform, versionDate } = options;
  if (!platform.accounts_v2_enabled) {
    return violate('accounts_v2_access_blocked', {
      message: 'Accounts v2 is not enabled for this platform.',
    });
  }
  // Both are `YYYY-MM-DD`, so string order is date order.
  if (platform.connect_registered || versionDate >= platform.direct_min_api_version)
    return undefined;
  return violate('non_connect_platform_accounts_v2_access_blocked', {
    message: `This platform must register for connect or use API version ${platform.direct_min_api_version} or later, not ${versionDate}.`,
  });
}

/**
 * The platform must be registered for connect (row 72). Callers decide which requests require this.
 */
export function checkRegistration(platform: PlatformSettings): Violation | undefined {
  if (platform.connect_registered) return undefined;
  return violate('platform_registration_required', {
    message: 'This platform must register for connect first.',
  });
}

/** Checks whether the platform may create accounts, merchants or recipients (step 10). */
export function checkPlatformGates(context: AccountContext): Violation | undefined {
  if (!context.isCreate)
    return context.becomesBusiness ? checkRegistration(context.platform) : undefined;
  return firstViolation(
    [
      checkRejected,
      checkPlatformState,
      (account) => (account.isBusiness ? checkRegistration(account.platform) : undefined),
      checkActivation,
      checkProfile,
      checkPlatformIdentity,
      checkCreation,
    ],
    context,
  );
}

/** A rejected platform cannot create accounts (row 27). */
function checkRejected({ platform }: AccountContext): Violation | undefined {
  if (platform.state !== 'rejected') return undefined;
  return violate('cannot_create_new_account_rejected', {
    message: 'This platform was rejected and cannot create accounts.',
  });
}

/** A platform in an invalid state cannot create merchants or recipients (row 26). */
function checkPlatformState({ platform, isBusiness }: AccountContext): Violation | undefined {
  if (!isBusiness || platform.state !== 'invalid') return undefined;
  return violate('cannot_create_connected_account', {
    message: 'This platform cannot create merchants or recipients in its current state.',
  });
}

/** The platform must be activated in this mode (row 9). */
function checkActivation(context: AccountContext): Violation | undefined {
  if (!context.isBusiness || context.platform.activated[context.livemode ? 'live' : 'test'])
    return undefined;
  return violate('account_create_activation_required', {
    message: `This platform must be activated in ${context.livemode ? 'live' : 'test'} mode before it creates merchants or recipients.`,
  });
}

/** The platform must have submitted its questionnaire (row 38). */
function checkProfile({ platform, isBusiness }: AccountContext): Violation | undefined {
  if (!isBusiness || platform.profile_submitted) return undefined;
  return violate('connect_profile_not_submitted', {
    message:
      'This platform must submit its questionnaire before it creates merchants or recipients.',
  });
}

/** In live mode, the platform's identity must be verified (row 37). */
function checkPlatformIdentity(context: AccountContext): Violation | undefined {
  if (!context.isBusiness || !context.livemode || context.platform.identity_verified)
    return undefined;
  return violate('connect_identity_not_verified', {
    message:
      'The identity of this platform must be verified before it creates merchants or recipients.',
  });
}

/**
 * The platform must be below its account limit, and the contact email must be present if it is
 * required (row 10).
 */
function checkCreation(context: AccountContext): Violation | undefined {
  const { max_accounts: maxCount, require_contact_email: needsEmail } = context.platform;
  if (maxCount !== null && context.facts.openAccountCount >= maxCount) {
    return violate('account_creation_invalid', {
      message: `This platform has ${context.facts.openAccountCount} open accounts; the limit is ${maxCount}.`,
    });
  }
  if (!needsEmail || !context.isBusiness || context.fields.contact_email !== undefined)
    return undefined;
  return violate('account_creation_invalid', {
    param: 'contact_email',
    message: 'contact_email is required for an account with a merchant or recipient configuration.',
  });
}

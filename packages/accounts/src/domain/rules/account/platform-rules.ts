import type { PlatformSettings } from '../../../model/platform/platform-settings.js';
import type { Violation } from '../../../model/violation.js';
import { firstViolation, violate } from '../violate.js';
import type { AccountContext } from './account-context.js';

/** Rows 17 and 66: step 7, for every call on accounts and persons. */
export function checkAccess(at: {
  readonly platform: PlatformSettings;
  readonly versionDate: string;
}): Violation | undefined {
  const { platform, versionDate } = at;
  if (!platform.accounts_v2_enabled) {
    return violate('accounts_v2_access_blocked', {
      message: 'Accounts v2 is not enabled for this platform.',
    });
  }
  // Both are `YYYY-MM-DD`, so the order of texts is the order of days.
  if (platform.connect_registered || versionDate >= platform.direct_min_api_version)
    return undefined;
  return violate('non_connect_platform_accounts_v2_access_blocked', {
    message: `This platform has to register for connect or use an API version from ${platform.direct_min_api_version} on, not ${versionDate}.`,
  });
}

/** Row 72. Which calls it holds for is the caller's to know. */
export function checkRegistration(platform: PlatformSettings): Violation | undefined {
  if (platform.connect_registered) return undefined;
  return violate('platform_registration_required', {
    message: 'This platform has to register for connect first.',
  });
}

/** Step 10: what a platform must be before it creates accounts, or turns one into a merchant or recipient. */
export function checkPlatformGates(at: AccountContext): Violation | undefined {
  if (!at.isCreate) return at.becomesBusiness ? checkRegistration(at.platform) : undefined;
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
    at,
  );
}

/** Row 27. */
function checkRejected({ platform }: AccountContext): Violation | undefined {
  if (platform.state !== 'rejected') return undefined;
  return violate('cannot_create_new_account_rejected', {
    message: 'This platform was rejected and cannot create accounts.',
  });
}

/** Row 26. */
function checkPlatformState({ platform, isBusiness }: AccountContext): Violation | undefined {
  if (!isBusiness || platform.state !== 'invalid') return undefined;
  return violate('cannot_create_connected_account', {
    message: 'This platform is in a state in which it cannot create merchants or recipients.',
  });
}

/** Row 9. */
function checkActivation(at: AccountContext): Violation | undefined {
  if (!at.isBusiness || at.platform.activated[at.livemode ? 'live' : 'test']) return undefined;
  return violate('account_create_activation_required', {
    message: `This platform has to be activated in ${at.livemode ? 'live' : 'test'} mode before it creates merchants or recipients.`,
  });
}

/** Row 38. */
function checkProfile({ platform, isBusiness }: AccountContext): Violation | undefined {
  if (!isBusiness || platform.profile_submitted) return undefined;
  return violate('connect_profile_not_submitted', {
    message:
      'This platform has to submit its questionnaire before it creates merchants or recipients.',
  });
}

/** Row 37. */
function checkPlatformIdentity(at: AccountContext): Violation | undefined {
  if (!at.isBusiness || !at.livemode || at.platform.identity_verified) return undefined;
  return violate('connect_identity_not_verified', {
    message:
      'The identity of this platform has to be verified before it creates merchants or recipients.',
  });
}

/** Row 10. */
function checkCreation(at: AccountContext): Violation | undefined {
  const { max_accounts: maxCount, require_contact_email: needsEmail } = at.platform;
  if (maxCount !== null && at.facts.openAccountCount >= maxCount) {
    return violate('account_creation_invalid', {
      message: `This platform has ${at.facts.openAccountCount} open accounts of at most ${maxCount}.`,
    });
  }
  if (!needsEmail || !at.isBusiness || at.fields.contact_email !== undefined) return undefined;
  return violate('account_creation_invalid', {
    param: 'contact_email',
    message: 'contact_email is needed for an account with a merchant or recipient configuration.',
  });
}

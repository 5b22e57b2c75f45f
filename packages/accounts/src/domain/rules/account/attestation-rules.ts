import type { Violation } from '../../../model/violation.js';
import { firstViolation, violate } from '../violate.js';
import type { AccountContext } from './account-context.js';

const BLOCK = 'identity.attestations';

/** Checks attestations (step 18). */
export function checkAttestations(context: AccountContext): Violation | undefined {
  return firstViolation(
    [checkTermsAccepted, checkDirectorship, checkOwnership, checkAcceptanceOnBehalf],
    context,
  );
}

/** A merchant must have accepted the terms if the platform requires it (row 15). */
function checkTermsAccepted(context: AccountContext): Violation | undefined {
  if (!context.platform.merchant_requires_terms || !context.newlyApplied.has('merchant'))
    return undefined;
  if (context.fields.identity?.attestations?.terms_of_service?.account) return undefined;
  return violate('account_terms_of_service_not_accepted', {
    param: `${BLOCK}.terms_of_service.account`,
    message: `${BLOCK}.terms_of_service.account is required before configuration.merchant is applied.`,
  });
}

/** A create request cannot contain the directorship declaration (row 46). */
function checkDirectorship(context: AccountContext): Violation | undefined {
  if (!context.isCreate || !context.requestFields.identity?.attestations?.directorship_declaration)
    return undefined;
  return violate('directorship_declaration_not_allowed_during_account_creation', {
    param: `${BLOCK}.directorship_declaration`,
    message: `${BLOCK}.directorship_declaration can be set only after the account has been created.`,
  });
}

/** A create request cannot contain the ownership declaration (row 68). */
function checkOwnership(context: AccountContext): Violation | undefined {
  if (!context.isCreate || !context.requestFields.identity?.attestations?.ownership_declaration)
    return undefined;
  return violate('ownership_declaration_not_allowed_during_account_creation', {
    param: `${BLOCK}.ownership_declaration`,
    message: `${BLOCK}.ownership_declaration can be set only after the account has been created.`,
  });
}

/** If the vendor collects requirements, the platform cannot accept the terms (row 89). */
function checkAcceptanceOnBehalf(context: AccountContext): Violation | undefined {
  const isSent = Boolean(context.requestFields.identity?.attestations?.terms_of_service?.account);
  if (!context.isBusiness || context.responsibilities.requirements !== 'vendor') return undefined;
  if (!isSent && !context.tokenAcceptsTerms) return undefined;
  return violate('tos_acceptance_on_behalf_not_allowed', {
    param: `${BLOCK}.terms_of_service.account`,
    message: `${BLOCK}.terms_of_service.account cannot be accepted by the platform if the vendor collects the account's requirements.`,
  });
}

import type { AccountCheck } from '../../../model/rule-input.js';
import type { Violation } from '../../../model/violation.js';
import { checkIdentity } from '../person/identity-rules.js';
import { firstViolation } from '../violate.js';
import { type AccountContext, accountContext } from './account-context.js';
import { checkAccountFields } from './account-field-rules.js';
import { checkAttestations } from './attestation-rules.js';
import { checkCapabilities } from './capability-rules.js';
import { checkConfigurations } from './configuration-rules.js';
import { checkCustomer } from './customer-rules.js';
import { checkDefaults } from './defaults-rules.js';
import { checkMerchant } from './merchant-rules.js';
import { checkMetadata } from './metadata-rules.js';
import { checkPlatformGates } from './platform-rules.js';
import { checkRecipient } from './recipient-rules.js';
import { checkResponsibilities } from './responsibility-rules.js';

/**
 * Checks an account in the order of section 12: the merged metadata (a part of step 4), then the
 * platform, the fields, the configurations, the capabilities and the attestations (steps 10 to 18).
 * Source: accounts, section 12.
 */
export function checkAccount(check: AccountCheck): Violation | undefined {
  return firstViolation(
    [
      checkStoredMetadata,
      checkPlatformGates,
      checkConfigurations,
      checkResponsibilities,
      checkIdentity,
      checkAccountFields,
      checkCustomer,
      checkMerchant,
      checkRecipient,
      checkDefaults,
      checkCapabilities,
      checkAttestations,
    ],
    accountContext(check),
  );
}

/** Checks the size of merged metadata, a part of step 4 that depends on the stored account. */
function checkStoredMetadata({ requestFields, fields }: AccountContext): Violation | undefined {
  const individual =
    requestFields.identity?.individual?.metadata && fields.identity?.individual?.metadata;
  return (
    checkMetadata('metadata', (requestFields.metadata && fields.metadata) ?? undefined) ??
    checkMetadata('identity.individual.metadata', individual ?? undefined)
  );
}

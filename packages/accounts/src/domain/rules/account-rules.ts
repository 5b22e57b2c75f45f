import type { AccountCheck } from '../../model/rule-input.js';
import type { Violation } from '../../model/violation.js';
import { accountContext } from './account-context.js';
import { checkAccountFields } from './account-field-rules.js';
import { checkAttestations } from './attestation-rules.js';
import { checkCapabilities } from './capability-rules.js';
import { checkConfigurations } from './configuration-rules.js';
import { checkCustomer } from './customer-rules.js';
import { checkDefaults } from './defaults-rules.js';
import { checkIdentity } from './identity-rules.js';
import { checkMerchant } from './merchant-rules.js';
import { checkPlatformGates } from './platform-rules.js';
import { checkRecipient } from './recipient-rules.js';
import { checkResponsibilities } from './responsibility-rules.js';
import { firstViolation } from './violate.js';

/** Steps 10 to 18. Source: accounts, section 12. */
export function checkAccount(check: AccountCheck): Violation | undefined {
  return firstViolation(
    [
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

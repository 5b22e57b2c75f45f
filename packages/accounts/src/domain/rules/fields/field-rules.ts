import type { Violation } from '../../../model/violation.js';
import { firstViolation } from '../violate.js';
import {
  checkAddressCharacters,
  checkJapanesePostalCodes,
  checkPostalCodes,
  checkScriptAddressCountries,
  checkStates,
  checkSupportedPostalCodes,
  checkSupportedStates,
  checkTowns,
} from './address-rules.js';
import {
  checkEmailDomains,
  checkEmails,
  checkIps,
  checkPhones,
  checkUrls,
} from './contact-rules.js';
import { checkBirthDates, checkRegistrationDates } from './date-rules.js';
import { checkDocumentPurposes, checkDocuments } from './document-rules.js';
import type { FieldContext } from './field-context.js';
import { checkIdNumberFormats, checkRegistrars } from './id-number-rules.js';
import { checkScripts } from './script-rules.js';

type Check = () => Violation | undefined;

/** Rules that cover several fields and differ between accounts and persons. */
export interface OwnFieldRules {
  readonly checkAges: Check;
  readonly checkAddressCountries: Check;
  readonly checkIdNumberHolders: Check;
  readonly checkOwnership: Check;
}

/** Checks fields in the order of step 14. Source: accounts, section 12. */
export function checkFields(context: FieldContext, own: OwnFieldRules): Violation | undefined {
  return firstViolation<FieldContext>(
    [
      checkEmailDomains,
      checkEmails,
      checkPhones,
      checkUrls,
      checkIps,
      checkBirthDates,
      own.checkAges,
      checkRegistrationDates,
      checkAddressCharacters,
      own.checkAddressCountries,
      checkScriptAddressCountries,
      checkJapanesePostalCodes,
      checkPostalCodes,
      checkStates,
      checkTowns,
      checkSupportedStates,
      checkSupportedPostalCodes,
      checkScripts,
      checkIdNumberFormats,
      own.checkIdNumberHolders,
      checkRegistrars,
      checkDocuments,
      checkDocumentPurposes,
      own.checkOwnership,
    ],
    context,
  );
}

import type { Rules } from '../../model/rule-input.js';
import { checkAccount } from './account/account-rules.js';
import { checkClose, checkPersonDeletion } from './account/close-rules.js';
import { checkAccess, checkRegistration } from './account/platform-rules.js';
import { checkPerson } from './person/person-rules.js';

export { type PhoneNumber, readPhoneNumber } from './fields/phone-number.js';

/** All rules of sections 13 and 14, except for those on tokens, keys and repeated requests. */
export const RULES: Rules = {
  checkAccess,
  checkTokenCreation: checkRegistration,
  checkAccount,
  checkPerson,
  checkPersonDeletion,
  checkClose,
};

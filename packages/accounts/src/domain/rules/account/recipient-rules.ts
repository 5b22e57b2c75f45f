import type { Violation } from '../../../model/violation.js';
import { quote, violate } from '../violate.js';
import type { AccountContext } from './account-context.js';

/** Checks the recipient configuration (step 15). Source: accounts, section 8.4. */
export function checkRecipient(context: AccountContext): Violation | undefined {
  const id = context.requestFields.configuration?.recipient?.default_outbound_destination;
  if (!id || context.merged.overrides.payout_methods.some((method) => method.id === id))
    return undefined;
  const param = 'configuration.recipient.default_outbound_destination';
  return violate('default_outbound_destination_invalid', {
    param,
    message: `${param} is not a payout method of this account: ${quote(id)}.`,
  });
}

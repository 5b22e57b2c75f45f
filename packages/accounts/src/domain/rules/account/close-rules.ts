import type { StoredAccount } from '../../../model/account/account.js';
import {
  appliedConfigurations,
  capabilityRequests,
  isMerchantOrRecipient,
} from '../../../model/account/derived.js';
import type { StoredPerson } from '../../../model/account/person.js';
import type { PlatformSettings } from '../../../model/platform/platform-settings.js';
import type { CloseCheck } from '../../../model/rule-input.js';
import type { Violation } from '../../../model/violation.js';
import { immutable } from '../person/identity-rules.js';
import { firstViolation, quote, violate } from '../violate.js';
import { checkRegistration } from './platform-rules.js';

/** Checks whether an account may be closed (rules 2 to 7 of section 7.2). */
export function checkClose(check: CloseCheck): Violation | undefined {
  return firstViolation(
    [
      checkNamedConfigurations,
      checkLiability,
      checkBalance,
      checkCustomerBalance,
      checkTransactions,
      ({ platform, account }) =>
        isMerchantOrRecipient(account) ? checkRegistration(platform) : undefined,
    ],
    check,
  );
}

/**
 * The platform must be registered (row 72), and the person of an individual account cannot be
 * deleted.
 */
export function checkPersonDeletion(options: {
  readonly platform: PlatformSettings;
  readonly account: StoredAccount;
  readonly person: StoredPerson;
}): Violation | undefined {
  const violation = checkRegistration(options.platform);
  if (violation || options.account.individualId !== options.person.id) return violation;
  return immutable('identity.individual', 'by deleting the person');
}

/** Given configurations must match the applied ones, in any order. */
function checkNamedConfigurations(options: CloseCheck): Violation | undefined {
  const right = appliedConfigurations(options.account);
  const named = options.appliedConfigurations && new Set(options.appliedConfigurations);
  if (!named || (named.size === right.length && right.every((name) => named.has(name)))) {
    return undefined;
  }
  return violate('configs_must_match_to_close', {
    param: 'applied_configurations',
    message: `applied_configurations must be the configurations of the account ([${right.join(', ')}]), not [${[...named].join(', ')}].`,
    extra: { applied_configurations: right },
  });
}

function checkLiability({ livemode, account }: CloseCheck): Violation | undefined {
  const { dashboard, defaults } = account.fields;
  const losses = defaults?.responsibilities?.losses_collector;
  if (!livemode || losses !== 'vendor' || (dashboard !== 'full' && dashboard !== 'express')) {
    return undefined;
  }
  return violate('vendor_loss_liable_cannot_be_deleted', {
    message: `An account with the dashboard ${quote(dashboard)} cannot be closed in live mode if losses_collector is "vendor".`,
  });
}

function checkBalance({ account }: CloseCheck): Violation | undefined {
  const applied = appliedConfigurations(account);
  const hasTransfers =
    applied.includes('recipient') &&
    capabilityRequests(account.fields.configuration?.recipient?.capabilities).some(
      ({ id, requested }) => requested && id === 'vendor_balance.vendor_transfers',
    );
  const left = nonZero(account.overrides.cash_balance);
  if (left === undefined || !(applied.includes('merchant') || hasTransfers)) return undefined;
  return violate('cannot_delete_account_with_balance', {
    message: `The account has a balance of ${left}; pay it out before you close the account.`,
  });
}

function checkCustomerBalance({ account }: CloseCheck): Violation | undefined {
  const left = nonZero(account.overrides.customer_cash_balance);
  if (left === undefined || !appliedConfigurations(account).includes('customer')) return undefined;
  return violate('cannot_delete_customer_with_available_cash_balance', {
    message: `The customer has a cash balance of ${left}; use or refund it before you close the account.`,
  });
}

function checkTransactions({ account }: CloseCheck): Violation | undefined {
  if (!account.overrides.pending_transactions) return undefined;
  return violate('pending_transactions_cannot_be_deleted', {
    message: 'The account has pending transactions; retry when no transactions are pending.',
  });
}

/** Formats the first non-zero amount, such as `100 usd`, in the smallest unit of the currency. */
function nonZero(balance: Readonly<Record<string, number>>): string | undefined {
  const entry = Object.entries(balance).find(([, amount]) => amount !== 0);
  return entry === undefined ? undefined : `${entry[1]} ${entry[0]}`;
}

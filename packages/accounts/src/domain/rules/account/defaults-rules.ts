import type { Violation } from '../../../model/violation.js';
import { currencyOf, isCurrencyAllowed } from '../../reference/currencies.js';
import { firstOf, firstViolation, quote, violate } from '../violate.js';
import type { AccountContext } from './account-context.js';

/** Payout methods that store money instead of forwarding it. */
const INCOMPATIBLE_TYPES: readonly string[] = ['crypto_wallet', 'financial_account'];

/** Checks defaults (step 16). */
export function checkDefaults(context: AccountContext): Violation | undefined {
  return firstViolation(
    [
      checkLev,
      checkCurrency,
      checkCurrencyFixed,
      checkTimezone,
      checkPayoutMethods,
      checkStoredMethods,
    ],
    context,
  );
}

/** Rejects the Bulgarian lev, which was replaced by the euro (row 24). */
function checkLev(context: AccountContext): Violation | undefined {
  if (context.requestFields.defaults?.currency?.toLowerCase() !== 'bgn') return undefined;
  return violate('bgn_bank_accounts_unsupported', {
    param: 'defaults.currency',
    message:
      'defaults.currency "bgn" has not been valid since 2026-01-01, when the euro replaced it.',
  });
}

/**
 * A merchant's or recipient's currency must be allowed in its country (row 8). A customer's
 * invoices may use any currency.
 */
function checkCurrency(context: AccountContext): Violation | undefined {
  const { country } = context;
  const currency = context.fields.defaults?.currency;
  if (!context.isBusiness || country === undefined || currency === undefined) return undefined;
  const isProvided = context.provided.hasAny(['defaults.currency', 'identity.country']);
  if ((!isProvided && !context.becomesBusiness) || isCurrencyAllowed(currency, country))
    return undefined;
  return violate('account_country_unsupported_currency', {
    param: 'defaults.currency',
    message: `defaults.currency ${quote(currency)} is not supported for an account in ${country}.`,
  });
}

/** The currency cannot change once a capability has been active (row 43). */
function checkCurrencyFixed(context: AccountContext): Violation | undefined {
  const was = context.stored && currencyOf(context.stored.fields);
  const becomes = currencyOf(context.fields);
  if (!context.provided.has('defaults.currency') || was === undefined || was === becomes)
    return undefined;
  if (context.stored?.everActive.length === 0) return undefined;
  return violate('default_currency_immutable', {
    param: 'defaults.currency',
    message: `defaults.currency is ${quote(was)} and cannot change after a capability has been active.`,
  });
}

/** The time zone must be in the IANA database (row 62). */
function checkTimezone(context: AccountContext): Violation | undefined {
  const timezone = context.requestFields.defaults?.timezone;
  if (!timezone || isTimezone(timezone)) return undefined;
  return violate('invalid_timezone', {
    param: 'defaults.timezone',
    message: `defaults.timezone is not the name of an IANA time zone: ${quote(timezone)}.`,
  });
}

/** Payout methods set as defaults must be usable (section 14). */
function checkPayoutMethods(context: AccountContext): Violation | undefined {
  return firstOf(
    Object.entries(context.requestFields.defaults?.payout_methods ?? {}),
    ([currency, id]) => {
      if (!id) return undefined;
      const param = `defaults.payout_methods.${currency}`;
      const method = context.merged.overrides.payout_methods.find((known) => known.id === id);
      if (method?.v1 || /^(?:ba|card)_/.test(id)) {
        return violate('payout_method_incompatible_type', {
          param,
          message: `${param} is a v1 payout method: ${quote(id)}; use the ID of a v2 payout method.`,
        });
      }
      if (method && !INCOMPATIBLE_TYPES.includes(method.type)) return undefined;
      return violate('incompatible_default_payout_method', {
        param,
        message: method
          ? `${param} has the type ${quote(method.type)}, which cannot be used as a default.`
          : `${param} is not a payout method of this account: ${quote(id)}.`,
      });
    },
  );
}

/**
 * Defaults of a customer must also be valid when it becomes a merchant or recipient (section 14).
 */
function checkStoredMethods(context: AccountContext): Violation | undefined {
  if (!context.becomesBusiness || context.stored === undefined) return undefined;
  return firstOf(
    Object.entries(context.fields.defaults?.payout_methods ?? {}),
    ([currency, id]) => {
      const method = context.merged.overrides.payout_methods.find((known) => known.id === id);
      if (method && !INCOMPATIBLE_TYPES.includes(method.type)) return undefined;
      return violate('cannot_add_connect_due_to_incompatible_default_payout_method', {
        param: `defaults.payout_methods.${currency}`,
        message: `defaults.payout_methods.${currency} ${quote(id)} is not allowed for a merchant or recipient.`,
      });
    },
  );
}

/** Accepts IANA names. Offsets (`+01:00`) are rejected, because they have no location and no daylight saving time. */
function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false; // Intl throws a RangeError for an unknown name.
  }
}

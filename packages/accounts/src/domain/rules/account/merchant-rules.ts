import type { Violation } from '../../../model/violation.js';
import {
  type DescriptorLimits,
  descriptorLimits,
  isMerchantCategoryCode,
} from '../../reference/small-tables.js';
import { isValidCreditorId, normaliseCreditorId } from '../fields/creditor-id.js';
import { readPhoneNumber } from '../fields/phone-number.js';
import { firstOf, firstViolation, quote, violate } from '../violate.js';
import type { AccountContext } from './account-context.js';
import { checkSettings } from './setting-rules.js';

const BLOCK = 'configuration.merchant';
const HOUR = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
/** Printable ASCII and the letters of Latin-1. */
const LATIN = /^[\x20-\x7E\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u00FF]*$/;

/** Checks the merchant configuration (step 15). */
export function checkMerchant(context: AccountContext): Violation | undefined {
  if (!context.requestFields.configuration?.merchant) return undefined;
  return firstViolation(
    [
      (account) => checkSettings(account, 'merchant'),
      checkKonbiniHours,
      checkKonbiniPhone,
      checkCreditorId,
      checkCategoryCode,
      checkDescriptors,
    ],
    context,
  );
}

/** The konbini support hours must be valid, and start before they end (row 59). */
function checkKonbiniHours(context: AccountContext): Violation | undefined {
  const path = `${BLOCK}.konbini_payments.support.hours`;
  const sent = context.requestFields.configuration?.merchant?.konbini_payments?.support?.hours;
  if (!sent) return undefined;
  const hours = context.fields.configuration?.merchant?.konbini_payments?.support?.hours;
  const [start, end] = [hours?.start_time, hours?.end_time];
  if (start === undefined && end === undefined) return undefined;
  const refuse = (member: string, message: string): Violation =>
    violate('invalid_konbini_payments_support_hours', { param: `${path}.${member}`, message });
  const wrong = Object.entries({ start_time: start, end_time: end }).find(
    ([, hour]) => hour === undefined || !HOUR.test(hour),
  );
  if (wrong) {
    const [member, hour] = wrong;
    return hour === undefined
      ? refuse(member, `${path}.${member} is required; send both start_time and end_time.`)
      : refuse(member, `${path}.${member} is not a time from 00:00 to 23:59: ${quote(hour)}.`);
  }
  if (start === undefined || end === undefined || start < end) return undefined;
  return refuse('start_time', `${path}.start_time (${start}) must be before end_time (${end}).`);
}

/** The konbini support phone must be Japanese (row 60). */
function checkKonbiniPhone(context: AccountContext): Violation | undefined {
  const phone = context.requestFields.configuration?.merchant?.konbini_payments?.support?.phone;
  if (!phone || readPhoneNumber(phone, 'JP')?.country === 'JP') return undefined;
  const param = `${BLOCK}.konbini_payments.support.phone`;
  return violate('invalid_konbini_payments_support_phone_number', {
    param,
    message: `${param} is not a Japanese phone number: ${quote(phone)}.`,
  });
}

/**
 * The SEPA creditor identifier must be valid, not blocked and not the shared one (rows 61, 77 and
 * 78).
 */
function checkCreditorId(context: AccountContext): Violation | undefined {
  const sent = context.requestFields.configuration?.merchant?.sepa_debit_payments?.creditor_id;
  if (!sent) return undefined;
  const param = `${BLOCK}.sepa_debit_payments.creditor_id`;
  const id = normaliseCreditorId(sent);
  const isIn = (list: readonly string[]): boolean =>
    list.some((entry) => normaliseCreditorId(entry) === id);
  if (!isValidCreditorId(id)) {
    return violate('invalid_sepa_creditor_id_format', {
      param,
      message: `${param} is not a valid SEPA creditor identifier: ${quote(sent)}.`,
    });
  }
  if (isIn(context.platform.sepa_blocked_creditor_ids)) {
    return violate('sepa_debit_creditor_identifier_not_allowed', {
      param,
      message: `${param} is blocked: ${quote(sent)}.`,
    });
  }
  if (!isIn(context.platform.sepa_vendor_creditor_ids)) return undefined;
  return violate('sepa_debit_vendor_creditor_identifier', {
    param,
    message: `${param} cannot be the creditor identifier that all accounts share: ${quote(sent)}.`,
  });
}

/** The merchant category code must exist (row 65). */
function checkCategoryCode(context: AccountContext): Violation | undefined {
  const code = context.requestFields.configuration?.merchant?.mcc;
  if (!code || isMerchantCategoryCode(code)) return undefined;
  return violate('mcc_invalid', {
    param: `${BLOCK}.mcc`,
    message: `${BLOCK}.mcc is not a merchant category code: ${quote(code)}.`,
  });
}

/**
 * Checks the length and characters of statement descriptors (row 81). Row 76 covers script-specific
 * characters.
 */
function checkDescriptors(context: AccountContext): Violation | undefined {
  const merchant = context.requestFields.configuration?.merchant;
  const { latin, kana, kanji } = descriptorLimits();
  const scripts = merchant?.script_statement_descriptor;
  const pairs = [
    { path: `${BLOCK}.statement_descriptor`, sent: merchant?.statement_descriptor, limits: latin },
    { path: `${BLOCK}.script_statement_descriptor.kana`, sent: scripts?.kana, limits: kana },
    { path: `${BLOCK}.script_statement_descriptor.kanji`, sent: scripts?.kanji, limits: kanji },
  ];
  return firstOf(pairs, ({ path, sent, limits }) =>
    firstOf(['descriptor', 'prefix'] as const, (member) => {
      const text = sent?.[member];
      if (!text) return undefined;
      const why =
        wrongDescriptor(text, limits[member]) ?? (limits === latin ? foreignTo(text) : undefined);
      if (why === undefined) return undefined;
      return violate('statement_descriptor_invalid', {
        param: `${path}.${member}`,
        message: `${path}.${member} ${why}: ${quote(text)}.`,
      });
    }),
  );
}

function wrongDescriptor(
  text: string,
  { min, max }: DescriptorLimits['descriptor'],
): string | undefined {
  const length = [...text].length;
  return length < min || length > max ? `must have ${min} to ${max} characters` : undefined;
}

function foreignTo(text: string): string | undefined {
  const { forbidden } = descriptorLimits().latin;
  const found = [...text].find(
    (character) => forbidden.includes(character) || !LATIN.test(character),
  );
  if (found !== undefined) return `contains ${quote(found)}`;
  return /\p{L}/u.test(text) ? undefined : 'must contain a letter';
}

import { isIP } from 'node:net';
import type { Violation } from '../../../model/violation.js';
import { firstOf, quote, violate } from '../violate.js';
import { isEmailAddress } from './email-address.js';
import type { FieldContext } from './field-context.js';
import { isUrl } from './libraries.js';
import { readPhoneNumber } from './phone-number.js';

const MAX_URL_LENGTH = 2048;
/** Placeholder for a missing number in test-mode forms. */
const TEST_PHONE = '0000000000';

/**
 * Recipients cannot use blocked email domains (row 49). The setting contains domains or top-level
 * domains and includes their subdomains.
 */
export function checkEmailDomains(context: FieldContext): Violation | undefined {
  if (!context.isRecipient) return undefined;
  return firstOf(context.provided.recipientEmails, ({ path, value }) => {
    const domain = value.slice(value.lastIndexOf('@') + 1).toLowerCase();
    const blocked = context.platform.recipient_blocked_email_domains.find(
      (name) => domain === name || domain.endsWith(`.${name}`),
    );
    if (blocked === undefined || !value.includes('@')) return undefined;
    return violate('email_domain_invalid_for_recipient', {
      param: path,
      message: `${path} uses ${quote(domain)}, a domain that is not allowed for recipients.`,
    });
  });
}

/** Email addresses must be valid (row 50). */
export function checkEmails(context: FieldContext): Violation | undefined {
  return firstOf(context.provided.emails, ({ path, value }) =>
    isEmailAddress(value)
      ? undefined
      : violate('email_invalid', {
          param: path,
          message: `${path} is not a valid email address: ${quote(value)}.`,
        }),
  );
}

/** Phone numbers must be possible (row 71). */
export function checkPhones(context: FieldContext): Violation | undefined {
  return firstOf(context.provided.phones, ({ path, value, country }) => {
    if (!context.livemode && value === TEST_PHONE) return undefined;
    if (readPhoneNumber(value, country ?? context.country)) return undefined;
    return violate('phone_invalid', {
      param: path,
      message: `${path} is not a valid phone number: ${quote(value)}.`,
    });
  });
}

/** URLs must be web addresses (row 93). */
export function checkUrls(context: FieldContext): Violation | undefined {
  return firstOf(context.provided.urls, ({ path, value }) => {
    if (value.length <= MAX_URL_LENGTH && isWebAddress(value)) return undefined;
    return violate('url_invalid', {
      param: path,
      message: `${path} is not a valid http or https URL: ${quote(value)}.`,
    });
  });
}

/**
 * IP addresses must be valid (row 64). Private and loopback addresses are allowed; zone ids as in
 * `fe80::1%eth0` are rejected, because they are local to one machine.
 */
export function checkIps(context: FieldContext): Violation | undefined {
  return firstOf(context.provided.ips, ({ path, value }) =>
    isIP(value) !== 0 && !value.includes('%')
      ? undefined
      : violate('ip_address_invalid', {
          param: path,
          message: `${path} is not an IPv4 or IPv6 address: ${quote(value)}.`,
        }),
  );
}

function isWebAddress(text: string): boolean {
  return isUrl()(text, { protocols: ['http', 'https'], require_tld: true, disallow_auth: true });
}

import type { ConfigurationName } from '../../../model/account/configuration-name.js';
import { isLongerThan } from '../../../model/characters.js';
import type { InvalidField } from '../../../model/shape/check-shape.js';
import type { Violation } from '../../../model/violation.js';
import { invalidField, quote, violate } from '../violate.js';
import type { AccountContext } from './account-context.js';

const PREFIX = /^[A-Z0-9]{3,12}$/;
const COLOR = /^#[0-9a-fA-F]{6}$/;
const MAX_CUSTOM_FIELD_COUNT = 4;
const MAX_FOOTER_LENGTH = 5000;
const MAX_BACS_NAME_LENGTH = 50;

/**
 * Settings with separate limits (row 36). If the request applies the configuration for the
 * first time, the error names the configuration; later it names the field.
 */
export function checkSettings(
  context: AccountContext,
  name: ConfigurationName,
): Violation | undefined {
  const problems = name === 'customer' ? customerProblems(context) : merchantProblems(context);
  const problem = problems.find((found) => found !== undefined);
  if (problem === undefined) return undefined;
  const isFirst = context.newlyApplied.has(name) && context.stored?.applied[name] === undefined;
  if (!isFirst) return invalidField(problem);
  return violate('configuration_creation_invalid', {
    param: problem.field,
    message: problem.message,
  });
}

type Problem = InvalidField | undefined;

function customerProblems(context: AccountContext): Problem[] {
  const invoice = context.requestFields.configuration?.customer?.billing?.invoice;
  if (!invoice) return [];
  const path = 'configuration.customer.billing.invoice';
  return [
    checkPrefix(`${path}.prefix`, invoice.prefix, context.facts.isInvoicePrefixTaken),
    checkSequence(`${path}.next_sequence`, invoice.next_sequence),
    checkCustomFields(`${path}.custom_fields`, invoice.custom_fields),
    checkLength(`${path}.footer`, invoice.footer, MAX_FOOTER_LENGTH),
  ];
}

function merchantProblems(context: AccountContext): Problem[] {
  const merchant = context.requestFields.configuration?.merchant;
  if (!merchant) return [];
  const path = 'configuration.merchant';
  const bacs = merchant.bacs_debit_payments?.display_name;
  return [
    checkColor(`${path}.branding.primary_color`, merchant.branding?.primary_color),
    checkColor(`${path}.branding.secondary_color`, merchant.branding?.secondary_color),
    checkLength(`${path}.bacs_debit_payments.display_name`, bacs, MAX_BACS_NAME_LENGTH),
  ];
}

function checkPrefix(field: string, prefix: string | null | undefined, isTaken: boolean): Problem {
  if (!prefix) return undefined;
  if (!PREFIX.test(prefix)) {
    const message = `${field} must be 3 to 12 capital letters or digits, not ${quote(prefix)}.`;
    return { field, code: 'bad_format', message };
  }
  if (!isTaken) return undefined;
  const message = `${field} ${quote(prefix)} is already used by another account.`;
  return { field, code: 'bad_format', message };
}

function checkSequence(field: string, sequence: number | null | undefined): Problem {
  if (sequence === null || sequence === undefined || sequence >= 1) return undefined;
  return { field, code: 'out_of_range', message: `${field} must be at least 1, not ${sequence}.` };
}

/** An item without a value removes the field with that name and does not count. */
function checkCustomFields(
  field: string,
  sent:
    | readonly { readonly name?: string | null; readonly value?: string | null }[]
    | null
    | undefined,
): Problem {
  const names = (sent ?? []).filter(({ value }) => value !== '').map(({ name }) => name);
  if (names.length > MAX_CUSTOM_FIELD_COUNT) {
    const message = `${field} contains ${names.length} fields; at most ${MAX_CUSTOM_FIELD_COUNT} are allowed.`;
    return { field, code: 'too_long', message };
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (!twice) return undefined;
  return { field, code: 'bad_format', message: `${field} contains ${quote(twice)} twice.` };
}

function checkColor(field: string, color: string | null | undefined): Problem {
  if (!color || COLOR.test(color)) return undefined;
  const message = `${field} must be a color like #2f4858, not ${quote(color)}.`;
  return { field, code: 'bad_format', message };
}

function checkLength(field: string, text: string | null | undefined, max: number): Problem {
  if (!text || !isLongerThan(text, max)) return undefined;
  const message = `${field} is longer than ${max} characters.`;
  return { field, code: 'too_long', message };
}

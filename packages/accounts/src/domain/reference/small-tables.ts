import { once, referenceTable } from './read-reference.js';

interface LengthRange {
  readonly min: number;
  readonly max: number;
}

export interface DescriptorLimits {
  readonly descriptor: LengthRange;
  readonly prefix: LengthRange;
}

interface DescriptorTable {
  readonly latin: DescriptorLimits & { readonly forbidden: string };
  readonly kana: DescriptorLimits;
  readonly kanji: DescriptorLimits;
}

/** Onboarding requirements by country; country lists may contain names of country sets. */
export interface RequirementTable {
  readonly primary_business_id_number: Readonly<Record<string, string>>;
  readonly person_id_number: Readonly<Record<string, string>>;
  readonly person_id_number_alternative: Readonly<Record<string, string>>;
  readonly states: readonly string[];
  readonly no_postal_code: readonly string[];
  readonly structure: readonly string[];
  readonly directors: readonly string[];
  readonly executives: readonly string[];
  readonly ownership_declaration: readonly string[];
  readonly tax_state: readonly string[];
}

export const descriptorLimits = referenceTable<DescriptorTable>('statement-descriptors');
export const requirementTable = referenceTable<RequirementTable>('requirements');

const locales = referenceTable<{ readonly values: readonly string[] }>('locales');
const codes = referenceTable<{ readonly codes: readonly string[] }>('mcc');
const emailDomains = referenceTable<{ readonly refused_for_recipients: readonly string[] }>(
  'email-domains',
);
const paymentMethods = referenceTable<{ readonly not_default: readonly string[] }>(
  'payment-method-types',
);
const codeSet = once(() => new Set(codes().codes));

export function localeTags(): readonly string[] {
  return locales().values;
}

/** Whether `code` is a merchant category code (four digits). */
export function isMerchantCategoryCode(code: string): boolean {
  return codeSet().has(code);
}

/** Returns the default of the platform setting `recipient_blocked_email_domains`. */
export function defaultBlockedEmailDomains(): readonly string[] {
  return emailDomains().refused_for_recipients;
}

/** Whether invoices can be charged to a payment method of this type off-session. */
export function canBeDefaultPaymentMethod(type: string): boolean {
  return !paymentMethods().not_default.includes(type);
}

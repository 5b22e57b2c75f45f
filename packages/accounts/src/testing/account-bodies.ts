import type { Json } from './test-platform.js';

/** Merges objects recursively; other values are replaced. */
export function deepMerge(base: Json, over: Json): Json {
  const merged: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const before = merged[name];
    merged[name] = isObject(before) && isObject(value) ? deepMerge(before, value) : value;
  }
  return merged;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a nested object: `at('a.b', 1)` is `{a: {b: 1}}`. */
export function at(path: string, value: unknown): Json {
  return path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Json;
}

/** An account of a company in the United States with card payments. */
export const MERCHANT: Json = {
  contact_email: 'furever@example.com',
  display_name: 'Furever',
  identity: { country: 'us', entity_type: 'company' },
  configuration: { merchant: { capabilities: { card_payments: { requested: true } } } },
};

export const merchant = (...over: readonly Json[]): Json => over.reduce(deepMerge, MERCHANT);

export const CUSTOMER: Json = { configuration: { customer: {} } };

export const customer = (...over: readonly Json[]): Json => over.reduce(deepMerge, CUSTOMER);

/** A recipient, which may have any dashboard except full. */
export const RECIPIENT: Json = {
  contact_email: 'furever@example.com',
  identity: { country: 'us', entity_type: 'company' },
  configuration: {
    recipient: { capabilities: { bank_accounts: { local: { requested: true } } } },
  },
};

export const recipient = (...over: readonly Json[]): Json => over.reduce(deepMerge, RECIPIENT);

export const responsibilities = (fees: string, losses: string): Json => ({
  defaults: { responsibilities: { fees_collector: fees, losses_collector: losses } },
});

/** A platform that collects fees, losses and requirements itself. */
export const SELF_COLLECTED: Json = {
  dashboard: 'none',
  ...responsibilities('application', 'application'),
};

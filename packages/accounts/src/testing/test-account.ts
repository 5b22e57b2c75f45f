import { type AccountFields, NO_OVERRIDES, type StoredAccount } from '../model/account/account.js';
import { CONFIGURATION_NAMES } from '../model/account/configuration-name.js';
import type { PersonFields, StoredPerson } from '../model/account/person.js';

/** Creation time of test accounts and their configurations. */
export const START_MS = Date.UTC(2026, 10, 21, 10);

const NONE = { collector: 'vendor', entries: [], alternatives: [] } as const;
const SINCE_START = { firstMs: START_MS, sinceMs: START_MS, isActive: true };

/** An open test-mode account before its first evaluation. */
export function testAccount(
  fields: AccountFields,
  more: Partial<StoredAccount> = {},
): StoredAccount {
  const applied = CONFIGURATION_NAMES.filter((name) => fields.configuration?.[name]);
  return {
    id: 'acct_1',
    platform: 'plat_default',
    livemode: false,
    createdMs: START_MS,
    isClosed: false,
    fields,
    applied: Object.fromEntries(applied.map((name) => [name, SINCE_START])),
    individualId: undefined,
    everActive: [],
    overrides: NO_OVERRIDES,
    operatorRequirements: [],
    verifications: {},
    capabilities: {},
    requirements: NONE,
    futureRequirements: NONE,
    nextEvaluationMs: undefined,
    ...more,
  };
}

/** A person of that account. */
export function testPerson(
  id: string,
  fields: PersonFields,
  more: Partial<StoredPerson> = {},
): StoredPerson {
  const times = { createdMs: START_MS, updatedMs: START_MS };
  return { id, accountId: 'acct_1', livemode: false, fields, ...times, ...more };
}

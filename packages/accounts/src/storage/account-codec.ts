import type { Selectable } from 'kysely';
import type { StoredAccount } from '../model/account/account.js';
import type { ConfigurationName } from '../model/account/configuration-name.js';
import { appliedConfigurations } from '../model/account/derived.js';
import type { IdNumber } from '../model/account/parts.js';
import type { PersonFields, StoredPerson } from '../model/account/person.js';
import { type Tenant, tenantKey } from '../model/platform/tenant.js';
import type { AccountTables } from './account-tables.js';
import type { Encryptor } from './encryptor.js';
import {
  type PackedFutureRequirements,
  type PackedRequirements,
  packRequirements,
  unpackRequirements,
} from './requirements-codec.js';

export type AccountRow = Selectable<AccountTables['accounts_accounts']>;
export type PersonRow = Selectable<AccountTables['accounts_persons']>;

/** Layout versions of `body`. See docs/formats/accounts.md. */
const ACCOUNT_BODY_VERSION = 3;
const PERSON_BODY_VERSION = 1;
/** Bits of the column `configurations`. */
export const CONFIGURATION_BITS: Readonly<Record<ConfigurationName, number>> = {
  customer: 1,
  merchant: 2,
  recipient: 4,
};
export const INCOMPATIBLE_FLAG = 1;
export const V1_FLAG = 2;

type Stored = Omit<StoredAccount, keyof Tenant | 'id' | 'operatorRequirements' | 'overrides'> & {
  readonly injected: StoredAccount['operatorRequirements'];
  readonly state: StoredAccount['overrides'];
};
type AccountBody =
  | (Stored & { readonly v: 1 })
  | (Omit<Stored, 'requirements' | 'futureRequirements'> & {
      readonly v: 2 | 3;
      readonly requirements: PackedRequirements;
      readonly futureRequirements: PackedFutureRequirements;
    });

/** Returns all masks that contain at least the given configurations. */
export function masksWith(names: readonly ConfigurationName[]): readonly number[] {
  const requiredMask = names.reduce((mask, name) => mask | CONFIGURATION_BITS[name], 0);
  return [0, 1, 2, 3, 4, 5, 6, 7].filter((mask) => (mask & requiredMask) === requiredMask);
}

/** @param summaryJson the account as sent without `include`; stored in the column `head`. */
export function toAccountRow(
  account: StoredAccount,
  summaryJson: string,
  encryptor: Encryptor,
): AccountRow {
  const { id, platform, livemode, createdMs, isClosed, nextEvaluationMs, overrides, ...others } =
    account;
  const { operatorRequirements, ...rest } = others;
  const body = {
    v: ACCOUNT_BODY_VERSION,
    ...rest,
    injected: operatorRequirements,
    requirements: packRequirements(account.requirements),
    futureRequirements: packRequirements(account.futureRequirements),
    state: overrides,
    fields: encryptAccount(account, encryptor),
  };
  const customer = account.fields.configuration?.customer;
  return {
    id,
    tenant: tenantKey({ platform, livemode }),
    created_ms: createdMs,
    is_closed: isClosed ? 1 : 0,
    configurations: appliedConfigurations(account).reduce(
      (mask, name) => mask | CONFIGURATION_BITS[name],
      0,
    ),
    flags: (overrides.incompatible_with_v2 ? INCOMPATIBLE_FLAG : 0) | (overrides.v1 ? V1_FLAG : 0),
    head: summaryJson,
    body: JSON.stringify(body),
    due_ms: isClosed ? null : (nextEvaluationMs ?? null),
    test_clock: isClosed ? null : (customer?.test_clock ?? null),
    invoice_prefix: customer?.billing?.invoice?.prefix ?? null,
  };
}

/**
 * @param encryptor decrypts id numbers. Without it they stay encrypted, which is sufficient for
 * responses.
 */
export function fromAccountRow(
  row: AccountRow,
  tenant: Tenant,
  encryptor?: Encryptor,
): StoredAccount {
  const body = JSON.parse(row.body) as AccountBody; // `toAccountRow` wrote this JSON
  const account: StoredAccount = {
    platform: tenant.platform,
    livemode: tenant.livemode,
    id: row.id,
    createdMs: Number(row.created_ms),
    isClosed: row.is_closed === 1,
    fields: body.fields,
    applied: body.applied,
    individualId: body.individualId ?? undefined,
    everActive: body.everActive,
    overrides: body.state,
    operatorRequirements: body.injected,
    verifications: body.verifications,
    capabilities: body.capabilities,
    requirements: body.v === 1 ? body.requirements : unpackRequirements(body.requirements),
    futureRequirements:
      body.v === 1 ? body.futureRequirements : unpackRequirements(body.futureRequirements),
    nextEvaluationMs: row.due_ms === null ? undefined : Number(row.due_ms),
  };
  if (encryptor === undefined) return account;
  return mapIdNumbers(account, (number) => decryptNumber(number, account.id, encryptor));
}

function encryptAccount(account: StoredAccount, encryptor: Encryptor): StoredAccount['fields'] {
  return mapIdNumbers(account, (number) => encryptNumber(number, account.id, encryptor)).fields;
}

function mapIdNumbers(
  account: StoredAccount,
  change: (number: IdNumber) => IdNumber,
): StoredAccount {
  const { identity } = account.fields;
  const details = identity?.business_details;
  if (details?.id_numbers === undefined) return account;
  const business_details = { ...details, id_numbers: details.id_numbers.map(change) };
  return { ...account, fields: { ...account.fields, identity: { ...identity, business_details } } };
}

export function toPersonRow(person: StoredPerson, tenant: Tenant, encryptor: Encryptor): PersonRow {
  const { id, accountId, createdMs, updatedMs, fields } = person;
  const sealed = mapPersonNumbers(fields, (number) => encryptNumber(number, id, encryptor));
  return {
    id,
    tenant: tenantKey(tenant),
    account_id: accountId,
    created_ms: createdMs,
    body: JSON.stringify({ v: PERSON_BODY_VERSION, updatedMs, fields: sealed }),
  };
}

export function fromPersonRow(
  row: PersonRow,
  livemode: boolean,
  encryptor?: Encryptor,
): StoredPerson {
  const body = JSON.parse(row.body) as Pick<StoredPerson, 'updatedMs' | 'fields'>; // `toPersonRow` wrote this JSON
  const open = (number: IdNumber): IdNumber =>
    encryptor === undefined ? number : decryptNumber(number, row.id, encryptor);
  return {
    id: row.id,
    accountId: row.account_id,
    createdMs: Number(row.created_ms),
    updatedMs: body.updatedMs,
    livemode,
    fields: mapPersonNumbers(body.fields, open),
  };
}

function mapPersonNumbers(
  fields: PersonFields,
  change: (number: IdNumber) => IdNumber,
): PersonFields {
  if (fields.id_numbers === undefined) return fields;
  return { ...fields, id_numbers: fields.id_numbers.map(change) };
}

const encryptNumber = (number: IdNumber, rowId: string, encryptor: Encryptor): IdNumber => ({
  ...number,
  value: encryptor.encrypt(number.value, rowId),
});
const decryptNumber = (number: IdNumber, rowId: string, encryptor: Encryptor): IdNumber => ({
  ...number,
  value: encryptor.decrypt(number.value, rowId),
});

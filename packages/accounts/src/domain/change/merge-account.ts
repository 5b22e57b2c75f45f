import type { AccountFields, Applied, StoredAccount } from '../../model/account/account.js';
import { CONFIGURATION_NAMES } from '../../model/account/configuration-name.js';
import { isMerchantOrRecipient } from '../../model/account/derived.js';
import type { PersonFields, StoredPerson } from '../../model/account/person.js';
import { isSame, mergeFields } from '../../model/merge-fields.js';
import type { PlatformSettings } from '../../model/platform/platform-settings.js';
import type { AccountCheck } from '../../model/rule-input.js';

export type AccountRequestFields = AccountCheck['requestFields'];

export interface MergeOptions {
  readonly nowMs: number;
  readonly settings: PlatformSettings;
  /** Generates an id if this write creates the Person of an individual account. */
  readonly newPersonId: () => string;
  readonly newInvoicePrefix: () => string;
}

export interface MergedAccount {
  /** The account without `identity.individual`. */
  readonly account: StoredAccount;
  /** The individual as it would be stored; `undefined` if the account has no individual after the change. */
  readonly individual: StoredPerson | undefined;
}

/** Merges `requestFields` into an account. Source: accounts, sections 8.5 and 10. */
export function mergeAccount(
  stored: StoredAccount,
  storedIndividual: StoredPerson | undefined,
  requestFields: AccountRequestFields,
  options: MergeOptions,
): MergedAccount {
  const { individual: givenIndividual, ...requestIdentity } = requestFields.identity ?? {};
  const isIdentityUnset = requestFields.identity === null;
  const fields = mergeFields<AccountFields>(stored.fields, {
    ...requestFields,
    ...(requestFields.identity !== undefined && {
      identity: isIdentityUnset ? null : requestIdentity,
    }),
    configuration: withoutApplied(requestFields.configuration),
    account_token: undefined,
    include: undefined,
  });
  const applied = mergeApplied(stored, requestFields, options.nowMs);
  const account = withDefaults({ ...stored, fields, applied }, stored, options);
  if (givenIndividual === undefined || givenIndividual === null) {
    return { account, individual: storedIndividual };
  }
  const individual = mergePerson(storedIndividual, givenIndividual, {
    accountId: stored.id,
    livemode: stored.livemode,
    nowMs: options.nowMs,
    newPersonId: options.newPersonId,
  });
  return { account: { ...account, individualId: individual.id }, individual };
}

/**
 * Merges `requestFields` into a Person. Returns the same object if nothing changes, so that it is neither
 * written nor reported.
 */
export function mergePerson(
  stored: StoredPerson | undefined,
  requestFields: unknown,
  options: {
    readonly accountId: string;
    readonly livemode: boolean;
    readonly nowMs: number;
    readonly newPersonId: () => string;
  },
): StoredPerson {
  const fields = mergeFields<PersonFields>(stored?.fields, requestFields);
  if (stored !== undefined) {
    return isSame(fields, stored.fields) ? stored : { ...stored, fields, updatedMs: options.nowMs };
  }
  return {
    id: options.newPersonId(),
    accountId: options.accountId,
    createdMs: options.nowMs,
    updatedMs: options.nowMs,
    livemode: options.livemode,
    fields,
  };
}

function withoutApplied(configuration: AccountRequestFields['configuration']): unknown {
  if (configuration === undefined || configuration === null) return configuration;
  return Object.fromEntries(
    Object.entries(configuration).map(([name, settings]) => {
      if (typeof settings !== 'object' || settings === null) return [name, settings];
      const { applied: _, ...others } = settings as { applied?: boolean };
      return [name, others];
    }),
  );
}

function mergeApplied(
  stored: StoredAccount,
  requestFields: AccountRequestFields,
  nowMs: number,
): StoredAccount['applied'] {
  const applied = { ...stored.applied };
  for (const name of CONFIGURATION_NAMES) {
    const settings = requestFields.configuration?.[name];
    if (settings === undefined) continue;
    const before = applied[name];
    const after = nextApplied(before, settings.applied, nowMs);
    if (after !== undefined) applied[name] = after;
  }
  return applied;
}

/** Settings do not reactivate a deactivated configuration; the rules reject them. */
function nextApplied(
  before: Applied | undefined,
  applied: boolean | undefined,
  nowMs: number,
): Applied | undefined {
  if (before === undefined) {
    return applied === false ? undefined : { firstMs: nowMs, sinceMs: nowMs, isActive: true };
  }
  if (applied === undefined || applied === before.isActive) return before;
  return { ...before, sinceMs: applied ? nowMs : before.sinceMs, isActive: applied };
}

function withDefaults(
  account: StoredAccount,
  stored: StoredAccount,
  { settings, newInvoicePrefix }: MergeOptions,
): StoredAccount {
  let { fields } = account;
  if (isMerchantOrRecipient(account)) {
    const isFirst = !isMerchantOrRecipient(stored);
    // A merchant or recipient always has responsibilities, so unsetting them restores the
    // platform's defaults.
    if (isFirst || fields.defaults?.responsibilities === undefined) {
      const { fees, losses } = settings.default_responsibilities;
      const responsibilities = {
        fees_collector: fees,
        losses_collector: losses,
        ...fields.defaults?.responsibilities,
      };
      fields = { ...fields, defaults: { ...fields.defaults, responsibilities } };
    }
    if (isFirst && fields.dashboard === undefined && settings.default_dashboard !== null) {
      fields = { ...fields, dashboard: settings.default_dashboard };
    }
  }
  const customer = fields.configuration?.customer;
  const invoice = customer?.billing?.invoice;
  if (account.applied.customer !== undefined && invoice?.prefix === undefined) {
    const billing = { ...customer?.billing, invoice: { ...invoice, prefix: newInvoicePrefix() } };
    fields = {
      ...fields,
      configuration: { ...fields.configuration, customer: { ...customer, billing } },
    };
  }
  return { ...account, fields };
}

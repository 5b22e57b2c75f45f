import type { Tenant } from '../../model/platform/tenant.js';
import { AccountsRefused } from '../../model/violation.js';
import { INCOMPATIBLE_FLAG, V1_FLAG } from '../../storage/account-codec.js';
import type { AccountStore, AccountSummary, Aggregate } from '../../storage/account-store.js';
import { accountClosed, notFound } from '../refusals.js';

/** Checks the account id in the path of a request (step 8 of the check order). Source: accounts, sections 12 and 14. */
export class AccountAccess {
  readonly #store: AccountStore;

  constructor(store: AccountStore) {
    this.#store = store;
  }

  /** Throws `AccountsRefused`. */
  async summary(tenant: Tenant, id: string): Promise<AccountSummary> {
    refuseOtherKinds(id);
    const summary = await this.#store.summary(tenant, id);
    if (summary === undefined) throw notFound('account', id);
    refuseFlags(id, summary.flags);
    return summary;
  }

  /** Loads an account for a change and requires it to be open. Throws `AccountsRefused`. */
  async toChange(tenant: Tenant, id: string): Promise<Aggregate> {
    refuseOtherKinds(id);
    const found = await this.#store.aggregate(tenant, id);
    if (found === undefined) throw notFound('account', id);
    const { overrides, isClosed } = found.account;
    refuseFlags(
      id,
      (overrides.incompatible_with_v2 ? INCOMPATIBLE_FLAG : 0) | (overrides.v1 ? V1_FLAG : 0),
    );
    if (isClosed) throw accountClosed(id);
    return found;
  }
}

function refuseOtherKinds(id: string): void {
  if (!id.startsWith('cus_')) return;
  throw new AccountsRefused({
    code: 'v1_customer_instead_of_v2_account',
    message: `${id} is a v1 customer, not an account; use the ID of an account.`,
  });
}

function refuseFlags(id: string, flags: number): void {
  if ((flags & V1_FLAG) !== 0) {
    throw new AccountsRefused({
      code: 'v1_account_instead_of_v2_account',
      message: `${id} is a v1 account; use the ID of a v2 account.`,
    });
  }
  if ((flags & INCOMPATIBLE_FLAG) !== 0) {
    throw new AccountsRefused({
      code: 'account_not_yet_compatible_with_v2',
      message: `Account ${id} cannot be used with this API yet.`,
    });
  }
}

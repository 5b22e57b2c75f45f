import type { StoredAccount } from '../account/account.js';
import type { StoredPerson } from '../account/person.js';

/** An account with the person data included in its response. */
export interface AccountView {
  readonly account: StoredAccount;
  /** The Person of an individual account. */
  readonly individual: StoredPerson | undefined;
}

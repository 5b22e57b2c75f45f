import type { StoredAccount } from '../account/account.js';
import type { StoredPerson } from '../account/person.js';

/** An account and what of its persons is answered with it. */
export interface AccountView {
  readonly account: StoredAccount;
  /** The Person of an individual account. */
  readonly individual: StoredPerson | undefined;
}

import type { StoredAccount } from '../account.js';
import type { StoredPerson } from '../person.js';

/** An account and what of its persons is answered with it. */
export interface AccountView {
  readonly account: StoredAccount;
  /** The Person of an individual account. */
  readonly individual: StoredPerson | undefined;
}

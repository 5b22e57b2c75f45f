/** Whether a credential is right cannot be found out while a store is away: it is not wrong, and asking again may help. */
export class CredentialUncheckable extends Error {
  override readonly name = 'CredentialUncheckable';
  readonly kind = 'credential_uncheckable';
  /** For the header `Retry-After`. */
  readonly retryAfterSec = 1;
  constructor(cause: unknown) {
    super('the credential cannot be checked at the moment; try again', { cause });
  }
}

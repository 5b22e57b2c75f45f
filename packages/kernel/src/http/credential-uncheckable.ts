/** A credential cannot be verified while a store is unavailable. It may be valid, so a retry may help. */
export class CredentialUncheckable extends Error {
  override readonly name = 'CredentialUncheckable';
  readonly kind = 'credential_uncheckable';
  /** The value of the `Retry-After` header. */
  readonly retryAfterSec = 1;
  constructor(cause: unknown) {
    super('the credential cannot be verified at the moment; try again', { cause });
  }
}

/** No credential, or one that is unknown or has expired: the two are not told apart to the client. */
export class NotAuthenticated extends Error {
  override readonly name = 'NotAuthenticated';
  readonly kind = 'not_authenticated';
  constructor() {
    super('the request was not authenticated');
  }
}

/** There is an `Authorization` header, but it cannot be read. Source: tsdb-http, section 2. */
export class CredentialMalformed extends Error {
  override readonly name = 'CredentialMalformed';
  readonly kind = 'credential_malformed';
  constructor() {
    super(
      "Authorization header was malformed, the request was not in the form of 'Authorization: <auth-scheme> <token>', supported auth-schemes are Bearer, Token and Basic",
    );
  }
}

/** The principal is known and may not do this. */
export class NotAllowed extends Error {
  override readonly name = 'NotAllowed';
  readonly kind = 'not_allowed';
  constructor() {
    super('unauthorized to perform requested action with the token');
  }
}

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

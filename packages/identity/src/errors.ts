import type {
  BodyCut,
  BodyTooLarge,
  ContentTypeUnacceptable,
  CredentialMalformed,
  CredentialUncheckable,
  EncodingUnacceptable,
  GzipCorrupt,
  NotAuthenticated,
  RequestInvalid,
} from '@plinth/kernel';

/** Closed list of the expected failures of this service. Source: tsdb-http, "Error model" and "Tokens". */

export class TokenNameExists extends Error {
  override readonly name = 'TokenNameExists';
  readonly kind = 'token_name_exists';
  constructor(at: { tokenName: string }) {
    super(`token name already exists, ${at.tokenName}`);
  }
}

export class TokenNotFound extends Error {
  override readonly name = 'TokenNotFound';
  readonly kind = 'token_not_found';
  constructor(at: { tokenName: string }) {
    super(`the requested resource was not found: ${at.tokenName}`);
  }
}

export class OperatorTokenMissing extends Error {
  override readonly name = 'OperatorTokenMissing';
  readonly kind = 'operator_token_missing';
  constructor() {
    super('missing admin token, cannot update');
  }
}

export class OperatorTokenUndeletable extends Error {
  override readonly name = 'OperatorTokenUndeletable';
  readonly kind = 'operator_token_undeletable';
  constructor() {
    super('cannot delete operator token');
  }
}

export class TokenLimitReached extends Error {
  override readonly name = 'TokenLimitReached';
  readonly kind = 'token_limit_reached';
  constructor(at: { limit: number }) {
    super(`Adding a new token would exceed limit of ${at.limit} tokens`);
  }
}

/** The server runs without authentication: there is nothing to manage. */
export class EndpointDisabled extends Error {
  override readonly name = 'EndpointDisabled';
  readonly kind = 'endpoint_disabled';
  constructor() {
    super('endpoint disabled, started without auth');
  }
}

export class JsonInvalid extends Error {
  override readonly name = 'JsonInvalid';
  readonly kind = 'json_invalid';
  constructor(cause: unknown) {
    super(`serde json error: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** Query string and body name different things. */
export class ConflictingValues extends Error {
  override readonly name = 'ConflictingValues';
  readonly kind = 'conflicting_values';
  constructor(parameter: string) {
    super(`conflicting values for '${parameter}' and '${parameter}'`);
  }
}

/** Stops the start: the operator named a file that holds no token. */
export class TokenFileInvalid extends Error {
  override readonly name = 'TokenFileInvalid';
  readonly kind = 'token_file_invalid';
  constructor(at: { path: string; why: string }) {
    super(`admin token file ${at.path}: ${at.why}`);
  }
}

/** There is no such app, or no such key of it. */
export class AppNotFound extends Error {
  override readonly name = 'AppNotFound';
  readonly kind = 'app_not_found';
  constructor() {
    super('Not Found');
  }
}

/** Below `/ops/v1`; the message may be shown. */
export class IdentityExists extends Error {
  override readonly name = 'IdentityExists';
  readonly kind = 'identity_exists';
  constructor(at: { key: string }) {
    super(`there is an identity ${at.key}`);
  }
}

export class IdentityNotFound extends Error {
  override readonly name = 'IdentityNotFound';
  readonly kind = 'identity_not_found';
  constructor(at: { key: string }) {
    super(`no identity ${at.key}`);
  }
}

export class CredentialNotFound extends Error {
  override readonly name = 'CredentialNotFound';
  readonly kind = 'credential_not_found';
  constructor() {
    super('no such credential');
  }
}

/** Another site's page, or a name of another, where a request would do what admins may without a credential. */
export class PageRefused extends Error {
  override readonly name = 'PageRefused';
  readonly kind = 'page_refused';
}

/** To its asker the installation does not exist. */
export class InstallationOfOtherApp extends Error {
  override readonly name = 'InstallationOfOtherApp';
  readonly kind = 'installation_of_other_app';
  constructor(at: { key: string }) {
    super(`${at.key} is not an installation of this app`);
  }
}

/** What a request can end in. */
export type IdentityError =
  | NotAuthenticated
  | CredentialMalformed
  | CredentialUncheckable
  | RequestInvalid
  | TokenNameExists
  | TokenNotFound
  | OperatorTokenMissing
  | OperatorTokenUndeletable
  | TokenLimitReached
  | EndpointDisabled
  | PageRefused
  | ContentTypeUnacceptable
  | EncodingUnacceptable
  | GzipCorrupt
  | BodyCut
  | BodyTooLarge
  | JsonInvalid
  | ConflictingValues;

/** A key's text was brought along and is none. The message never holds it. */
export class PlatformKeyMalformed extends Error {
  override readonly name = 'PlatformKeyMalformed';
  readonly kind = 'platform_key_malformed';
  constructor() {
    super(
      'a platform key is sk_, rk_ or pk_, then test_ or live_, then 24 to 200 letters and digits',
    );
  }
}

/** Two platforms cannot share a key. */
export class PlatformKeyExists extends Error {
  override readonly name = 'PlatformKeyExists';
  readonly kind = 'platform_key_exists';
  constructor(at: { platform: string }) {
    super(`the key belongs to platform ${at.platform} already`);
  }
}

export class PlatformKeyLimitReached extends Error {
  override readonly name = 'PlatformKeyLimitReached';
  readonly kind = 'platform_key_limit_reached';
  constructor(at: { limit: number }) {
    super(`there are ${at.limit} platform keys already`);
  }
}

import {
  asGiven,
  type CredentialUncheckable,
  type ErrorOf,
  errorCatalogue,
  type RequestError,
  type RequestInvalid,
} from '@plinth/kernel';

/** Closed catalogue of the expected failures of this service. Source: tsdb-http, "Error model" and "Tokens". */
const TEXTS = {
  token_name_exists: (at: { readonly tokenName: string }) =>
    `token name already exists, ${at.tokenName}`,
  token_not_found: (at: { readonly tokenName: string }) =>
    `the requested resource was not found: ${at.tokenName}`,
  operator_token_missing: 'missing admin token, cannot update',
  operator_token_undeletable: 'cannot delete operator token',
  token_limit_reached: (at: { readonly limit: number }) =>
    `Adding a new token would exceed limit of ${at.limit} tokens`,
  /** A permission that means nothing; the text is complete as the client sees it. */
  permission_invalid: asGiven,
  /** Users of version 1; the texts are those of its server. */
  user_exists: 'user already exists',
  user_not_found: 'user not found',
  user_invalid: asGiven,
  /** Whether the password that came with this one is right is not looked at. */
  logins_locked: (at: { readonly seconds: number }) =>
    `too many wrong passwords of this user came from this address: try again in ${at.seconds} s`,
  user_limit_reached: (at: { readonly limit: number }) =>
    `there are ${at.limit} users already, and no more can be made`,
  /** The server runs without authentication: there is nothing to manage. */
  endpoint_disabled: 'endpoint disabled, started without auth',
  json_invalid: (why: string) => `serde json error: ${why}`,
  /** Query string and body name different things. */
  conflicting_values: (parameter: string) =>
    `conflicting values for '${parameter}' and '${parameter}'`,
  /** Another site's page, or a name of another, where a request would do what admins may without a credential. */
  page_refused: asGiven,
  /** There is no token yet, and the request may come from another machine. */
  claim_code_missing:
    'missing claim code: send it in the header X-Plinth-Claim-Code; the server printed it on its terminal or wrote it to the file claim-code in its data directory',
  claim_code_wrong:
    'wrong claim code: each start of the server creates another one, printed on its terminal or written to the file claim-code in its data directory',
  claims_locked: (at: { readonly seconds: number }) =>
    `too many wrong claim codes: try again in ${at.seconds} s; the code is on the terminal of the server or in the file claim-code in its data directory`,
  /** Stops the start: the operator named a file that holds no token. */
  token_file_invalid: (at: { readonly path: string; readonly why: string }) =>
    `admin token file ${at.path}: ${at.why}`,
  /** There is no such app, or no such key of it. */
  app_not_found: 'Not Found',
  /** More keys are to be made than anybody would wait for. */
  keys_overloaded: (limit: number) =>
    `${limit} keys are being made already; try again, or bring a public_key along`,
  /** Below `/ops/v1`; the text may be shown. */
  identity_exists: (at: { readonly key: string }) => `there is an identity ${at.key}`,
  identity_not_found: (at: { readonly key: string }) => `no identity ${at.key}`,
  credential_not_found: 'no such credential',
  /** To its asker the installation does not exist. */
  installation_of_other_app: (at: { readonly key: string }) =>
    `${at.key} is not an installation of this app`,
  /** A key's text was brought along and is none. The text never holds it. */
  platform_key_malformed:
    'a platform key is sk_, rk_ or pk_, then test_ or live_, then 24 to 200 letters and digits',
  /** Two platforms cannot share a key. */
  platform_key_exists: (at: { readonly platform: string }) =>
    `the key belongs to platform ${at.platform} already`,
  platform_key_limit_reached: (at: { readonly limit: number }) =>
    `there are ${at.limit} platform keys already`,
} as const;

export const identityError = errorCatalogue('IdentityError', TEXTS);

/** What a request can end in. */
export type IdentityError =
  | ErrorOf<
      typeof TEXTS,
      | 'token_name_exists'
      | 'token_not_found'
      | 'operator_token_missing'
      | 'operator_token_undeletable'
      | 'token_limit_reached'
      | 'permission_invalid'
      | 'logins_locked'
      | 'endpoint_disabled'
      | 'json_invalid'
      | 'conflicting_values'
      | 'page_refused'
      | 'claim_code_missing'
      | 'claim_code_wrong'
      | 'claims_locked'
    >
  | RequestError<
      | 'not_authenticated'
      | 'credential_malformed'
      | 'not_permitted'
      | 'content_type_unacceptable'
      | 'encoding_unacceptable'
      | 'gzip_corrupt'
      | 'body_cut'
      | 'body_too_slow'
      | 'body_in_crumbs'
      | 'body_too_large'
    >
  | CredentialUncheckable
  | RequestInvalid;

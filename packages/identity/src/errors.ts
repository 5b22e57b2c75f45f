import {
  asGiven,
  type CredentialUncheckable,
  type ErrorOf,
  errorCatalogue,
  type RequestError,
  type RequestInvalid,
} from '@plinth/kernel';

/** Closed catalog of the expected failures of this service. Source: tsdb-http, "Error model" and "Tokens". */
const TEXTS = {
  token_name_exists: (details: { readonly tokenName: string }) =>
    `token name already exists, ${details.tokenName}`,
  token_not_found: (details: { readonly tokenName: string }) =>
    `the requested resource was not found: ${details.tokenName}`,
  operator_token_missing: 'missing admin token, cannot update',
  operator_token_undeletable: 'cannot delete operator token',
  token_limit_reached: (details: { readonly limit: number }) =>
    `Adding a new token would exceed limit of ${details.limit} tokens`,
  /** A permission is not valid; the message is the complete text for the client. */
  permission_invalid: asGiven,
  /** Errors for InfluxDB 1.x users, with the messages of the 1.x server. */
  user_exists: 'user already exists',
  user_not_found: 'user not found',
  user_invalid: asGiven,
  /** Thrown without checking the password of this request. */
  logins_locked: (details: { readonly seconds: number }) =>
    `too many wrong passwords for this user from this address; try again in ${details.seconds} s`,
  user_limit_reached: (details: { readonly limit: number }) =>
    `the limit of ${details.limit} users has been reached; drop a user first`,
  /** The server runs without authentication, so it has no tokens to manage. */
  endpoint_disabled: 'endpoint disabled, started without auth',
  json_invalid: (why: string) => `serde json error: ${why}`,
  /** Query string and body contain different values. */
  conflicting_values: (parameter: string) =>
    `conflicting values for '${parameter}' and '${parameter}'`,
  /**
   * The request comes from another site's page, or with a foreign host name, to a route that grants admin rights
   * without a credential.
   */
  page_refused: asGiven,
  /** The server has no token yet, and the request may come from another machine. */
  claim_code_missing:
    'missing claim code; send it in the header X-Plinth-Claim-Code. The server printed it on its terminal or wrote it to the file claim-code in its data directory',
  claim_code_wrong:
    'wrong claim code; use the code of the last server start. The server prints it on its terminal or writes it to the file claim-code in its data directory',
  claims_locked: (details: { readonly seconds: number }) =>
    `too many wrong claim codes; try again in ${details.seconds} s. The code is on the server's terminal or in the file claim-code in its data directory`,
  /** Stops startup: the configured file does not contain a valid token. */
  token_file_invalid: (details: { readonly path: string; readonly why: string }) =>
    `admin token file ${details.path}: ${details.why}`,
  /** The app or its key does not exist. */
  app_not_found: 'Not Found',
  /** The queue of key pairs to generate is full. */
  keys_overloaded: (limit: number) =>
    `${limit} keys are being generated; try again later or send a public_key`,
  /** Errors below `/ops/v1`; clients may see the message. */
  identity_exists: (details: { readonly key: string }) => `identity ${details.key} already exists`,
  identity_not_found: (details: { readonly key: string }) => `identity ${details.key} not found`,
  credential_not_found: 'credential not found',
  /** The installation does not exist for this app. */
  installation_of_other_app: (details: { readonly key: string }) =>
    `${details.key} is not an installation of this app`,
  /** A given key text is not valid. The message never contains it. */
  platform_key_malformed:
    'invalid platform key; use sk_, rk_ or pk_, then test_ or live_, then 24 to 200 letters and digits',
  /** Platforms cannot share a key. */
  platform_key_exists: (details: { readonly platform: string }) =>
    `the key already belongs to platform ${details.platform}`,
  platform_key_limit_reached: (details: { readonly limit: number }) =>
    `the limit of ${details.limit} platform keys has been reached; delete a key first`,
} as const;

export const identityError = errorCatalogue('IdentityError', TEXTS);

/** Errors that a request can return. */
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
      | 'body_chunks_too_small'
      | 'body_too_large'
    >
  | CredentialUncheckable
  | RequestInvalid;

import { asGiven, type CredentialUncheckable, type ErrorOf, errorCatalogue } from '@plinth/kernel';

/** Closed catalog of the expected failures of this service. */
const TEXTS = {
  limiter_disabled: 'Rate limiting is not enabled.',
  /** The counters are unavailable and `on_store_error` is `closed`. */
  store_unavailable: 'Service unavailable',
  identity_key_invalid:
    'invalid identity; use a key like user:1, installation:1, repo:1 or ip:192.0.2.1',
  /** The check is invalid; the message gives the reason. */
  check_invalid: asGiven,
  lease_unknown: 'lease not found or already finished',
  ban_unknown: 'this identity is not banned',
} as const;

export const rateLimitError = errorCatalogue('RateLimitError', TEXTS);

/** Expected failures of a request. */
export type RateLimitError = ErrorOf<typeof TEXTS> | CredentialUncheckable;

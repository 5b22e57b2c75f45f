import { asGiven, type CredentialUncheckable, type ErrorOf, errorCatalogue } from '@plinth/kernel';

/** Closed catalogue of the expected failures of this service. */
const TEXTS = {
  /** The limiter is switched off. */
  limiter_disabled: 'Rate limiting is not enabled.',
  /** The counters cannot be reached, and the operator prefers no service to one without limits. */
  store_unavailable: 'Service unavailable',
  identity_key_invalid:
    'not an identity; expected a key like user:1, installation:1, repo:1 or ip:192.0.2.1',
  /** A question that cannot be answered as it is put. */
  question_invalid: asGiven,
  lease_unknown: 'no such lease, or it has ended',
  ban_unknown: 'this identity is not banned',
} as const;

export const rateLimitError = errorCatalogue('RateLimitError', TEXTS);

/** What a request can end in. */
export type RateLimitError = ErrorOf<typeof TEXTS> | CredentialUncheckable;

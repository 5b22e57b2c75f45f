import {
  answerPlatformError,
  asOutage,
  CredentialUncheckable,
  type HttpAnswer,
  type Logger,
  platformFailureAnswer,
  requestError,
} from '@plinth/kernel';
import { type RateLimitError, rateLimitError } from '../errors.js';

/** The only place with status codes; a new kind without a row does not compile. */
const STATUS: Record<RateLimitError['kind'], number> = {
  limiter_disabled: 404,
  store_unavailable: 503,
  identity_key_invalid: 422,
  question_invalid: 422,
  lease_unknown: 404,
  ban_unknown: 404,
  not_authenticated: 401,
  credential_malformed: 401,
  credential_uncheckable: 503,
};

const isRateLimitError = (error: unknown): error is RateLimitError =>
  rateLimitError.is(error) ||
  requestError.is(error, 'not_authenticated', 'credential_malformed') ||
  error instanceof CredentialUncheckable;

/** What this service words itself; the rest is that of all platform routes. */
export function answerError(
  error: unknown,
  about: { readonly log: Logger; readonly documentationUrl: string },
): HttpAnswer {
  if (!isRateLimitError(error) || asOutage(error) !== undefined) {
    return answerPlatformError(error, about);
  }
  const status = STATUS[error.kind];
  const message = status === 401 ? 'Bad credentials' : error.message;
  return platformFailureAnswer({ status, message, documentationUrl: about.documentationUrl });
}

import {
  asOutage,
  CredentialUncheckable,
  githubErrorResponse,
  githubFailureResponse,
  type HttpResponse,
  type Logger,
} from '@plinth/kernel';
import { type RateLimitError, rateLimitError } from '../errors.js';

/** The only place with status codes; a new kind without a row does not compile. */
const STATUS: Record<RateLimitError['kind'], number> = {
  limiter_disabled: 404,
  store_unavailable: 503,
  identity_key_invalid: 422,
  check_invalid: 422,
  lease_unknown: 404,
  ban_unknown: 404,
  credential_uncheckable: 503,
};

const isRateLimitError = (error: unknown): error is RateLimitError =>
  rateLimitError.is(error) || error instanceof CredentialUncheckable;

/** Formats this service's own errors. All others use GitHub's format. */
export function errorResponse(
  error: unknown,
  options: { readonly log: Logger; readonly documentationUrl: string },
): HttpResponse {
  if (!isRateLimitError(error) || asOutage(error) !== undefined) {
    return githubErrorResponse(error, options);
  }
  const { message } = error;
  const { documentationUrl } = options;
  return githubFailureResponse({ status: STATUS[error.kind], message, documentationUrl });
}

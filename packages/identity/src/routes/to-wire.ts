import { CredentialUncheckable, RequestInvalid, requestError } from '@plinth/kernel';
import { type IdentityError, identityError } from '../errors.js';

/** The only place with status codes; a new kind without a row does not compile. */
const STATUS: Record<IdentityError['kind'], number> = {
  not_authenticated: 401,
  credential_malformed: 400,
  not_permitted: 403,
  credential_uncheckable: 503,
  request_invalid: 400,
  json_invalid: 400,
  conflicting_values: 400,
  content_type_unacceptable: 415,
  encoding_unacceptable: 400,
  gzip_corrupt: 400,
  body_cut: 400,
  body_too_slow: 408,
  body_chunks_too_small: 400,
  body_too_large: 413,
  token_name_exists: 409,
  token_not_found: 404,
  operator_token_missing: 404,
  operator_token_undeletable: 405,
  token_limit_reached: 422,
  permission_invalid: 400,
  logins_locked: 429,
  endpoint_disabled: 405,
  page_refused: 403,
  claim_code_missing: 403,
  claim_code_wrong: 403,
  claims_locked: 429,
};

export interface ErrorResponse {
  readonly status: number;
  /** Headers in addition to the content type. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as `application/json`. */
  readonly body: object;
}

/**
 * Formats an error by the API conventions of the time-series service, to which these endpoints belong.
 * `path` selects the version 2 form, whose clients read `code` and `message`. Source: tsdb-http,
 * "Authentication and authorization", "Error model", "v2 error body".
 */
export function toErrorResponse(error: IdentityError, path: string): ErrorResponse {
  const text = error.kind === 'request_invalid' ? describeInvalid(error) : error.message;
  const body = { error: text, data: {} };
  return {
    status: STATUS[error.kind],
    headers: headersOf(error),
    body: path.startsWith('/api/v2/') ? { ...v2Fields(error, text), ...body } : body,
  };
}

const CHALLENGE = { 'www-authenticate': 'Bearer realm="plinth"' };
const NO_HEADERS = {};

function headersOf(error: IdentityError): Readonly<Record<string, string>> {
  switch (error.kind) {
    case 'not_authenticated':
      return CHALLENGE;
    case 'credential_uncheckable':
      return { 'retry-after': String(error.retryAfterSec) };
    case 'logins_locked':
    case 'claims_locked':
      return { 'retry-after': String(error.details.seconds) };
    default:
      return NO_HEADERS;
  }
}

export function isIdentityError(error: unknown): error is IdentityError {
  const isOwn =
    identityError.is(error) ||
    requestError.is(error) ||
    error instanceof CredentialUncheckable ||
    error instanceof RequestInvalid;
  return isOwn && Object.hasOwn(STATUS, error.kind);
}

/**
 * Clients show `code: ` before `message`. The real system sends no code for a malformed header, and
 * tests of the Python client expect the bare message.
 */
function v2Fields(error: IdentityError, text: string): object {
  switch (error.kind) {
    case 'not_authenticated':
      return { code: 'unauthorized', message: 'unauthorized access' };
    case 'credential_malformed':
      return { message: text };
    case 'not_permitted':
      return { code: 'forbidden', message: text };
    case 'credential_uncheckable':
      return { code: 'unavailable', message: text };
    default:
      return { code: 'invalid', message: text };
  }
}

function describeInvalid(error: RequestInvalid): string {
  const prefix = error.part === 'body' ? 'serde json error' : 'serde error';
  const failure = error.failures[0];
  const field = failure?.path.at(-1);
  if (failure === undefined || field === undefined) return `${prefix}: expected a JSON object`;
  if (failure.keyword === 'required') return `${prefix}: missing field \`${field}\``;
  const expected = failure.expected.join(' or ');
  if (failure.keyword === 'type') {
    return `${prefix}: invalid type for field \`${field}\`, expected ${expected}`;
  }
  return `${prefix}: invalid value for field \`${field}\`, ${failure.keyword} is ${expected}`;
}

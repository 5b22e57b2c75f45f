import {
  asOutage,
  bytesResponse,
  DiskFull,
  githubFailure,
  type HeaderList,
  type HttpHead,
  type HttpResponse,
  jsonResponse,
  type Outage,
  operatorDocs,
  RequestInvalid,
  requestError,
  type SchemaFailure,
  ServerBusy,
} from '@plinth/kernel';
import { invalidFields } from '../domain/refusals.js';
import { ERROR_CODES, type ErrorCode } from '../model/error-codes.js';
import type { VendorWord } from '../model/platform/vendor-word.js';
import type { FieldProblem, InvalidField } from '../model/shape/check-shape.js';
import { AccountsRefused, type Violation } from '../model/violation.js';
import { isForOperators, isV1Path } from './request-authenticator.js';
import { vendorHeaderNames } from './vendor-headers.js';

/** HTTP status by error code; all other codes map to 400. Source: accounts, section 2.5. */
const STATUS: Partial<Record<ErrorCode, number>> = {
  api_key_missing: 401,
  api_key_invalid: 401,
  api_key_expired: 401,
  secret_key_required: 403,
  operator_token_required: 401,
  invalid_account_token: 403,
  invalid_person_token: 403,
  not_found: 404,
  precondition_failed: 412,
  unrecognized_url: 404,
  method_not_allowed: 405,
  idempotency_error: 409,
  idempotency_key_in_use: 409,
  request_timeout: 408,
  request_too_large: 413,
  unsupported_media_type: 415,
  account_rate_limit_exceeded: 429,
  api_error: 500,
  service_overloaded: 503,
};
const TYPE: Partial<Record<ErrorCode, string>> = {
  api_key_missing: 'authentication_error',
  api_key_invalid: 'authentication_error',
  api_key_expired: 'authentication_error',
  operator_token_required: 'authentication_error',
  secret_key_required: 'permission_error',
  idempotency_error: 'idempotency_error',
  idempotency_key_in_use: 'idempotency_error',
  account_rate_limit_exceeded: 'rate_limit',
  api_error: 'api_error',
  service_overloaded: 'api_error',
};
/** Whether clients should retry. Source: accounts, section 2.4. */
const SHOULD_RETRY: Partial<Record<ErrorCode, boolean>> = {
  idempotency_error: false,
  idempotency_key_in_use: true,
  account_rate_limit_exceeded: true,
  service_overloaded: true,
};

export const statusOf = (code: ErrorCode): number => STATUS[code] ?? 400;

export interface ErrorWording {
  readonly vendorWord: VendorWord;
  readonly headerPrefixes: readonly string[];
  /**
   * Returns the public URL of this server.
   * @param requestUrl scheme and host of the request.
   */
  baseUrl(requestUrl: string): string;
  /** Reports an internal error that an operator must investigate. */
  onBug(error: unknown): void;
}

/**
 * The only place where a refusal becomes a response. Errors for operators have the common format of
 * the operator routes. Source: accounts, section 2.5.
 */
export function refusalResponse(
  error: unknown,
  request: Pick<HttpHead, 'url' | 'base'>,
  wording: ErrorWording,
): HttpResponse {
  const { base } = request;
  const violation = violationOf(error, wording);
  const status = statusOf(violation.code);
  const retry = SHOULD_RETRY[violation.code];
  const retryNames =
    retry === undefined ? [] : vendorHeaderNames(wording.headerPrefixes, 'should-retry');
  const headers = [
    ...retryNames.map((name) => [name, String(retry)] as const),
    ...(status === 429 || status === 503 ? [['retry-after', '1'] as const] : []),
  ];
  const isV1 = isV1Path(request);
  const body = errorBody(violation, { wording, baseUrl: wording.baseUrl(base), isV1 });
  if (!isForOperators(request)) return jsonResponse(status, body, headers);
  const message = wording.vendorWord.toWire(violation.message);
  const failure = { status, message, documentationUrl: operatorDocs(request) };
  return jsonResponse(status, { ...githubFailure(failure), ...body }, headers);
}

/** Returns a response with a JSON string as its body. */
export const jsonTextResponse = (json: string, headers?: HeaderList): HttpResponse =>
  bytesResponse(200, 'application/json', Buffer.from(json), headers);

function errorBody(
  violation: Violation,
  options: { readonly wording: ErrorWording; readonly baseUrl: string; readonly isV1?: boolean },
): { readonly error: Readonly<Record<string, unknown>> } {
  const { code, message, userMessage, param, extra } = violation;
  const members: string = ERROR_CODES[code];
  const { vendorWord } = options.wording;
  const shown = vendorWord.toWire(code);
  const type = TYPE[code] ?? (options.isV1 ? 'invalid_request_error' : undefined);
  return {
    error: {
      ...(type !== undefined && { type }),
      code: shown,
      message: vendorWord.toWire(message),
      ...(param !== undefined && { param: vendorWord.toWire(param) }),
      ...(members.includes('U') && { user_message: vendorWord.toWire(userMessage ?? message) }),
      ...(members.includes('D') && { doc_url: `${options.baseUrl}/docs/accounts/errors#${shown}` }),
      ...(vendorWord.allToWire(extra ?? {}) as object), // `allToWire` returns an object for an object
    },
  };
}

const PROBLEMS: Readonly<Record<string, FieldProblem>> = {
  required: 'missing_field',
  additionalProperties: 'unknown_field',
  type: 'wrong_type',
  enum: 'invalid_enum',
  maxLength: 'too_long',
  minimum: 'out_of_range',
  maximum: 'out_of_range',
};

function problemOf({ path, keyword, expected, errorMessage }: SchemaFailure): InvalidField {
  const field = path.join('.');
  const rule = expected.length === 0 ? keyword : `${keyword} ${expected.join(', ')}`;
  const message = errorMessage ?? `${field} is not valid: ${rule}.`;
  return { field, code: PROBLEMS[keyword] ?? 'bad_format', message };
}

function violationOf(error: unknown, wording: ErrorWording): Violation {
  if (error instanceof AccountsRefused) return error.violation;
  const outage = asOutage(error);
  if (outage !== undefined) {
    return { code: 'service_overloaded', message: messageOf(outage) };
  }
  if (requestError.is(error, 'body_too_large')) {
    const message = `The body is larger than ${error.details.limitBytes} bytes.`;
    return { code: 'request_too_large', message };
  }
  if (requestError.is(error, 'body_cut')) {
    return { code: 'invalid_json', message: 'The request body is incomplete.' };
  }
  if (requestError.is(error, 'body_chunks_too_small')) {
    return { code: 'invalid_json', message: `${error.message}.` };
  }
  if (requestError.is(error, 'body_too_slow')) {
    return { code: 'request_timeout', message: 'The body was sent too slowly.' };
  }
  if (error instanceof RequestInvalid) {
    return invalidFields(error.failures.map(problemOf)).violation;
  }
  if (requestError.is(error, 'json_unreadable')) {
    return { code: 'invalid_json', message: `${error.message}.` };
  }
  wording.onBug(error);
  return {
    code: 'api_error',
    message: 'Internal server error; retry with the same idempotency key.',
  };
}

function messageOf(outage: Outage): string {
  if (outage instanceof DiskFull)
    return 'The server disk is full; free space, then retry with the same idempotency key.';
  if (outage instanceof ServerBusy)
    return 'The server is overloaded; retry with the same idempotency key.';
  return 'The server cannot store or look up data at the moment; retry with the same idempotency key.';
}

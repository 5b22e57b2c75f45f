import { asOutage, DiskFull, isDomainError } from '@plinth/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ERROR_CODES, type ErrorCode } from '../model/error-codes.js';
import type { VendorWords } from '../model/vendor-words.js';
import { AccountsRefused, type Violation } from '../model/violation.js';
import type { HeaderSink } from './incoming.js';

/** Every other code is 400. Source: accounts, section 2.5. */
const STATUS: Partial<Record<ErrorCode, number>> = {
  api_key_missing: 401,
  api_key_invalid: 401,
  api_key_expired: 401,
  secret_key_required: 403,
  operator_token_required: 401,
  invalid_account_token: 403,
  invalid_person_token: 403,
  not_found: 404,
  unrecognized_url: 404,
  method_not_allowed: 405,
  idempotency_error: 409,
  idempotency_key_in_use: 409,
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
/** What clients read before they decide whether to repeat. Source: accounts, section 2.4. */
const SHOULD_RETRY: Partial<Record<ErrorCode, boolean>> = {
  idempotency_error: false,
  idempotency_key_in_use: true,
  account_rate_limit_exceeded: true,
  service_overloaded: true,
};

export const statusOf = (code: ErrorCode): number => STATUS[code] ?? 400;

export interface ErrorDialect {
  readonly words: VendorWords;
  readonly headerPrefixes: readonly string[];
  /**
   * Address of this server as clients know it.
   * @param asked as the request names it: scheme and host.
   */
  baseUrl(asked: string): string;
  /** Something failed that no client can help, and somebody has to look after. */
  onBug(error: unknown): void;
}

/** The only place where a refusal becomes an answer. Source: accounts, section 2.5. */
export function wireRefusal(
  error: unknown,
  at: { readonly url: string; readonly base: string; readonly sink: HeaderSink },
  dialect: ErrorDialect,
): { readonly status: number; readonly json: string } {
  const violation = violationOf(error, dialect);
  const { code } = violation;
  const status = statusOf(code);
  const retry = SHOULD_RETRY[code];
  if (retry !== undefined) {
    for (const prefix of dialect.headerPrefixes) {
      at.sink.header(`${prefix}-Should-Retry`, String(retry));
    }
  }
  if (status === 429 || status === 503) at.sink.header('Retry-After', '1');
  const isV1 = at.url.startsWith('/v1/');
  const body = errorBody(violation, { dialect, baseUrl: dialect.baseUrl(at.base), isV1 });
  return { status, json: JSON.stringify(body) };
}

export function answerRefusal(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  dialect: ErrorDialect,
): FastifyReply {
  const base = `${request.protocol}://${request.host}`;
  const at = { url: request.url, base, sink: reply };
  const { status, json } = wireRefusal(error, at, dialect);
  return sendBody(reply, status, json);
}

export const JSON_TYPE = 'application/json';

export function sendBody(reply: FastifyReply, status: number, json: string): FastifyReply {
  // As bytes: Fastify adds a charset parameter to text.
  return reply.code(status).header('content-type', JSON_TYPE).send(Buffer.from(json));
}

function errorBody(
  violation: Violation,
  at: { readonly dialect: ErrorDialect; readonly baseUrl: string; readonly isV1?: boolean },
): object {
  const { code, message, userMessage, param, extra } = violation;
  const members: string = ERROR_CODES[code];
  const { words } = at.dialect;
  const shown = words.out(code);
  const type = TYPE[code] ?? (at.isV1 ? 'invalid_request_error' : undefined);
  return {
    error: {
      ...(type !== undefined && { type }),
      code: shown,
      message: words.out(message),
      ...(param !== undefined && { param: words.out(param) }),
      ...(members.includes('U') && { user_message: words.out(userMessage ?? message) }),
      ...(members.includes('D') && { doc_url: `${at.baseUrl}/docs/accounts/errors#${shown}` }),
      ...(words.outAll(extra ?? {}) as object), // an object stays one
    },
  };
}

/** The framework's own refusals (body too large, bad URL) carry a status. */
function violationOf(error: unknown, dialect: ErrorDialect): Violation {
  if (error instanceof AccountsRefused) return error.violation;
  const outage = asOutage(error);
  if (outage !== undefined) {
    const message =
      outage instanceof DiskFull
        ? 'The disk of the server is full; try again with the same key when there is room.'
        : 'The server cannot store or look up anything at the moment; try again with the same key.';
    return { code: 'service_overloaded', message };
  }
  const status =
    error instanceof Error && !isDomainError(error) ? Reflect.get(error, 'statusCode') : 0;
  if (status === 413) return { code: 'request_too_large', message: 'The body is too large.' };
  if (status === 415) {
    return { code: 'unsupported_media_type', message: 'The body must be application/json.' };
  }
  if (status === 400) return { code: 'invalid_json', message: 'The body could not be read.' };
  dialect.onBug(error);
  return {
    code: 'api_error',
    message: 'Something failed on our side; the request can be repeated with the same key.',
  };
}

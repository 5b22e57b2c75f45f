import { AppJwtRefused, asOutage, isDomainError } from '@plinth/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RateLimitConfig } from '../config.js';
import type { RateLimitError } from '../errors.js';
import { docsBaseOf } from './docs-base.js';

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
  not_allowed: 403,
  credential_uncheckable: 503,
};

const isRateLimitError = (error: unknown): error is RateLimitError =>
  isDomainError(error) && Object.hasOwn(STATUS, error.kind);

/** In the dialect of clients of `/rate_limit`. */
export function answerError(
  error: unknown,
  config: RateLimitConfig,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const status = statusOf(error);
  const outage = asOutage(error);
  if (outage !== undefined) request.log.debug({ err: error }, 'request refused');
  else if (status >= 500 && !isRateLimitError(error))
    request.log.error({ err: error }, 'request failed');
  if (outage !== undefined) reply.header('retry-after', String(outage.retryAfterSec));
  return sendGithubError(reply, {
    status,
    message: messageOf(error, status),
    documentationUrl: `${docsBaseOf(config, request)}/rest`,
  });
}

export function sendGithubError(
  reply: FastifyReply,
  error: {
    readonly status: number;
    readonly message: string;
    readonly documentationUrl: string;
  },
): FastifyReply {
  const { status, message, documentationUrl } = error;
  const body = { message, documentation_url: documentationUrl, status: String(status) };
  // Bytes, because the framework changes the type of text.
  return reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .send(Buffer.from(JSON.stringify(body)));
}

/** The framework's own refusals (body too large, no JSON) carry their status. */
export function statusOf(error: unknown): number {
  if (error instanceof AppJwtRefused) return error.status;
  if (isRateLimitError(error)) return STATUS[error.kind];
  if (asOutage(error) !== undefined) return 503;
  const status: unknown = error instanceof Error && Reflect.get(error, 'statusCode');
  return typeof status === 'number' && status >= 400 ? status : 500;
}

export function messageOf(error: unknown, status: number): string {
  if (error instanceof AppJwtRefused) return error.message;
  if (status === 401) return 'Bad credentials';
  if (isRateLimitError(error)) return error.message;
  if (status < 500 && error instanceof Error) return error.message;
  return asOutage(error)?.message ?? 'Server Error';
}

import {
  AppJwtRefused,
  asOutage,
  BodyCut,
  BodyTooLarge,
  EncodingUnacceptable,
  GzipCorrupt,
  type HeaderList,
  type HttpAnswer,
  type HttpHead,
  isDomainError,
  type Logger,
  platformAnswer,
} from '@plinth/kernel';
import type { RateLimitConfig } from '../config.js';
import type { RateLimitError } from '../errors.js';
import { docsBaseAt } from './docs-base.js';

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
  { config, log }: { readonly config: RateLimitConfig; readonly log: Logger },
  { base }: Pick<HttpHead, 'base'>,
): HttpAnswer {
  const status = statusOf(error);
  const outage = asOutage(error);
  if (outage !== undefined) log.debug({ err: error }, 'request refused');
  else if (status >= 500 && !isRateLimitError(error)) log.error({ err: error }, 'request failed');
  const documentationUrl = `${docsBaseAt(config, base)}/rest`;
  return githubError(
    { status, message: messageOf(error, status), documentationUrl },
    retryOf(error),
  );
}

/** How long to wait for what is away. */
export function retryOf(error: unknown): HeaderList {
  const outage = asOutage(error);
  return outage === undefined ? [] : [['retry-after', String(outage.retryAfterSec)]];
}

export const githubError = (
  error: { readonly status: number; readonly message: string; readonly documentationUrl: string },
  headers: HeaderList = [],
): HttpAnswer => {
  const { status, message, documentationUrl } = error;
  const body = { message, documentation_url: documentationUrl, status: String(status) };
  return platformAnswer(status, body, headers);
};

export function statusOf(error: unknown): number {
  if (error instanceof AppJwtRefused) return error.status;
  if (isRateLimitError(error)) return STATUS[error.kind];
  if (asOutage(error) !== undefined) return 503;
  return error instanceof BodyTooLarge ? 413 : isBodyRefused(error) ? 400 : 500;
}

const isBodyRefused = (error: unknown): boolean =>
  error instanceof EncodingUnacceptable || error instanceof GzipCorrupt || error instanceof BodyCut;

export function messageOf(error: unknown, status: number): string {
  if (error instanceof AppJwtRefused) return error.message;
  if (status === 401) return 'Bad credentials';
  if (isRateLimitError(error)) return error.message;
  if (status < 500 && error instanceof Error) return error.message;
  return asOutage(error)?.message ?? 'Server Error';
}

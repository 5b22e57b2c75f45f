import type { FastifyReply } from 'fastify';

/** One thing that is wrong with a request, in the words of the platform's clients. */
export interface FieldError {
  readonly resource: string;
  readonly field: string;
  readonly code:
    | 'missing'
    | 'missing_field'
    | 'invalid'
    | 'already_exists'
    | 'unprocessable'
    | 'custom';
  /** With `custom`. */
  readonly message?: string;
  readonly value?: unknown;
}

/** Error body of everything below `/ops/v1` and of the platform's own API. Source: webhooks, section 2.2. */
export interface PlatformFailure {
  readonly message: string;
  readonly errors?: readonly FieldError[];
  readonly documentation_url: string;
  readonly status: string;
}

export function platformFailure(at: {
  readonly status: number;
  readonly message: string;
  readonly documentationUrl: string;
  readonly errors?: readonly FieldError[] | undefined;
}): PlatformFailure {
  return {
    message: at.message,
    ...(at.errors === undefined ? {} : { errors: at.errors }),
    documentation_url: at.documentationUrl,
    status: String(at.status),
  };
}

export function sendPlatformFailure(
  reply: FastifyReply,
  at: Parameters<typeof platformFailure>[0],
): FastifyReply {
  return reply
    .code(at.status)
    .header('content-type', 'application/json; charset=utf-8')
    .send(Buffer.from(JSON.stringify(platformFailure(at))));
}

import { Type } from 'typebox';
import type { ApiRefusals } from '../api-conventions.js';
import type { HttpHead } from '../http-request.js';
import { bytesResponse, type HeaderList, type HttpResponse } from '../http-response.js';

/** One validation error, in GitHub's format. Webhooks, rate limits and `/ops/v1` use this format. */
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
  /** Only with `custom`. */
  readonly message?: string;
  readonly value?: unknown;
}

/** The error bodies of `/ops/v1` and of the GitHub-compatible API. Source: webhooks, section 2.2. */
export const GITHUB_REFUSALS: ApiRefusals = {
  name: 'Failure',
  schema: Type.Object({
    message: Type.String(),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          resource: Type.String(),
          field: Type.String(),
          code: Type.String(),
          message: Type.Optional(Type.String()),
          value: Type.Optional(Type.Unknown()),
        }),
      ),
    ),
    documentation_url: Type.String(),
    status: Type.String(),
  }),
  shared: { 503: 'temporarily unavailable' },
};

export const githubFailure = (options: {
  readonly status: number;
  readonly message: string;
  readonly documentationUrl: string;
  readonly errors?: readonly FieldError[] | undefined;
}): object => ({
  message: options.message,
  ...(options.errors && { errors: options.errors.map(withShortValue) }),
  documentation_url: options.documentationUrl,
  status: String(options.status),
});

/** Formats a time in GitHub's format. */
export const isoSeconds = (ms: number): string =>
  new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');

const MAX_TOLD_LENGTH = 1024;

/** Includes the received value only when it is short, as it may be megabytes long or deeply nested. */
function withShortValue(error: FieldError): FieldError {
  const { value, ...others } = error;
  return isShort(value) ? error : others;
}

function isShort(value: unknown): boolean {
  try {
    return (JSON.stringify(value)?.length ?? 0) <= MAX_TOLD_LENGTH;
  } catch {
    return false; // Nested too deeply for the stack.
  }
}

/** Returns an error response with a body in GitHub's format. */
export const githubFailureResponse = (
  at: Parameters<typeof githubFailure>[0],
  headers?: HeaderList,
): HttpResponse => githubResponse(at.status, githubFailure(at), headers);

/** Returns a JSON response in GitHub's format. */
export const githubResponse = (status: number, body: unknown, headers?: HeaderList): HttpResponse =>
  bytesResponse(
    status,
    'application/json; charset=utf-8',
    Buffer.from(JSON.stringify(body)),
    headers,
  );

/** Returns the documentation URL of operator API errors. */
export const operatorDocs = ({ base }: Pick<HttpHead, 'base'>): string => `${base}/docs/operator`;

/** Returns an error response of the operator API. */
export const operatorFailure = (
  request: Pick<HttpHead, 'base'>,
  status: number,
  message: string,
): HttpResponse =>
  githubFailureResponse({ status, message, documentationUrl: operatorDocs(request) });

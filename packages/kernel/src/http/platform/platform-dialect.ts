import { Type } from 'typebox';
import type { DialectRefusals } from '../dialect.js';
import { bytesAnswer, type HeaderList, type HttpAnswer } from '../http-answer.js';
import type { HttpHead } from '../http-request.js';

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

/** Error bodies of everything below `/ops/v1` and of the platform's own API. Source: webhooks, section 2.2. */
export const PLATFORM_REFUSALS: DialectRefusals = {
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
  shared: { 503: 'not at the moment' },
};

export const platformFailure = (at: {
  readonly status: number;
  readonly message: string;
  readonly documentationUrl: string;
  readonly errors?: readonly FieldError[] | undefined;
}): object => ({
  message: at.message,
  ...(at.errors && { errors: at.errors.map(withValueToTell) }),
  documentation_url: at.documentationUrl,
  status: String(at.status),
});

/** A time as the platform writes it. */
export const isoSeconds = (ms: number): string =>
  new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');

const MAX_TOLD_LENGTH = 1024;

/** What a client sent is told back to it only where that is short; it may be megabytes, and nested without end. */
function withValueToTell(error: FieldError): FieldError {
  const { value, ...others } = error;
  return isShort(value) ? error : others;
}

function isShort(value: unknown): boolean {
  try {
    return (JSON.stringify(value)?.length ?? 0) <= MAX_TOLD_LENGTH;
  } catch {
    return false; // Deeper than the stack.
  }
}

/** Such a body as an answer. */
export const platformFailureAnswer = (
  at: Parameters<typeof platformFailure>[0],
  headers?: HeaderList,
): HttpAnswer => platformAnswer(at.status, platformFailure(at), headers);

/** JSON as the platform's API sends it. */
export const platformAnswer = (status: number, body: unknown, headers?: HeaderList): HttpAnswer =>
  bytesAnswer(
    status,
    'application/json; charset=utf-8',
    Buffer.from(JSON.stringify(body)),
    headers,
  );

/** Where refusals of the operator API lead. */
export const operatorDocs = ({ base }: Pick<HttpHead, 'base'>): string => `${base}/docs/operator`;

/** A refusal of the operator API. */
export const operatorFailure = (
  request: Pick<HttpHead, 'base'>,
  status: number,
  message: string,
): HttpAnswer =>
  platformFailureAnswer({ status, message, documentationUrl: operatorDocs(request) });

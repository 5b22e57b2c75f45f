import {
  asOutage,
  type Dialect,
  emptyAnswer,
  type FieldError,
  type HeaderList,
  type HttpAnswer,
  type HttpHead,
  isDomainError,
  type Logger,
  platformFailureAnswer,
  RequestInvalid,
  StoreOutage,
  ValidationFailed,
} from '@plinth/kernel';
import type { AccessGate } from '../domain/access-gate.js';
import { IdentityExists } from '../errors.js';

const HEADERS: HeaderList = [['x-content-type-options', 'nosniff']];

/**
 * Everything below `/ops/v1`, whichever service has the route: admin tokens only, errors as the platform's own API words them.
 * Source: webhooks, sections 1 and 2.2.
 */
export function operatorDialect(gate: AccessGate, log: Logger): Dialect {
  return {
    service: 'identity',
    paths: ['/ops/v1'],
    identify: (request, access) => gate.check(request, access),
    answerError: (error, request) => answerError(error, log, request),
    answerNotFound: (request) => fail(request, { status: 404, message: 'Not Found' }),
    headers: () => HEADERS,
    answerPreflight: () => emptyAnswer(204),
  };
}

/** Failures that are no list of wrong fields; their own message unless there is another. */
const WORDS: ReadonlyMap<string, readonly [status: number, message?: string]> = new Map([
  ['json_unreadable', [400]],
  ['encoding_unacceptable', [400]],
  ['gzip_corrupt', [400]],
  ['body_cut', [400]],
  ['not_authenticated', [401, 'Requires authentication']],
  ['credential_malformed', [401, 'Bad credentials']],
  ['page_refused', [403]],
  ['app_not_found', [404, 'Not Found']],
  ['identity_not_found', [404, 'Not Found']],
  ['credential_not_found', [404, 'Not Found']],
  ['body_too_large', [413, 'Request body too large']],
]);

function answerError(error: unknown, log: Logger, request: HttpHead): HttpAnswer {
  const errors = wrongFields(error);
  if (errors !== undefined) {
    return fail(request, { status: 422, message: 'Validation Failed', errors });
  }
  const words = isDomainError(error) ? WORDS.get(error.kind) : undefined;
  if (words !== undefined && error instanceof Error) {
    const [status, message = error.message] = words;
    return fail(request, { status, message });
  }
  const outage = asOutage(error);
  if (outage === undefined) {
    log.error({ err: error }, 'request failed');
    return fail(request, { status: 500, message: 'Server Error' });
  }
  log.debug({ err: error }, 'request refused');
  const message = outage instanceof StoreOutage ? 'Service unavailable' : outage.message;
  return fail(request, { status: 503, message }, [['retry-after', String(outage.retryAfterSec)]]);
}

function wrongFields(error: unknown): readonly FieldError[] | undefined {
  if (error instanceof ValidationFailed) return error.errors;
  if (error instanceof IdentityExists) {
    return [{ resource: 'Identity', field: 'id', code: 'already_exists' }];
  }
  if (!(error instanceof RequestInvalid)) return undefined;
  return error.failures.map(({ path, keyword }) => ({
    resource: 'Request',
    field: path.join('.'),
    code: keyword === 'required' ? 'missing_field' : 'invalid',
  }));
}

const fail = (
  { base }: HttpHead,
  at: {
    readonly status: number;
    readonly message: string;
    readonly errors?: readonly FieldError[];
  },
  headers?: HeaderList,
): HttpAnswer =>
  platformFailureAnswer({ ...at, documentationUrl: `${base}/docs/operator` }, headers);

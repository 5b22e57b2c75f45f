import {
  answerPlatformError,
  type Dialect,
  emptyAnswer,
  type HeaderList,
  type HttpAnswer,
  type HttpHead,
  type Logger,
  operatorDocs,
  operatorFailure,
  PLATFORM_REFUSALS,
  requestError,
  ValidationFailed,
  withHeaders,
} from '@plinth/kernel';
import type { AccessGate } from '../domain/access-gate.js';
import { identityError } from '../errors.js';

const HEADERS: HeaderList = [['x-content-type-options', 'nosniff']];

/**
 * Everything below `/ops/v1`, whichever service has the route: admin tokens only, errors as the platform's own API words them.
 * Source: webhooks, sections 1 and 2.2.
 */
export function operatorDialect(gate: AccessGate, log: Logger): Dialect {
  return {
    service: 'identity',
    paths: ['/ops/v1'],
    refusals: PLATFORM_REFUSALS,
    identify: (request, access) => gate.check(request, access),
    answerError: (error, request) => answerError(error, log, request),
    answerNotFound: (request) => operatorFailure(request, 404, 'Not Found'),
    headers: () => HEADERS,
    answerPreflight: () => emptyAnswer(204),
  };
}

/** Of this service's own failures; their own message unless there is another. */
const WORDS: ReadonlyMap<string, readonly [status: number, message?: string]> = new Map([
  ['not_authenticated', [401, 'Requires authentication']],
  ['logins_locked', [429]],
  ['not_permitted', [403, 'This needs an admin token']],
  ['page_refused', [403]],
  ['app_not_found', [404, 'Not Found']],
  ['identity_not_found', [404, 'Not Found']],
  ['credential_not_found', [404, 'Not Found']],
]);

/** By then some of them are made. */
const KEYS_RETRY_SEC = 5;

const TAKEN = new ValidationFailed([{ resource: 'Identity', field: 'id', code: 'already_exists' }]);

function answerError(error: unknown, log: Logger, request: HttpHead): HttpAnswer {
  const isKnown = identityError.is(error) || requestError.is(error);
  const fixedMessage = isKnown ? WORDS.get(error.kind) : undefined;
  if (fixedMessage !== undefined && error instanceof Error) {
    const [status, message = error.message] = fixedMessage;
    return operatorFailure(request, status, message);
  }
  if (identityError.is(error, 'keys_overloaded')) {
    const retry = [['retry-after', String(KEYS_RETRY_SEC)]] as const;
    return withHeaders(operatorFailure(request, 503, error.message), retry);
  }
  const told = identityError.is(error, 'identity_exists') ? TAKEN : error;
  return answerPlatformError(told, { log, documentationUrl: operatorDocs(request) });
}

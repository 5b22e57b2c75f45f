import {
  type ApiConventions,
  emptyResponse,
  GITHUB_REFUSALS,
  githubErrorResponse,
  type HeaderList,
  type HttpHead,
  type HttpResponse,
  type Logger,
  operatorDocs,
  operatorFailure,
  requestError,
  ValidationFailed,
  withHeaders,
} from '@plinth/kernel';
import type { AccessControl } from '../domain/access-control.js';
import { identityError } from '../errors.js';

const HEADERS: HeaderList = [['x-content-type-options', 'nosniff']];

/**
 * Creates the API conventions of all routes below `/ops/v1`, whichever service has the route. Requires an
 * admin token; errors have GitHub's format. Source: webhooks, sections 1 and 2.2.
 */
export function operatorConventions(accessControl: AccessControl, log: Logger): ApiConventions {
  return {
    service: 'identity',
    paths: ['/ops/v1'],
    refusals: GITHUB_REFUSALS,
    identify: (request, access) => accessControl.authenticate(request, access),
    errorResponse: (error, request) => errorResponse(error, log, request),
    notFoundResponse: (request) => operatorFailure(request, 404, 'Not Found'),
    headers: () => HEADERS,
    preflightResponse: () => emptyResponse(204),
  };
}

/** HTTP status of this service's errors, and a message if it differs from the error's own. */
const RESPONSES: ReadonlyMap<string, readonly [status: number, message?: string]> = new Map([
  ['not_authenticated', [401, 'Requires authentication']],
  ['logins_locked', [429]],
  ['not_permitted', [403, 'Admin token required']],
  ['page_refused', [403]],
  ['app_not_found', [404, 'Not Found']],
  ['identity_not_found', [404, 'Not Found']],
  ['credential_not_found', [404, 'Not Found']],
]);

/** By then, some of the queued keys have been generated. */
const KEYS_RETRY_SEC = 5;

const TAKEN = new ValidationFailed([{ resource: 'Identity', field: 'id', code: 'already_exists' }]);

function errorResponse(error: unknown, log: Logger, request: HttpHead): HttpResponse {
  const isKnown = identityError.is(error) || requestError.is(error);
  const fixedMessage = isKnown ? RESPONSES.get(error.kind) : undefined;
  if (fixedMessage !== undefined && error instanceof Error) {
    const [status, message = error.message] = fixedMessage;
    return operatorFailure(request, status, message);
  }
  if (identityError.is(error, 'keys_overloaded')) {
    const retry = [['retry-after', String(KEYS_RETRY_SEC)]] as const;
    return withHeaders(operatorFailure(request, 503, error.message), retry);
  }
  const shownError = identityError.is(error, 'identity_exists') ? TAKEN : error;
  return githubErrorResponse(shownError, { log, documentationUrl: operatorDocs(request) });
}

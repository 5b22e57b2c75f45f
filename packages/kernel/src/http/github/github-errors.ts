import type { Logger } from '../../log/logger.js';
import { asOutage, StoreOutage } from '../../relational/store-outage.js';
import { RequestInvalid } from '../../schema/request-invalid.js';
import type { SchemaFailure } from '../../schema/schema-failure.js';
import { AppJwtRefused } from '../access/app-jwt-refused.js';
import type { HttpResponse } from '../http-response.js';
import { requestError } from '../request-error.js';
import { type FieldError, githubFailureResponse } from './github-format.js';
import { ValidationFailed } from './github-requests.js';

/** Statuses and messages for failures that occur on any route. Entries without a message use the error's message. */
const RESPONSES: ReadonlyMap<string, readonly [status: number, message?: string]> = new Map([
  ['not_authenticated', [401, 'Bad credentials']],
  ['credential_malformed', [401, 'Bad credentials']],
  ['json_unreadable', [400]],
  ['encoding_unacceptable', [400]],
  ['gzip_corrupt', [400]],
  ['body_cut', [400]],
  ['body_too_slow', [408]],
  ['body_chunks_too_small', [400]],
  ['body_too_large', [413, 'Request body too large']],
]);

/** Returns the response for errors that no service formats itself. Source: webhooks, section 2.2. */
export function githubErrorResponse(
  error: unknown,
  { log, documentationUrl }: { readonly log: Logger; readonly documentationUrl: string },
): HttpResponse {
  if (error instanceof AppJwtRefused) {
    return githubFailureResponse({
      status: error.status,
      message: error.message,
      documentationUrl,
    });
  }
  const errors = wrongFields(error);
  if (errors !== undefined) {
    const message = 'Validation Failed';
    return githubFailureResponse({ status: 422, message, errors, documentationUrl });
  }
  const fixedMessage = requestError.is(error) ? RESPONSES.get(error.kind) : undefined;
  if (fixedMessage !== undefined && error instanceof Error) {
    const [status, message = error.message] = fixedMessage;
    return githubFailureResponse({ status, message, documentationUrl });
  }
  const outage = asOutage(error);
  if (outage === undefined) {
    log.error({ err: error }, 'request failed');
    return githubFailureResponse({ status: 500, message: 'Server Error', documentationUrl });
  }
  log.debug({ err: error }, 'request refused');
  const message = outage instanceof StoreOutage ? 'Service unavailable' : outage.message;
  const retryAfter = String(outage.retryAfterSec);
  return githubFailureResponse({ status: 503, message, documentationUrl }, [
    ['retry-after', retryAfter],
  ]);
}

function wrongFields(error: unknown): readonly FieldError[] | undefined {
  if (error instanceof ValidationFailed) return error.errors;
  if (!(error instanceof RequestInvalid)) return undefined;
  const byField = new Map<string, FieldError>();
  for (const failure of error.failures) {
    const field = failure.path.join('.');
    if (!byField.has(field)) byField.set(field, wrongField(field, failure));
  }
  return [...byField.values()];
}

function wrongField(
  field: string,
  { keyword, received, title: resource = 'Request', errorMessage, writeOnly }: SchemaFailure,
): FieldError {
  if (keyword === 'required') return { resource, field, code: 'missing_field' };
  if (errorMessage !== undefined) {
    return { resource, field, code: 'custom', message: errorMessage };
  }
  return { resource, field, code: 'invalid', ...(writeOnly !== true && { value: received }) };
}

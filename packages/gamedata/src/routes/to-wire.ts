import { asOutage, RequestInvalid, requestError } from '@plinth/kernel';
import { type GameDataError, gameDataError } from '../errors.js';
import { KIND_WIRE } from '../model/kinds.js';

export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: {
    readonly error: string;
    readonly code: string;
    readonly [name: string]: unknown;
  };
}

/**
 * The only place with status codes; a new kind without a row does not compile. Source: gamedata,
 * section 2.6.
 */
const STATUS: Readonly<Record<GameDataError['kind'], number>> = {
  invalid_parameter: 400,
  unknown_field: 400,
  unknown_language: 400,
  unknown_parameter: 400,
  invalid_query: 400,
  invalid_json: 400,
  validation_failed: 400,
  moved: 301,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  unknown_version: 404,
  not_acceptable: 406,
  conflict: 409,
  version_gone: 410,
  precondition_failed: 412,
  too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  precondition_required: 428,
  rate_limited: 429,
  unavailable: 503,
};

/** @param reportBug logs an unexpected error and returns its id. */
export function toErrorResponse(
  error: unknown,
  reportBug: (error: unknown) => string,
): ErrorResponse {
  if (!gameDataError.is(error)) {
    return responseOfOthers(error) ?? bugResponse(reportBug(error));
  }
  const status = STATUS[error.kind];
  const base = { error: error.message, code: error.kind };
  const bare = (headers: Record<string, string> = {}, more: object = {}): ErrorResponse => ({
    status,
    headers,
    body: { ...base, ...more },
  });
  switch (error.kind) {
    case 'invalid_parameter':
    case 'unknown_field':
    case 'unknown_language':
    case 'unknown_parameter':
    case 'invalid_query': {
      const { param, position } = error.details;
      return bare({}, { param, ...(position !== undefined && { position }) });
    }
    case 'validation_failed':
    case 'conflict': {
      const { details } = error.details;
      return bare({}, details === undefined ? {} : { details });
    }
    case 'moved': {
      const { recordKind, id } = error.details;
      const location = `/api/${recordKind}/${id}`;
      const more = { type: KIND_WIRE[recordKind].typeKey, id, location };
      return bare({ location }, more);
    }
    case 'precondition_failed': {
      const { rev } = error.details;
      return bare(rev === undefined ? {} : { etag: `"r${rev}"` });
    }
    case 'method_not_allowed':
      return bare({ allow: error.details.allowed.join(', ') });
    case 'rate_limited':
    case 'unavailable':
      return bare({ 'retry-after': String(error.details.retryAfterSec) });
    default:
      return bare();
  }
}

const bugResponse = (requestId: string): ErrorResponse => ({
  status: 500,
  headers: {},
  body: { error: 'internal error', code: 'internal', requestId },
});

function responseOfSchema({ part, failures }: RequestInvalid): ErrorResponse {
  const details = failures.map(({ path, keyword, expected, errorMessage }) => ({
    path: path.map((name) => `/${name}`).join(''),
    code: keyword === 'required' ? 'required' : 'wrong_shape',
    message: errorMessage ?? `${keyword} ${expected.join(', ')}`.trim(),
  }));
  const body =
    part === 'body'
      ? { error: 'the body does not match its schema', code: 'validation_failed', details }
      : {
          error: details[0]?.message ?? 'a parameter does not match its schema',
          code: 'invalid_parameter',
          param: failures[0]?.path.join('.'),
        };
  return { status: 400, headers: {}, body };
}

/** Failures common to all services: outages, and refusals of the request pipeline. */
function responseOfOthers(error: unknown): ErrorResponse | undefined {
  const outage = asOutage(error);
  if (outage !== undefined) {
    const headers = { 'retry-after': String(outage.retryAfterSec) };
    return { status: 503, headers, body: { error: outage.message, code: 'unavailable' } };
  }
  if (requestError.is(error, 'not_authenticated')) {
    const headers = { 'www-authenticate': 'Bearer realm="gamedata-editor"' };
    return { status: 401, headers, body: { error: 'Unauthorized', code: 'unauthorized' } };
  }
  const refused = (status: number, code: string, message: string): ErrorResponse => ({
    status,
    headers: {},
    body: { error: message, code },
  });
  if (requestError.is(error, 'body_too_large')) {
    return refused(413, 'too_large', `the body is larger than ${error.details.limitBytes} bytes`);
  }
  if (requestError.is(error, 'encoding_unacceptable')) {
    return refused(415, 'unsupported_media_type', 'unsupported content coding; use gzip');
  }
  if (requestError.is(error, 'gzip_corrupt')) return refused(400, 'invalid_json', error.message);
  if (requestError.is(error, 'body_too_slow')) return refused(408, 'timeout', error.message);
  if (requestError.is(error, 'body_cut', 'body_chunks_too_small', 'client_left'))
    return refused(400, 'invalid_request', error.message);
  if (requestError.is(error, 'json_unreadable')) {
    return refused(400, 'invalid_json', error.message);
  }
  if (error instanceof RequestInvalid) return responseOfSchema(error);
  return undefined;
}

import {
  asOutage,
  type HeaderList,
  type HttpResponse,
  isDomainError,
  jsonResponse,
  textResponse,
  withHeaders,
} from '@plinth/kernel';
import type { ErrorWithStatus } from './errors.js';
import { type FailureLog, logFailure } from './log-failure.js';

/**
 * Error formats: `native`, `v2` on the routes of the v2 API, or plain `text` (compatibility profile `influxdb3`).
 */
export type ErrorWording = 'native' | 'v2' | 'text';

/**
 * The only place with status codes. A new kind without an entry does not compile. Source:
 * tsdb-http, "Error model".
 */
export const STATUS: Readonly<Record<ErrorWithStatus['kind'], number>> = {
  not_permitted: 403,
  database_not_found: 404,
  database_name_invalid: 400,
  database_limit_reached: 422,
  policy_limit_reached: 422,
  internal_database: 403,
  resource_exists: 409,
  live_query_unsupported: 400,
  too_many_live_queries: 503,
  continuous_query_exists: 409,
  continuous_query_limit_reached: 422,
  continuous_query_invalid: 400,
  resource_not_found: 404,
  database_not_known: 404,
  table_not_known: 404,
  column_not_known: 404,
  column_renamed: 400,
  name_taken: 409,
  rename_invalid: 400,
  conversion_invalid: 400,
  conversion_busy: 409,
  conversion_failed: 500,
  table_converting: 409,
  already_deleted: 409,
  database_deleted: 400,
  too_many_deletions: 503,
  already_set_up: 422,
  bucket_exists: 422,
  flux_not_spoken: 404,
  delete_predicate_invalid: 400,
  deletion_too_large: 400,
  too_many_points: 400,
  deletion_timed_out: 408,
  cache_definition_invalid: 400,
  content_type_unacceptable: 415,
  table_definition_invalid: 400,
  schema_limit_reached: 422,
  content_type_unsupported: 415,
  snappy_corrupt: 400,
  message_invalid: 400,
  write_empty: 400,
  body_not_utf8: 400,
  body_too_sparse: 422,
  buffer_full: 503,
  node_read_only: 503,
  disk_full: 503,
  store_outage: 503,
  server_busy: 503,
  credential_uncheckable: 503,
  shutting_down: 503,
  plan_error: 400,
  trino_unavailable: 503,
  table_not_published: 503,
  not_implemented: 405,
  read_only_request: 405,
  execution_error: 400,
  query_out_of_memory: 503,
  query_failed: 500,
  query_timed_out: 500,
  query_cancelled: 500,
  query_unauthorized: 401,
  query_queue_full: 503,
  bucket_limit_exceeded: 400,
  query_too_large: 400,
  trigger_specification_invalid: 400,
  plugin_type_refused: 400,
  internal_database_untriggered: 400,
  trigger_not_found: 404,
  plugin_of_trigger_not_found: 404,
  trigger_is_running: 409,
  plugin_file_missing: 404,
  plugin_folder_incomplete: 400,
  plugin_path_escapes: 400,
  no_plugin_folder: 500,
  plugin_invalid: 400,
  request_path_taken: 409,
  plugin_fetch_failed: 502,
  plugin_folder_locked: 403,
  plugin_file_refused: 400,
  package_installation_disabled: 403,
  package_installation_failed: 500,
  package_name_invalid: 400,
  requirements_missing: 404,
  requirements_refused: 400,
  python_unavailable: 503,
  cron_invalid: 400,
  body_too_large: 413,
  gzip_corrupt: 400,
  request_invalid: 400,
  parameter_invalid: 400,
  conflicting_values: 400,
  encoding_unacceptable: 400,
  body_cut: 400,
  body_too_slow: 408,
  body_chunks_too_small: 400,
};

/** Error codes of the v2 API by status. Source: tsdb-http, "v2 error body". */
const V2_CODE: ReadonlyMap<number, string> = new Map([
  [400, 'invalid'],
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'not found'],
  [405, 'method not allowed'],
  [408, 'request timeout'],
  [409, 'conflict'],
  [413, 'request too large'],
  [422, 'unprocessable entity'],
  [503, 'unavailable'],
]);

/** Kinds with the code `conflict`, which has the status 422 in 2.x. */
const V2_CONFLICTS: ReadonlySet<string> = new Set(['already_set_up', 'bucket_exists']);

/** Source: tsdb-http, "Authentication and authorization". */
const CHALLENGE = [['www-authenticate', 'Bearer realm="plinth"']] as const;
const SHORT_RETRY_SEC = 1;
const DELETIONS_RETRY_SEC = 10;
const INTERNAL_TEXT = 'internal error';

/** Converts an error to a response. Unexpected errors are logged and returned without details. */
export function errorResponse(
  failure: unknown,
  { wording, ...failures }: FailureLog & { readonly wording: ErrorWording },
): HttpResponse {
  const error = asOutage(failure) ?? failure;
  if (!hasStatus(error)) {
    logFailure(error, 500, failures);
    const text = INTERNAL_TEXT;
    return failureResponse(500, bodyOf({ wording, code: v2Code(500), text, message: text }));
  }
  const status = statusOf(error, wording);
  logFailure(error, status, failures);
  const { log } = failures;
  // The server logs once that writes are refused. Only the failed write has the reason why the log became read-only.
  if (error.kind === 'node_read_only' && error.cause !== undefined)
    log.error({ err: error }, 'write refused');
  else if (error.kind === 'node_read_only' || error.kind === 'disk_full')
    log.debug({ err: error }, 'write refused');
  const message =
    error.kind === 'write_empty' ? `write buffer error: ${error.message}` : textOf(error);
  if (error.kind === 'package_installation_failed' && wording === 'native') {
    const { exitCode } = error.details;
    const data = exitCode === undefined ? {} : { exit_code: exitCode };
    return failureResponse(status, { error: error.message, data });
  }
  const code = V2_CONFLICTS.has(error.kind) ? 'conflict' : v2Code(status);
  const field = 'field' in error ? error.field : undefined;
  const response = failureResponse(
    status,
    bodyOf({ wording, code, text: textOf(error), message, field }),
  );
  if (error.kind === 'query_unauthorized') return withHeaders(response, CHALLENGE);
  const retrySec = retryAfterSec(error);
  return retrySec === undefined
    ? response
    : withHeaders(response, [['retry-after', String(retrySec)]]);
}

/** Returns the message of an error for other formats, with its status in `errorResponse`. */
export function clientMessage(failure: unknown, status: number): string {
  const error = asOutage(failure) ?? failure;
  return status !== 500 && isDomainError(error) ? error.message : INTERNAL_TEXT;
}

/** Returns the headers of an error that clients need in any format. */
export const clientHeaders = ({ headers }: HttpResponse): HeaderList =>
  headers.filter(([name]) => CLIENT_HEADERS.has(name));

const CLIENT_HEADERS: ReadonlySet<string> = new Set(['retry-after', 'www-authenticate', 'allow']);

/** Responds with text for a string `body`, and with exactly `application/json` otherwise. */
export const failureResponse = (status: number, body: unknown): HttpResponse =>
  typeof body === 'string' ? textResponse(status, body) : jsonResponse(status, body);

function retryAfterSec(error: ErrorWithStatus): number | undefined {
  switch (error.kind) {
    case 'credential_uncheckable':
    case 'disk_full':
    case 'store_outage':
    case 'server_busy':
      return error.retryAfterSec;
    case 'buffer_full':
      return error.details.retryAfterSec;
    case 'too_many_deletions':
      return DELETIONS_RETRY_SEC;
    case 'query_out_of_memory':
    case 'query_queue_full':
    case 'shutting_down':
      return SHORT_RETRY_SEC;
    default:
      return undefined;
  }
}

/** Returns the error code of a v2 body. */
export function v2Code(status: number): string {
  return V2_CODE.get(status) ?? 'internal error';
}

export function hasStatus(error: unknown): error is ErrorWithStatus {
  return isDomainError(error) && Object.hasOwn(STATUS, error.kind);
}

export function statusOf(error: ErrorWithStatus, wording: ErrorWording): number {
  // Source: tsdb-http, "Differences between the profiles": InfluxDB returns 500 for failed
  // evaluations.
  if (wording === 'text' && /^(?:execution_error|query_out_of_memory)$/.test(error.kind))
    return 500;
  // Source: tsdb-http, "Request-level failures": v2 clients do not expect 422 for the database
  // limit.
  if (wording === 'v2' && /^(?:database|policy)_limit_reached$/.test(error.kind)) return 400;
  return STATUS[error.kind];
}

function textOf(error: ErrorWithStatus): string {
  switch (error.kind) {
    case 'database_not_found':
      return `query error: ${error.message}`;
    case 'execution_error':
    case 'query_out_of_memory':
    case 'query_failed':
      return `query error: error while executing plan: ${error.message}`;
    default:
      return error.message;
  }
}

function bodyOf({
  wording,
  code,
  text,
  message,
  field,
}: {
  readonly wording: ErrorWording;
  /** Of the v2 API. */
  readonly code: string;
  readonly text: string;
  readonly message: string;
  readonly field?: string | undefined;
}): unknown {
  switch (wording) {
    case 'text':
      return text;
    case 'v2':
      return { code, message, error: text, data: {} };
    case 'native':
      return { error: text, data: field === undefined ? {} : { field } };
  }
}

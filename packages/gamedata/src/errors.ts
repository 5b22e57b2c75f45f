import { asGiven, type ErrorOf, errorCatalogue } from '@plinth/kernel';
import type { Fault } from './domain/kinds/kind-spec.js';
import type { Kind } from './model/kinds.js';

export interface ValidationDetail extends Fault {
  readonly type?: string;
  readonly id?: string;
  readonly file?: string;
}

interface Refused {
  readonly message: string;
  readonly details?: readonly ValidationDetail[];
}

/** An invalid request parameter. */
interface ParameterFault {
  readonly param: string;
  readonly message: string;
  /** Position of the error in `q`. */
  readonly position?: number;
}

/** Kinds whose details are a `ParameterFault`. */
export const PARAMETER_KINDS = [
  'invalid_parameter',
  'unknown_field',
  'unknown_language',
  'unknown_parameter',
  'invalid_query',
] as const;

const parameterText = (at: ParameterFault): string => at.message;

/**
 * Closed catalog of this service's expected failures; the kinds are the error codes of responses.
 * Source: gamedata, section 2.6.
 */
const TEXTS = {
  invalid_parameter: parameterText,
  unknown_field: parameterText,
  unknown_language: parameterText,
  unknown_parameter: parameterText,
  invalid_query: parameterText,
  not_found: asGiven,
  method_not_allowed: (details: { readonly method: string; readonly allowed: readonly string[] }) =>
    `${details.method} is not supported on this path; use ${details.allowed.join(' or ')}`,
  /** The id was replaced by another id. */
  moved: (details: { readonly recordKind: Kind; readonly id: string }) =>
    `the record has moved to ${details.id}`,
  unknown_version: (details: { readonly version: number | string }) =>
    `unknown version ${details.version}`,
  /** The client requested changes since a version that has been removed. */
  version_gone: (details: { readonly version: number; readonly oldest: number }) =>
    `version ${details.version} was removed, and the oldest version is ${details.oldest}; download the bulk files`,
  /** Records violate their schema or rules between records; nothing was changed. */
  validation_failed: (details: Required<Refused>) => details.message,
  /** The request conflicts with the current state. */
  conflict: (at: Refused) => at.message,
  /** `rev` is the current revision of the record. */
  precondition_failed: (_at: { readonly rev: number | undefined }) =>
    'the record has changed since it was read; read it again',
  precondition_required: 'missing If-Match header; send the ETag of the record',
  forbidden: (details: { readonly scope: string }) =>
    `the token lacks the scope "${details.scope}"`,
  rate_limited: (_at: { readonly retryAfterSec: number }) =>
    'too many requests with a wrong token; retry later',
  /** The data cannot be read; the server keeps retrying. */
  unavailable: (_at: { readonly retryAfterSec: number }) =>
    'the game data is temporarily unavailable; retry later',
  too_large: (details: { readonly maxRecordCount: number }) =>
    `the import has more than ${details.maxRecordCount} records`,
  unsupported_media_type: asGiven,
  invalid_json: asGiven,
  uri_too_long: (details: { readonly limitBytes: number }) =>
    `the URL is longer than ${details.limitBytes} bytes`,
  not_acceptable: asGiven,
} as const;

export const gameDataError = errorCatalogue('GameDataError', TEXTS);
export type GameDataError<Kind extends keyof typeof TEXTS = keyof typeof TEXTS> = ErrorOf<
  typeof TEXTS,
  Kind
>;

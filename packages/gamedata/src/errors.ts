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

/** A parameter of a request cannot be used. */
interface ParameterFault {
  readonly param: string;
  readonly message: string;
  /** Of `q`: where reading stopped. */
  readonly position?: number;
}

/** Whose details are a `ParameterFault`. */
export const PARAMETER_KINDS = [
  'invalid_parameter',
  'unknown_field',
  'unknown_language',
  'unknown_parameter',
  'invalid_query',
] as const;

const parameterText = (at: ParameterFault): string => at.message;

/** Closed catalogue of the expected failures of this service; the kinds are the codes of its answers. Source: gamedata, section 2.6. */
const TEXTS = {
  invalid_parameter: parameterText,
  unknown_field: parameterText,
  unknown_language: parameterText,
  unknown_parameter: parameterText,
  invalid_query: parameterText,
  not_found: asGiven,
  method_not_allowed: (at: { readonly method: string; readonly allowed: readonly string[] }) =>
    `${at.method} is not possible here`,
  /** The id was given up for another one. */
  moved: (at: { readonly recordKind: Kind; readonly id: string }) =>
    `the record is known as ${at.id}`,
  unknown_version: (at: { readonly version: number | string }) =>
    `there is no version ${at.version}`,
  /** Changes are asked for from a version that is no longer kept. */
  version_gone: (at: { readonly version: number; readonly oldest: number }) =>
    `version ${at.version} is no longer kept, the oldest is ${at.oldest}; download the bulk files`,
  /** Records that do not fit their schema or each other; nothing was changed. */
  validation_failed: (at: Required<Refused>) => at.message,
  /** The request cannot be done in the present state. */
  conflict: (at: Refused) => at.message,
  /** `rev` of the record as it is. */
  precondition_failed: (_at: { readonly rev: number | undefined }) =>
    'the record was changed since it was read',
  precondition_required: 'send If-Match with the ETag of the record that you mean',
  forbidden: (at: { readonly scope: string }) => `the token lacks the scope ${at.scope}`,
  rate_limited: (_at: { readonly retryAfterSec: number }) => 'too many requests with a wrong token',
  /** The data cannot be read yet; the server goes on trying. */
  unavailable: (_at: { readonly retryAfterSec: number }) =>
    'the game data cannot be read at the moment',
  too_large: (at: { readonly maxRecordCount: number }) =>
    `an import has at most ${at.maxRecordCount} records`,
  unsupported_media_type: asGiven,
  invalid_json: asGiven,
  uri_too_long: (at: { readonly limitBytes: number }) =>
    `the URL has more than ${at.limitBytes} bytes`,
  not_acceptable: asGiven,
} as const;

export const gameDataError = errorCatalogue('GameDataError', TEXTS);
export type GameDataError<Kind extends keyof typeof TEXTS = keyof typeof TEXTS> = ErrorOf<
  typeof TEXTS,
  Kind
>;

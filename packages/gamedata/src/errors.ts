import type { Fault } from './domain/kinds/kind-spec.js';
import type { Kind } from './model/kinds.js';

/** A parameter of a request cannot be used. */
export class ParameterInvalid extends Error {
  override readonly name = 'ParameterInvalid';
  readonly kind:
    | 'invalid_parameter'
    | 'unknown_field'
    | 'unknown_language'
    | 'unknown_parameter'
    | 'invalid_query';
  readonly param: string;
  /** Of `q`: where reading stopped. */
  readonly position: number | undefined;
  constructor(at: {
    readonly param: string;
    readonly message: string;
    readonly kind?: ParameterInvalid['kind'];
    readonly position?: number;
  }) {
    super(at.message);
    this.param = at.param;
    this.kind = at.kind ?? 'invalid_parameter';
    this.position = at.position;
  }
}

export class RecordNotFound extends Error {
  override readonly name = 'RecordNotFound';
  readonly kind = 'not_found';
}

/** The id was given up for another one. */
export class RecordMoved extends Error {
  override readonly name = 'RecordMoved';
  readonly kind = 'moved';
  readonly recordKind: Kind;
  readonly id: string;
  constructor(at: { readonly recordKind: Kind; readonly id: string }) {
    super(`the record is known as ${at.id}`);
    this.recordKind = at.recordKind;
    this.id = at.id;
  }
}

export class VersionUnknown extends Error {
  override readonly name = 'VersionUnknown';
  readonly kind = 'unknown_version';
  constructor(at: { readonly version: number | string }) {
    super(`there is no version ${at.version}`);
  }
}

/** Changes are asked for from a version that is no longer kept. */
export class VersionGone extends Error {
  override readonly name = 'VersionGone';
  readonly kind = 'version_gone';
  constructor(at: { readonly version: number; readonly oldest: number }) {
    super(
      `version ${at.version} is no longer kept, the oldest is ${at.oldest}; download the bulk files`,
    );
  }
}

/** Records that do not fit their schema or each other; nothing was changed. */
export class ValidationFailed extends Error {
  override readonly name = 'ValidationFailed';
  readonly kind = 'validation_failed';
  readonly details: readonly ValidationDetail[];
  constructor(message: string, details: readonly ValidationDetail[]) {
    super(message);
    this.details = details;
  }
}
export interface ValidationDetail extends Fault {
  readonly type?: string;
  readonly id?: string;
  readonly file?: string;
}

/** The request cannot be done in the present state. */
export class EditConflict extends Error {
  override readonly name = 'EditConflict';
  readonly kind = 'conflict';
  readonly details: readonly ValidationDetail[] | undefined;
  constructor(message: string, details?: readonly ValidationDetail[]) {
    super(message);
    this.details = details;
  }
}

export class PreconditionFailed extends Error {
  override readonly name = 'PreconditionFailed';
  readonly kind = 'precondition_failed';
  readonly rev: number | undefined;
  constructor(at: { readonly rev: number | undefined }) {
    super('the record was changed since it was read');
    this.rev = at.rev;
  }
}

export class PreconditionRequired extends Error {
  override readonly name = 'PreconditionRequired';
  readonly kind = 'precondition_required';
  constructor() {
    super('send If-Match with the ETag of the record that you mean');
  }
}

export class Forbidden extends Error {
  override readonly name = 'Forbidden';
  readonly kind = 'forbidden';
  constructor(at: { readonly scope: string }) {
    super(`the token lacks the scope ${at.scope}`);
  }
}

export class TooManyFailures extends Error {
  override readonly name = 'TooManyFailures';
  readonly kind = 'rate_limited';
  readonly retryAfterSec: number;
  constructor(at: { readonly retryAfterSec: number }) {
    super('too many requests with a wrong token');
    this.retryAfterSec = at.retryAfterSec;
  }
}

/** The data cannot be read yet; the server goes on trying. */
export class DataUnavailable extends Error {
  override readonly name = 'DataUnavailable';
  readonly kind = 'unavailable';
  readonly retryAfterSec: number;
  constructor(at: { readonly retryAfterSec: number }) {
    super('the game data cannot be read at the moment');
    this.retryAfterSec = at.retryAfterSec;
  }
}

export class BodyRefused extends Error {
  override readonly name = 'BodyRefused';
  readonly kind: 'too_large' | 'unsupported_media_type' | 'invalid_json';
  constructor(kind: BodyRefused['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

export class UriTooLong extends Error {
  override readonly name = 'UriTooLong';
  readonly kind = 'uri_too_long';
  constructor(at: { readonly limitBytes: number }) {
    super(`the URL has more than ${at.limitBytes} bytes`);
  }
}

export class NotAcceptable extends Error {
  override readonly name = 'NotAcceptable';
  readonly kind = 'not_acceptable';
  constructor(message: string) {
    super(message);
  }
}

export type GameDataError =
  | ParameterInvalid
  | RecordNotFound
  | RecordMoved
  | VersionUnknown
  | VersionGone
  | ValidationFailed
  | EditConflict
  | PreconditionFailed
  | PreconditionRequired
  | Forbidden
  | TooManyFailures
  | DataUnavailable
  | BodyRefused
  | UriTooLong
  | NotAcceptable;

const ALL = [
  ParameterInvalid,
  RecordNotFound,
  RecordMoved,
  VersionUnknown,
  VersionGone,
  ValidationFailed,
  EditConflict,
  PreconditionFailed,
  PreconditionRequired,
  Forbidden,
  TooManyFailures,
  DataUnavailable,
  BodyRefused,
  UriTooLong,
  NotAcceptable,
] as const;

export function isGameDataError(error: unknown): error is GameDataError {
  return ALL.some((known) => error instanceof known);
}

import type { BodyTooLarge, GzipCorrupt, Outage, RequestInvalid } from '@plinth/kernel';
import type { TsdbError } from '../errors.js';

/** A parameter is missing or has a value that is not allowed; the message is complete as the client sees it. */
export class ParameterInvalid extends Error {
  override readonly name = 'ParameterInvalid';
  readonly kind = 'parameter_invalid';
}

/** Two spellings of one parameter disagree. Source: tsdb-http, "Compatibility profile". */
export class ConflictingValues extends Error {
  override readonly name = 'ConflictingValues';
  readonly kind = 'conflicting_values';
  constructor(a: string, b: string) {
    super(`conflicting values for '${a}' and '${b}'`);
  }
}

export class EncodingUnacceptable extends Error {
  override readonly name = 'EncodingUnacceptable';
  readonly kind = 'encoding_unacceptable';
  constructor(encoding: string) {
    super(`unacceptable content-encoding: ${encoding}`);
  }
}

/** A body that has to be JSON says that it is something else, or nothing. */
export class ContentTypeUnacceptable extends Error {
  override readonly name = 'ContentTypeUnacceptable';
  readonly kind = 'content_type_unacceptable';
  constructor() {
    super('unacceptable content-type, expected: application/json');
  }
}

/** The client went away within its body; nobody is left to read the answer. */
export class BodyCut extends Error {
  override readonly name = 'BodyCut';
  readonly kind = 'body_cut';
  constructor() {
    super('the request body ended early');
  }
}

/** Everything that may go wrong, as expected, between the socket and the engine's answer. */
export type EdgeError =
  | TsdbError
  | BodyTooLarge
  | GzipCorrupt
  | Outage
  | RequestInvalid
  | ParameterInvalid
  | ConflictingValues
  | EncodingUnacceptable
  | ContentTypeUnacceptable
  | BodyCut;

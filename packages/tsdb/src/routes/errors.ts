import type {
  BodyCut,
  BodyTooLarge,
  ContentTypeUnacceptable,
  EncodingUnacceptable,
  GzipCorrupt,
  Outage,
  RequestInvalid,
} from '@plinth/kernel';
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

import { isObject } from '../../schema/is-object.js';
import type { JsonBounds } from '../body/json-bounds.js';
import { jsonUnreadable, parseJson } from '../body/parse-json.js';
import { requestError } from '../request-error.js';
import type { FieldError } from './github-format.js';

/** The request was well-formed, but its values were rejected; nothing was changed. */
export class ValidationFailed extends Error {
  override readonly name = 'ValidationFailed';
  readonly kind = 'validation_failed';
  readonly errors: readonly FieldError[];
  constructor(errors: readonly FieldError[]) {
    super('Validation Failed');
    this.errors = errors;
  }
}

/** Returns the error for one field whose fault only `message` describes. */
export const invalidField = (
  error: Pick<FieldError, 'resource' | 'field'> & { readonly message: string },
): ValidationFailed => new ValidationFailed([{ ...error, code: 'custom' }]);

/** Far more than any valid body contains. A megabyte of values would block the parser for too long. */
const MAX_VALUE_COUNT = 20_000;

/** Parses a body as JSON, for any content type; an empty body is `{}`. Throws `json_unreadable`. */
export function jsonOf(body: Uint8Array, bounds?: JsonBounds): unknown {
  if (body.byteLength === 0) return {};
  try {
    return parseJson(body, bounds);
  } catch (error) {
    throw jsonUnreadable(error);
  }
}

/** Like `jsonOf`, but accepts only objects. */
export function jsonObjectOf(body: Uint8Array): Readonly<Record<string, unknown>> {
  const value = jsonOf(body, { maxValueCount: MAX_VALUE_COUNT });
  if (!isObject(value)) throw requestError('json_unreadable', 'not_an_object');
  return value;
}

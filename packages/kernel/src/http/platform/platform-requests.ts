import { isObject } from '../../schema/is-object.js';
import type { JsonBounds } from '../body/json-bounds.js';
import { jsonUnreadable, parseJson } from '../body/parse-json.js';
import { requestError } from '../request-error.js';
import type { FieldError } from './platform-dialect.js';

/** The request was understood and its values were refused; nothing changed. */
export class ValidationFailed extends Error {
  override readonly name = 'ValidationFailed';
  readonly kind = 'validation_failed';
  readonly errors: readonly FieldError[];
  constructor(errors: readonly FieldError[]) {
    super('Validation Failed');
    this.errors = errors;
  }
}

/** Far more than a body of any route here has; a megabyte of them would take the parser longer than others may wait. */
const MAX_VALUE_COUNT = 20_000;

/**
 * A body as JSON whatever its content type says; an empty one is `{}`.
 * Throws `json_unreadable`.
 */
export function jsonOf(body: Uint8Array, bounds?: JsonBounds): unknown {
  if (body.byteLength === 0) return {};
  try {
    return parseJson(body, bounds);
  } catch (error) {
    throw jsonUnreadable(error);
  }
}

/** As `jsonOf`, where only an object will do. */
export function jsonObjectOf(body: Uint8Array): Readonly<Record<string, unknown>> {
  const value = jsonOf(body, { maxValueCount: MAX_VALUE_COUNT });
  if (!isObject(value)) throw requestError('json_unreadable', 'not_an_object');
  return value;
}

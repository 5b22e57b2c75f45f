import { isObject, messageOf, parseJson } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';

const MAX_VALUE_COUNT = 20_000;

/** Parses the JSON object in a body of the v2 API. Throws `parameter_invalid`. */
export function jsonBody(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value = parseJson(bytes, { maxValueCount: MAX_VALUE_COUNT });
    if (isObject(value)) return value;
  } catch (error) {
    throw tsdbError('parameter_invalid', `error decoding json body: ${messageOf(error)}`);
  }
  throw tsdbError('parameter_invalid', 'error decoding json body: expected an object');
}

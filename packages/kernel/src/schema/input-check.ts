import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { Settings } from 'typebox/system';
import { convertText } from './convert-text.js';
import { isObject } from './is-object.js';
import { RequestInvalid, type RequestPart } from './request-invalid.js';
import { toFailures } from './schema-failure.js';

const MAX_ERRORS = 500;

/**
 * Compiles the validation of one part of a request. Query strings, parameters and headers are converted to the types
 * of their schema, and defaults are added. Bodies are validated but not modified.
 * @returns the validated value; throws `RequestInvalid`.
 */
export function inputCheck<Schema extends TSchema>(
  part: RequestPart,
  schema: Schema,
): (received: unknown) => Static<Schema> {
  // Compiled on first use, as most schemas are never needed and each takes startup time.
  let compiled: Validator | undefined;
  return (received) => {
    compiled ??= validatorOf(schema);
    const validator = compiled;
    let value = received;
    if (part !== 'body' && isObject(received)) {
      const copy = { ...received };
      convertText(copy, schema);
      value = copy;
    }
    if (validator.Check(value)) return value as Static<Schema>; // just checked
    const [, errors] = validator.Errors(value);
    throw new RequestInvalid({ part, failures: toFailures(errors, schema, value) });
  };
}

type Validator = ReturnType<typeof Compile>;

function validatorOf(schema: TSchema): Validator {
  // The checker stops after this many errors; a union of fifteen constants already counts as sixteen.
  Settings.Set({ maxErrors: MAX_ERRORS });
  return Compile(schema);
}

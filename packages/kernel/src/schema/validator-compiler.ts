import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { Settings } from 'typebox/system';
import { invariant } from '../errors/invariant.js';
import { convertText } from './convert-text.js';
import { RequestInvalid, type RequestPart } from './request-invalid.js';
import { toFailures } from './schema-failure.js';

/**
 * Fastify's validator compiler over TypeBox. Query strings, path parameters and headers are converted to the types
 * of their schema and defaulted; bodies are only checked: never coerced, never stripped, never defaulted.
 * A refusal reaches the service's error handler as `RequestInvalid`.
 */
export function createValidatorCompiler(): FastifySchemaCompiler<TSchema> {
  // The checker stops looking after so many; a choice of fifteen words already counts as sixteen.
  Settings.Set({ maxErrors: MAX_ERRORS });
  return ({ schema, httpPart }) => {
    invariant(isPart(httpPart), `unknown part of a request: ${httpPart}`);
    const validator = Compile(schema);
    return (received: unknown) => {
      let value = received;
      if (httpPart !== 'body' && isRecord(received)) {
        // Other readers of the headers expect them as they came.
        value = httpPart === 'headers' ? { ...received } : received;
        convertText(value as Record<string, unknown>, schema); // isRecord held, and a copy keeps it
      }
      if (validator.Check(value)) return { value };
      const [, errors] = validator.Errors(value);
      return {
        error: new RequestInvalid({ part: httpPart, failures: toFailures(errors, schema, value) }),
      };
    };
  };
}

const MAX_ERRORS = 500;

const PARTS: ReadonlySet<string | undefined> = new Set<RequestPart>([
  'body',
  'querystring',
  'params',
  'headers',
]);

const isPart = (part: string | undefined): part is RequestPart => PARTS.has(part);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

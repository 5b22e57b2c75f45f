import type { FastifyInstance } from 'fastify';
import { refuseExcessiveJson } from './json-bounds.js';
import type { FieldError } from './platform-dialect.js';

/** The body is no JSON, or JSON of another kind than an object. */
export class JsonUnreadable extends Error {
  override readonly name = 'JsonUnreadable';
  readonly kind = 'json_unreadable';
  readonly reason: 'not_json' | 'not_an_object';
  constructor(reason: 'not_json' | 'not_an_object') {
    super(reason === 'not_json' ? 'Problems parsing JSON' : 'Body should be a JSON object');
    this.reason = reason;
  }
}

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

/** Bodies of this scope are JSON objects whatever their content type says; an empty one is `{}`. */
export function takeJsonObjects(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => {
    if (body.length === 0) return {};
    let value: unknown;
    try {
      refuseExcessiveJson(body, { maxValueCount: MAX_VALUE_COUNT });
      value = JSON.parse(body.toString());
    } catch {
      throw new JsonUnreadable('not_json');
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new JsonUnreadable('not_an_object');
    }
    return value;
  });
}

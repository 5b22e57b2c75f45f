import type { ErrorCode } from '../../model/error-codes.js';
import type { InvalidField } from '../../model/shape/check-shape.js';
import type { Violation } from '../../model/violation.js';
import { userMessage } from './user-messages.js';

/** Maximum length of client text quoted in a message. */
const MAX_QUOTED_LENGTH = 80;

interface About {
  /** Dotted path of the offending field, in the request's notation. */
  readonly param?: string;
  readonly message: string;
  readonly extra?: Readonly<Record<string, unknown>>;
}

export function violate(code: ErrorCode, options: About): Violation {
  const forUser = userMessage(code);
  return { code, ...options, ...(forUser !== undefined && { userMessage: forUser }) };
}

/** Returns a shape violation that only a rule can detect. */
export function invalidField(problem: InvalidField): Violation {
  return violate('invalid_fields', {
    param: problem.field,
    message: problem.message,
    extra: { invalid_fields: [problem] },
  });
}

/** Quotes client text for a message, truncated if long. */
export function quote(text: string): string {
  const shown = text.length > MAX_QUOTED_LENGTH ? `${text.slice(0, MAX_QUOTED_LENGTH)}…` : text;
  return JSON.stringify(shown);
}

/** Returns the first violation found by `rules`. */
export function firstViolation<T>(
  rules: readonly ((options: T) => Violation | undefined)[],
  options: T,
): Violation | undefined {
  for (const rule of rules) {
    const violation = rule(options);
    if (violation !== undefined) return violation;
  }
  return undefined;
}

/** Returns the first violation that `rule` finds in a list. */
export function firstOf<T>(
  items: Iterable<T>,
  rule: (item: T) => Violation | undefined,
): Violation | undefined {
  for (const item of items) {
    const violation = rule(item);
    if (violation !== undefined) return violation;
  }
  return undefined;
}

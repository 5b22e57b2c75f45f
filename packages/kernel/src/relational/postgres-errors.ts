import { type ConstraintKind, ConstraintViolated, StatementFailed } from './relational-errors.js';

/** Source: PostgreSQL documentation, appendix "Error Codes". */
const CONSTRAINTS: ReadonlyMap<string, ConstraintKind> = new Map([
  ['23505', 'unique'],
  ['23503', 'foreign_key'],
  ['23502', 'not_null'],
  ['23514', 'check'],
]);

/** Two transactions met; one of them has to begin again. */
const RETRYABLE: ReadonlySet<string> = new Set(['40001', '40P01']);

export function toStoreError(error: unknown): ConstraintViolated | StatementFailed {
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  const constraint = CONSTRAINTS.get(code);
  return constraint === undefined
    ? new StatementFailed(code, message)
    : new ConstraintViolated(constraint, message);
}

export function isRetryable(error: unknown): boolean {
  return error instanceof StatementFailed && RETRYABLE.has(error.code);
}

const codeOf = (error: unknown): string => String(Reflect.get(Object(error), 'code') ?? '');

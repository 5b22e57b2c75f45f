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

/** The server is full, read-only, or shutting down or starting. */
const REFUSING: ReadonlySet<string> = new Set(['53100', '25006', '57P01', '57P02', '57P03']);

/** No write would have been taken. */
export function isRefusal(error: unknown): boolean {
  return error instanceof StatementFailed && REFUSING.has(error.code);
}

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

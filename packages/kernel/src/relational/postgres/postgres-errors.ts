import pg from 'pg';
import type { DomainError } from '../../errors/domain-error.js';
import { messageOf } from '../../errors/message-of.js';
import {
  type ConstraintKind,
  StatementFailed,
  StoreAway,
  storeError,
} from '../relational-errors.js';

/** Source: PostgreSQL documentation, appendix "Error Codes". */
const CONSTRAINTS: ReadonlyMap<string, ConstraintKind> = new Map([
  ['23505', 'unique'],
  ['23503', 'foreign_key'],
  ['23502', 'not_null'],
  ['23514', 'check'],
]);

/** Serialization failures and deadlocks: the transaction must be retried. */
const RETRYABLE: ReadonlySet<string> = new Set(['40001', '40P01']);

/** The server is read-only, has no free connection, or is shutting down or starting. */
const AWAY: ReadonlySet<string> = new Set(['25006', '53300', '57P01', '57P02', '57P03']);
/** The error class of connection failures. */
const CONNECTION_CLASS = '08';
const DISK_FULL = '53100';
/** The error class of invalid values: text with U+0000, a number out of range. */
const DATA_CLASS = '22';

/** Whether any write would have failed. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof StoreAway || (error instanceof StatementFailed && error.code === DISK_FULL)
  );
}

export function toStoreError(error: unknown): DomainError | StatementFailed | StoreAway {
  if (error instanceof StoreAway) return error;
  const code = codeOf(error);
  const message = messageOf(error);
  // Errors of the server have their own type; all others are connection failures.
  const isResponse = error instanceof pg.DatabaseError;
  if (!isResponse || AWAY.has(code) || code.startsWith(CONNECTION_CLASS)) {
    return new StoreAway(code, message);
  }
  if (code.startsWith(DATA_CLASS)) return storeError('value_refused', message);
  const constraint = CONSTRAINTS.get(code);
  return constraint === undefined
    ? new StatementFailed(code, message)
    : storeError('constraint_violated', { constraint, message });
}

export function isRetryable(error: unknown): boolean {
  return error instanceof StatementFailed && RETRYABLE.has(error.code);
}

const codeOf = (error: unknown): string => String(Reflect.get(Object(error), 'code') ?? '');

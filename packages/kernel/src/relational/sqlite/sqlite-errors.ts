import type { DomainError } from '../../errors/domain-error.js';
import { type ConstraintKind, StatementFailed, storeError } from '../relational-errors.js';
import type { CommandFailure } from './worker-protocol.js';

const CONSTRAINTS: ReadonlyMap<string, ConstraintKind> = new Map([
  ['SQLITE_CONSTRAINT_UNIQUE', 'unique'],
  ['SQLITE_CONSTRAINT_PRIMARYKEY', 'unique'],
  ['SQLITE_CONSTRAINT_ROWID', 'unique'],
  ['SQLITE_CONSTRAINT_FOREIGNKEY', 'foreign_key'],
  ['SQLITE_CONSTRAINT_NOTNULL', 'not_null'],
  ['SQLITE_CONSTRAINT_CHECK', 'check'],
]);

/** Returns the SQLite result code of a driver error; empty for other errors. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

/** Whether a result code of SQLite proves that the file is corrupt, or is not a database. */
export const isCorruption = (code: string): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(code);

export function toStoreError(failure: CommandFailure): DomainError | StatementFailed {
  const constraint = CONSTRAINTS.get(failure.code);
  return constraint === undefined
    ? new StatementFailed(failure.code, failure.message)
    : storeError('constraint_violated', { constraint, message: failure.message });
}

/** What a row may not be; the same four words for every implementation. */
export type ConstraintKind = 'unique' | 'foreign_key' | 'not_null' | 'check';

/** A statement would have broken a constraint of a table; it changed nothing. */
export class ConstraintViolated extends Error {
  override readonly name = 'ConstraintViolated';
  readonly kind = 'constraint_violated';
  readonly constraint: ConstraintKind;
  constructor(constraint: ConstraintKind, message: string) {
    super(message);
    this.constraint = constraint;
  }
}

/** The database refused a statement (syntax, missing table, disk full...). `code` is its own word for that. */
export class StatementFailed extends Error {
  override readonly name = 'StatementFailed';
  readonly kind = 'statement_failed';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The database did not answer, or answers nobody. What was under way may have been done or not. `code` as in `StatementFailed`. */
export class StoreAway extends Error {
  override readonly name = 'StoreAway';
  readonly kind = 'store_away';
  readonly code: string;
  constructor(code: string, why: string) {
    super(`PostgreSQL cannot be asked: ${why}`);
    this.code = code;
  }
}

/** A statement failed and the work went on; as in PostgreSQL, such a transaction can only be rolled back. */
export class TransactionAborted extends Error {
  override readonly name = 'TransactionAborted';
  readonly kind = 'transaction_aborted';
  constructor(cause: unknown) {
    super('transaction was rolled back because a statement in it failed', { cause });
  }
}

/** The work took longer than a transaction may, while all others waited; it was rolled back. */
export class TransactionTimedOut extends Error {
  override readonly name = 'TransactionTimedOut';
  readonly kind = 'transaction_timed_out';
  constructor(limitMs: number) {
    super(`transaction was rolled back after ${limitMs} ms`);
  }
}

/** More transactions or reads wait than the store has room for; nothing was done. */
export class StoreOverloaded extends Error {
  override readonly name = 'StoreOverloaded';
  readonly kind = 'store_overloaded';
  constructor(limit: number) {
    super(`relational store is overloaded: ${limit} statements or transactions wait already`);
  }
}

/** The store is closed, or broken for good: its thread ended or its disk failed. Only a restart helps. */
export class StoreUnusable extends Error {
  override readonly name = 'StoreUnusable';
  readonly kind = 'store_unusable';
  constructor(why: string, cause?: unknown) {
    super(`relational store is unusable: ${why}`, cause === undefined ? {} : { cause });
  }
}

/** Bytes of a committed transaction are not what was written. The start stops here unless a repair is asked for. */
export class StoreDamaged extends Error {
  override readonly name = 'StoreDamaged';
  readonly kind = 'store_damaged';
  readonly file: string;
  readonly offset: number;
  constructor(at: { readonly file: string; readonly offset: number; readonly why: string }) {
    super(`relational store is damaged: ${at.file} at offset ${at.offset}: ${at.why}`);
    this.file = at.file;
    this.offset = at.offset;
  }
}

/** The database was made by another list of migrations, for example by a newer version of this software. */
export class MigrationsDiffer extends Error {
  override readonly name = 'MigrationsDiffer';
  readonly kind = 'migrations_differ';
  constructor(service: string, why: string) {
    super(`migrations of ${service}: ${why}`);
  }
}

import { errorCatalogue } from '../errors/domain-error.js';

/** The kind of a violated constraint, the same for every implementation. */
export type ConstraintKind = 'unique' | 'foreign_key' | 'not_null' | 'check';

/** The database rejected a statement (syntax, missing table, full disk). `code` is its own error code. */
export class StatementFailed extends Error {
  override readonly name = 'StatementFailed';
  readonly kind = 'statement_failed';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * The database did not respond, or accepts no connections. Statements in progress may or may not have run. `code` as
 * in `StatementFailed`.
 */
export class StoreAway extends Error {
  override readonly name = 'StoreAway';
  readonly kind = 'store_away';
  readonly code: string;
  constructor(code: string, why: string) {
    super(`PostgreSQL is unavailable: ${why}`);
    this.code = code;
  }
}

/** All other expected failures of a relational store. */
export const storeError = errorCatalogue('StoreError', {
  /** A statement would have violated a constraint; it changed nothing. */
  constraint_violated: (details: {
    readonly constraint: ConstraintKind;
    readonly message: string;
  }) => details.message,
  /** The store does not support a value, such as text with U+0000; nothing was changed. */
  value_refused: (why: string) => why,
  /** A statement failed and the work continued. As in PostgreSQL, such a transaction can only be rolled back. */
  transaction_aborted: 'transaction was rolled back because a statement in it failed',
  /** The transaction exceeded its time limit while others waited; it was rolled back. */
  transaction_timed_out: (limitMs: number) =>
    `transaction timed out after ${limitMs} ms and was rolled back`,
  /** Too many transactions or reads are waiting; nothing was done. */
  store_overloaded: (limit: number) =>
    `relational store is overloaded: ${limit} statements or transactions are queued`,
  /** The store is closed or has failed permanently: its thread ended or its disk failed. Only a restart helps. */
  store_unusable: (why: string) => `relational store is unusable: ${why}`,
  /** A committed transaction in the journal is corrupt. The startup fails unless a repair is requested. */
  store_damaged: (details: {
    readonly file: string;
    readonly offset: number;
    readonly why: string;
  }) => `relational store is corrupt: ${details.file} at offset ${details.offset}: ${details.why}`,
  /** Pages of the database file are corrupt. The startup fails unless a repair can rebuild them. */
  store_corrupt: (details: {
    readonly file: string;
    readonly why: string;
    /** A repair has failed, so a second one would, too. */
    readonly isRepairFailed?: boolean;
  }) => `relational store is corrupt: ${details.file}: ${details.why}`,
  /** The database contains other migrations, for example from a newer version. */
  migrations_differ: (details: { readonly service: string; readonly why: string }) =>
    `migrations of ${details.service}: ${details.why}`,
});

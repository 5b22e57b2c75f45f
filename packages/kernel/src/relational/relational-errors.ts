import { errorCatalogue } from '../errors/domain-error.js';

/** What a row may not be; the same four words for every implementation. */
export type ConstraintKind = 'unique' | 'foreign_key' | 'not_null' | 'check';

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

/** How else a relational store fails as expected. */
export const storeError = errorCatalogue('StoreError', {
  /** A statement would have broken a constraint of a table; it changed nothing. */
  constraint_violated: (at: { readonly constraint: ConstraintKind; readonly message: string }) =>
    at.message,
  /** A statement was given a value that the store cannot hold, such as a text with U+0000; it changed nothing. */
  value_refused: (why: string) => why,
  /** A statement failed and the work went on; as in PostgreSQL, such a transaction can only be rolled back. */
  transaction_aborted: 'transaction was rolled back because a statement in it failed',
  /** The work took longer than a transaction may, while all others waited; it was rolled back. */
  transaction_timed_out: (limitMs: number) => `transaction was rolled back after ${limitMs} ms`,
  /** More transactions or reads wait than the store has room for; nothing was done. */
  store_overloaded: (limit: number) =>
    `relational store is overloaded: ${limit} statements or transactions wait already`,
  /** The store is closed, or broken for good: its thread ended or its disk failed. Only a restart helps. */
  store_unusable: (why: string) => `relational store is unusable: ${why}`,
  /** Bytes of a committed transaction are not what was written. The start stops here unless a repair is asked for. */
  store_damaged: (at: { readonly file: string; readonly offset: number; readonly why: string }) =>
    `relational store is damaged: ${at.file} at offset ${at.offset}: ${at.why}`,
  /** Pages of the database file are not what was written. The start stops here unless a repair can rebuild what is bad. */
  store_corrupt: (at: { readonly file: string; readonly why: string }) =>
    `relational store is corrupt: ${at.file}: ${at.why}`,
  /** The database was made by another list of migrations, for example by a newer version of this software. */
  migrations_differ: (at: { readonly service: string; readonly why: string }) =>
    `migrations of ${at.service}: ${at.why}`,
});

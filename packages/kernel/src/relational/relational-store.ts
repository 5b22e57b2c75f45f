import type { Kysely, Transaction } from 'kysely';

/**
 * Relational state of the node. `DB` is the caller's own table map; each service owns the tables with its prefix.
 * Writers that wait at the same time share one commit and one sync; `transaction` resolves when it is durable.
 */
export interface RelationalStore {
  /** Runs `work` alone (serializable). Whatever it throws rolls its changes back and is rethrown. */
  transaction<DB, T>(work: (tx: Transaction<DB>) => Promise<T>): Promise<T>;
  /** Reads outside a transaction: committed state only. */
  reader<DB>(): Kysely<DB>;
  /** Applies the migrations of `service` that this store has not seen, in order, each once. */
  migrate(service: string, migrations: readonly Migration[]): Promise<void>;
  close(): Promise<void>;
}

export interface Migration {
  /** Ascending and never reused, for example `0001_tokens`. */
  readonly name: string;
  up(tx: Transaction<unknown>): Promise<void>;
}

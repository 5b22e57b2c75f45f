import type { Kysely, Transaction } from 'kysely';

/**
 * Relational state of the node. `DB` is the caller's own table map; each service owns the tables with its prefix.
 * Concurrent writers share one commit and one sync; `transaction` resolves when it is durable.
 */
export interface RelationalStore {
  /** For the few statements that differ between the databases. */
  readonly system: DatabaseSystem;
  /**
   * Runs `work` as a serializable transaction. An error rolls its changes back and is rethrown. All other transactions wait,
   * so it must await only its own statements, and never another `transaction`.
   * A failed statement rolls back the complete transaction, as in PostgreSQL. Check for existing rows with `on conflict`, not
   * by catching `constraint_violated` inside. See relational-errors.ts for the errors.
   * In a shared store, `work` is run again after a serialization failure, so its other effects must be repeatable.
   */
  transaction<DB, T>(
    work: (tx: Transaction<DB>) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T>;
  /** Calls `listener` after the running transaction `tx` is committed and visible to readers. */
  onCommit<DB>(tx: Transaction<DB>, listener: () => void): void;
  /**
   * Reads outside a transaction. Each statement sees everything committed before it ran, including every resolved
   * `transaction`, and no changes of a running transaction. It cannot write.
   */
  reader<DB>(): Kysely<DB>;
  /** Applies the pending migrations of `service` in order, each once. */
  migrate(service: string, migrations: readonly Migration[]): Promise<void>;
  close(): Promise<void>;
}

export interface TransactionOptions {
  /**
   * `read_committed`: the work uses row locks (`for update skip locked`) and conditions, and must not fail because of
   * concurrent transactions. A store that serializes transactions still does so.
   */
  readonly isolation?: 'serializable' | 'read_committed';
}

/** A store in a file of this node. */
export interface EmbeddedStore extends RelationalStore {
  /** The reason why transactions currently fail; `undefined` if no reason is known. */
  readonly obstacle: Error | undefined;
  /** Writes a consistent copy of the committed state to `path`, which must not exist. */
  snapshot(path: string): Promise<void>;
}

/** A store on a database server, which several nodes can share. */
export interface SharedStore extends RelationalStore {
  /** The reason why the store rejects writes, according to the last write or `probe`; `undefined` when no reason is known. */
  readonly obstacle: Error | undefined;
  /** Checks the connection, and whether writes work again. Rejects when the server does not respond. */
  probe(): Promise<void>;
}

export interface Migration {
  /** Ascending and never reused, for example `0001_tokens`. */
  readonly name: string;
  up(tx: Transaction<unknown>, system: DatabaseSystem): Promise<void>;
}

export type DatabaseSystem = 'sqlite' | 'postgresql';

import type { Kysely, Transaction } from 'kysely';

/**
 * Relational state of the node. `DB` is the caller's own table map; each service owns the tables with its prefix.
 * Writers that wait at the same time share one commit and one sync; `transaction` resolves when it is durable.
 */
export interface RelationalStore {
  /** For the few statements that the two write differently. */
  readonly engine: SqlEngine;
  /**
   * Runs `work` alone (serializable). Whatever it throws rolls its changes back and is rethrown. Everybody else
   * waits meanwhile, so it must wait for nothing but its own statements, least of all for another `transaction`.
   * A statement that fails rolls back the whole of it, as in PostgreSQL: what may be there already is asked by
   * `on conflict`, not by catching `constraint_violated` inside. See relational-errors.ts for what it throws.
   * Where nodes share the store, `work` that met another transaction is run again from its start: what it does
   * besides its statements must bear that.
   */
  transaction<DB, T>(
    work: (tx: Transaction<DB>) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T>;
  /** Calls `listener` when `tx`, which is running, is committed: others can read then what it wrote. */
  onCommit<DB>(tx: Transaction<DB>, listener: () => void): void;
  /**
   * Reads outside a transaction. Each statement sees all that was committed when it ran, among it every
   * `transaction` that resolved before; never a part of one that is running. It cannot write.
   */
  reader<DB>(): Kysely<DB>;
  /** Applies the migrations of `service` that this store has not seen, in order, each once. */
  migrate(service: string, migrations: readonly Migration[]): Promise<void>;
  close(): Promise<void>;
}

export interface TransactionOptions {
  /**
   * `read_committed`: the work guards itself by row locks (`for update skip locked`) and conditions, and must not
   * fail because of neighbours. A store that runs transactions one after the other does so all the same.
   */
  readonly isolation?: 'serializable' | 'read_committed';
}

/** A store that lies in a file of this node. */
export interface EmbeddedStore extends RelationalStore {
  /** Why transactions fail at the moment, and have to; `undefined` when nothing is known against them. */
  readonly obstacle: Error | undefined;
  /** Writes all that is committed at one moment as a database of its own to `path`, which must not exist. */
  snapshot(path: string): Promise<void>;
}

/** A store on a server of its own, which several nodes may share. */
export interface SharedStore extends RelationalStore {
  /** Why it takes no writes, as far as the last of them or `probe` have shown; `undefined` when nothing is known against them. */
  readonly obstacle: Error | undefined;
  /** Looks whether it takes writes, where it did not, and fails when it does not answer. */
  probe(): Promise<void>;
}

export interface Migration {
  /** Ascending and never reused, for example `0001_tokens`. */
  readonly name: string;
  up(tx: Transaction<unknown>, engine: SqlEngine): Promise<void>;
}

export type SqlEngine = 'sqlite' | 'postgresql';

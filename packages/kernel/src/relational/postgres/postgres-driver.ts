import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { InvariantBroken, invariant } from '../../errors/invariant.js';
import { StoreAway, storeError } from '../relational-errors.js';
import { toSqlValue } from '../sql-value.js';
import { isRefusal, toStoreError } from './postgres-errors.js';
import type { PostgresLiveness } from './postgres-liveness.js';

export interface PostgresLimits {
  /** The number of transactions or reads that may wait for a connection; the next one is rejected. */
  readonly maxWaitingCount: number;
  readonly maxTransactionMs: number;
}

/** Called with the outcome of writes. */
export interface WriteListener {
  /** Called when a transaction with changes was committed. */
  taken(): void;
  refused(error: Error): void;
}

export function postgresDialect(driver: Driver): Dialect {
  return {
    createDriver: () => driver,
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  };
}

/** Connections of a pool. A transaction keeps its connection until it has ended. */
export class PostgresDriver implements Driver {
  readonly #pool: Pool;
  readonly #pulse: PostgresLiveness;
  readonly #limits: PostgresLimits;
  readonly #writes: WriteListener | undefined;
  /** The number of outages at the time when a connection was created. */
  readonly #outagesBefore = new WeakMap<PoolClient, number>();
  #isClosed = false;

  constructor(deps: {
    readonly pool: Pool;
    readonly pulse: PostgresLiveness;
    readonly limits: PostgresLimits;
    readonly writes: WriteListener | undefined;
  }) {
    const { pool, pulse, limits, writes } = deps;
    this.#pool = pool;
    pool.on('connect', (client) => {
      // Registered immediately: a server may send its termination message together with the handshake.
      client.on('error', failsByItself);
      this.#outagesBefore.set(client, pulse.outageCount);
    });
    this.#pulse = pulse;
    this.#limits = limits;
    this.#writes = writes;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#isClosed) throw storeError('store_unusable', 'it is closed');
    const limit = this.#limits.maxWaitingCount;
    if (this.#pool.waitingCount >= limit) throw storeError('store_overloaded', limit);
    try {
      const client = await this.#connect();
      const { maxTransactionMs } = this.#limits;
      return new PostgresConnection(client, {
        ...{ pulse: this.#pulse, maxTransactionMs, writes: this.#writes },
      });
    } catch (error) {
      const failure = toStoreError(error);
      if (isRefusal(failure)) this.#writes?.refused(failure);
      throw failure;
    }
  }

  /**
   * Returns a connection created after the last outage. Older connections are closed when the pool returns them, so the
   * loop ends.
   */
  async #connect(): Promise<PoolClient> {
    for (;;) {
      const client = await this.#pulse.watch(
        () => this.#pool.connect(),
        (late) => late.release(),
      );
      if (this.#outagesBefore.get(client) === this.#pulse.outageCount) return client;
      client.release(true);
    }
  }

  async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    await asOurs(connection).begin(settings.isolationLevel ?? 'serializable');
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await asOurs(connection).commit();
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await asOurs(connection).rollback();
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    asOurs(connection).release();
  }

  async destroy(): Promise<void> {
    this.#isClosed = true;
    await this.#pool.end();
  }
}

function asOurs(connection: DatabaseConnection): PostgresConnection {
  invariant(connection instanceof PostgresConnection, 'the connection is from another driver');
  return connection;
}

class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient;
  readonly #pulse: PostgresLiveness;
  readonly #maxTransactionMs: number;
  readonly #writes: WriteListener | undefined;
  #timer: NodeJS.Timeout | undefined;
  #hasChanged = false;
  #isInTransaction = false;
  /**
   * Whether the transaction was committed, rolled back or released; the client may already serve
   * another transaction.
   */
  #hasEnded = false;
  /** A failure after which only a rollback is possible. */
  #failure: Error | undefined;
  #isBroken = false;
  #isReleased = false;

  constructor(
    client: PoolClient,
    deps: {
      readonly pulse: PostgresLiveness;
      readonly maxTransactionMs: number;
      readonly writes: WriteListener | undefined;
    },
  ) {
    this.#client = client;
    this.#pulse = deps.pulse;
    this.#writes = deps.writes;
    this.#maxTransactionMs = deps.maxTransactionMs;
  }

  async begin(isolation: string): Promise<void> {
    await this.#query(`begin isolation level ${isolation}`, []);
    this.#isInTransaction = true;
    this.#timer = setTimeout(() => {
      this.#failure ??= storeError('transaction_timed_out', this.#maxTransactionMs);
      // Closing the connection also ends the running statement and the transaction.
      this.release();
    }, this.#maxTransactionMs);
  }

  async commit(): Promise<void> {
    const failure = this.#failure;
    if (failure !== undefined) {
      await this.rollback();
      throw storeError.is(failure, 'transaction_timed_out')
        ? failure
        : storeError('transaction_aborted', undefined, failure);
    }
    this.#end();
    await this.#query('commit', []);
    if (this.#hasChanged) this.#writes?.taken();
  }

  async rollback(): Promise<void> {
    if (!this.#isInTransaction || this.#isReleased) return;
    this.#end();
    // A connection that cannot roll back is closed, which also rolls back.
    await this.#query('rollback', []).catch(() => {
      this.#isBroken = true;
    });
  }

  /** Safe to call twice, because the timer also releases a transaction that exceeds its limit. */
  release(): void {
    clearTimeout(this.#timer);
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#hasEnded = true;
    this.#client.release(this.#isBroken || this.#isInTransaction);
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (storeError.is(this.#failure, 'transaction_timed_out')) throw this.#failure;
    invariant(!this.#hasEnded, 'a statement must not run after its transaction has ended');
    const { rows, rowCount, command } = await this.#query(
      query.sql,
      query.parameters.map(toParameter),
    );
    const changes = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE';
    if (changes) this.#hasChanged = true;
    return {
      rows: rows as R[], // the caller's table map defines the column types
      ...(changes && { numAffectedRows: BigInt(rowCount ?? 0) }),
    };
  }

  // biome-ignore lint/correctness/useYield: Kysely requires a generator; results are bounded, so none streams.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new InvariantBroken('statements cannot be streamed; read in pages');
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#isInTransaction = false;
    this.#hasEnded = true;
  }

  async #query(text: string, values: unknown[]) {
    try {
      return await this.#pulse.watch(() => this.#client.query(text, values));
    } catch (error) {
      const failure = toStoreError(error);
      // Otherwise, a late response could be assigned to the next query.
      if (failure instanceof StoreAway) this.#isBroken = true;
      if (isRefusal(failure)) this.#writes?.refused(failure);
      this.#failure ??= failure;
      // A statement running at the timeout failed because its connection was closed.
      throw storeError.is(this.#failure, 'transaction_timed_out') ? this.#failure : failure;
    }
  }
}

/**
 * The pool handles lost connections only while they are idle, and an unhandled error event ends the process. A running or
 * later statement on the connection fails with its own error.
 */
function failsByItself(): void {}

/** Accepts text, numbers, bytes and null, like the embedded store; a boolean becomes a number. */
function toParameter(value: unknown): unknown {
  const plain = toSqlValue(value);
  return plain instanceof Uint8Array
    ? Buffer.from(plain.buffer, plain.byteOffset, plain.length)
    : plain;
}

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
import type { PostgresPulse } from './postgres-pulse.js';

export interface PostgresLimits {
  /** Transactions or reads that may wait for a connection; the next is refused. */
  readonly maxWaitingCount: number;
  readonly maxTransactionMs: number;
}

/** Hears what becomes of writes. */
export interface WriteListener {
  /** A transaction that changed something is committed. */
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

/** Connections of a pool; a transaction keeps its own until it has ended. */
export class PostgresDriver implements Driver {
  readonly #pool: Pool;
  readonly #pulse: PostgresPulse;
  readonly #limits: PostgresLimits;
  readonly #writes: WriteListener | undefined;
  /** How many outages there were when a connection was made. */
  readonly #outagesBefore = new WeakMap<PoolClient, number>();
  #isClosed = false;

  constructor(needs: {
    readonly pool: Pool;
    readonly pulse: PostgresPulse;
    readonly limits: PostgresLimits;
    readonly writes: WriteListener | undefined;
  }) {
    const { pool, pulse, limits, writes } = needs;
    this.#pool = pool;
    pool.on('connect', (client) => {
      // From the first moment: the farewell of a server may come in one piece with its greeting.
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

  /** One that was made after the last outage: each of the others is closed as it comes, so this ends. */
  async #connect(): Promise<PoolClient> {
    for (;;) {
      const client = await this.#pulse.heed(
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
  invariant(connection instanceof PostgresConnection, 'the connection is one of ours');
  return connection;
}

class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient;
  readonly #pulse: PostgresPulse;
  readonly #maxTransactionMs: number;
  readonly #writes: WriteListener | undefined;
  #timer: NodeJS.Timeout | undefined;
  #hasChanged = false;
  #isInTransaction = false;
  /** Committed, rolled back or released: the client may be somebody else's. */
  #hasEnded = false;
  /** What the transaction can only be rolled back for. */
  #failure: Error | undefined;
  #isBroken = false;
  #isReleased = false;

  constructor(
    client: PoolClient,
    needs: {
      readonly pulse: PostgresPulse;
      readonly maxTransactionMs: number;
      readonly writes: WriteListener | undefined;
    },
  ) {
    this.#client = client;
    this.#pulse = needs.pulse;
    this.#writes = needs.writes;
    this.#maxTransactionMs = needs.maxTransactionMs;
  }

  async begin(isolation: string): Promise<void> {
    await this.#query(`begin isolation level ${isolation}`, []);
    this.#isInTransaction = true;
    this.#timer = setTimeout(() => {
      this.#failure ??= storeError('transaction_timed_out', this.#maxTransactionMs);
      // Whatever runs on it ends with the connection, and so does the transaction.
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
    // A connection that cannot even do that is closed, which rolls back as well.
    await this.#query('rollback', []).catch(() => {
      this.#isBroken = true;
    });
  }

  /** Twice is harmless: a transaction that took too long was released by its timer. */
  release(): void {
    clearTimeout(this.#timer);
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#hasEnded = true;
    this.#client.release(this.#isBroken || this.#isInTransaction);
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (storeError.is(this.#failure, 'transaction_timed_out')) throw this.#failure;
    invariant(!this.#hasEnded, 'no statement after the end of its transaction');
    const { rows, rowCount, command } = await this.#query(
      query.sql,
      query.parameters.map(toParameter),
    );
    const changes = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE';
    if (changes) this.#hasChanged = true;
    return {
      rows: rows as R[], // the caller's table map says what its columns hold
      ...(changes && { numAffectedRows: BigInt(rowCount ?? 0) }),
    };
  }

  // biome-ignore lint/correctness/useYield: Kysely asks for a generator; results are bounded, so none streams.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new InvariantBroken('statements are not streamed: read in pages');
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#isInTransaction = false;
    this.#hasEnded = true;
  }

  async #query(text: string, values: unknown[]) {
    try {
      return await this.#pulse.heed(() => this.#client.query(text, values));
    } catch (error) {
      const failure = toStoreError(error);
      // It may still wait for an answer that nobody expects any more.
      if (failure instanceof StoreAway) this.#isBroken = true;
      if (isRefusal(failure)) this.#writes?.refused(failure);
      this.#failure ??= failure;
      // What ran when the time was over failed because its connection went.
      throw storeError.is(this.#failure, 'transaction_timed_out') ? this.#failure : failure;
    }
  }
}

/**
 * The pool hears of lost connections only while they are idle; an error that nobody hears ends the process. What runs on
 * the connection, and what is asked of it next, fails by itself.
 */
function failsByItself(): void {}

/** As in the embedded store: what is no text, number, bytes or null is refused, and a boolean is a number. */
function toParameter(value: unknown): unknown {
  const plain = toSqlValue(value);
  return plain instanceof Uint8Array
    ? Buffer.from(plain.buffer, plain.byteOffset, plain.length)
    : plain;
}

import { Kysely, sql, type Transaction } from 'kysely';
import pg from 'pg';
import type { Clock } from '../../clock/clock.js';
import type { Random } from '../../clock/random.js';
import type { DomainError } from '../../errors/domain-error.js';
import { CommitListeners } from '../commit-listeners.js';
import { Migrations } from '../migrations.js';
import { storeError } from '../relational-errors.js';
import type { Migration, SharedStore, TransactionOptions } from '../relational-store.js';
import { PostgresDriver, postgresDialect, type WriteListener } from './postgres-driver.js';
import { isRetryable } from './postgres-errors.js';
import { PostgresLiveness } from './postgres-liveness.js';

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly maxWaitingCount?: number;
  readonly maxTransactionMs?: number;
  /** Called when an idle connection is lost; the next statement opens another one. */
  readonly onConnectionLost: (error: Error) => void;
}

const INT8_OID = 20;
/** The maximum number of connections for transactions, and separately for reads. */
const MAX_CONNECTION_COUNT = 10;
const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 30_000;
/** After this time, the server ends an idle transaction, so that a stopped or disconnected process releases its locks. */
const MAX_IDLE_IN_TRANSACTION_MS = 10_000;
/** A reachable server accepts a connection within this time. */
const GREETING_TIMEOUT_MS = 3000;
/** The maximum number of attempts of a transaction with serialization failures. */
const MAX_ATTEMPT_COUNT = 100;
const MAX_BACKOFF_MS = 50;

/**
 * Relational state that several nodes can share. Transactions are serializable and concurrent; after a serialization
 * failure, a transaction is retried. No session state is used, so connection poolers can be used.
 */
export class PostgresStore implements SharedStore {
  readonly system = 'postgresql';
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #drivers: PostgresDriver[] = [];
  readonly #pulse: PostgresLiveness;
  readonly #migrations = new Migrations(this);
  readonly #reader: Kysely<unknown>;
  readonly #writer: Kysely<unknown>;
  readonly #running = new Set<Promise<unknown>>();
  /** Retries run one at a time, so that they do not conflict with each other again. */
  #lastRetry: Promise<unknown> = Promise.resolve();
  readonly #commits = new CommitListeners();
  #obstacle: DomainError | undefined;
  #closing: Promise<void> | undefined;

  /** Throws `store_unusable` when the server does not respond. */
  static async open(options: PostgresStoreOptions): Promise<PostgresStore> {
    const store = new PostgresStore(options);
    try {
      await store.probe();
    } catch (error) {
      await store.close();
      throw storeError('store_unusable', 'PostgreSQL cannot be reached', error);
    }
    return store;
  }

  private constructor(options: PostgresStoreOptions) {
    this.#clock = options.clock;
    this.#random = options.random;
    this.#pulse = new PostgresLiveness(() => greet(options.url));
    const limits = {
      maxWaitingCount: options.maxWaitingCount ?? 10_000,
      maxTransactionMs: options.maxTransactionMs ?? 30_000,
    };
    const writes: WriteListener = {
      taken: () => {
        this.#obstacle = undefined;
      },
      refused: (error) => {
        this.#obstacle = storeError('store_unusable', 'PostgreSQL rejects writes', error);
      },
    };
    const open = (isReader: boolean) => {
      const pool = new pg.Pool({
        connectionString: options.url,
        max: MAX_CONNECTION_COUNT,
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        idleTimeoutMillis: IDLE_TIMEOUT_MS,
        types: { getTypeParser: parserOf },
        options: isReader
          ? '-c default_transaction_read_only=on'
          : `-c idle_in_transaction_session_timeout=${MAX_IDLE_IN_TRANSACTION_MS}`,
      });
      pool.on('error', options.onConnectionLost);
      const driver = new PostgresDriver({
        ...{ pool, limits, pulse: this.#pulse, writes: isReader ? undefined : writes },
      });
      this.#drivers.push(driver);
      return new Kysely<unknown>({ dialect: postgresDialect(driver) });
    };
    this.#reader = open(true);
    this.#writer = open(false);
  }

  get obstacle(): Error | undefined {
    return this.#obstacle;
  }

  async probe(): Promise<void> {
    // A standby is detected without a write.
    const { rows } = await sql<{ standby: boolean }>`select pg_is_in_recovery() as standby`.execute(
      this.#reader,
    );
    if (rows[0]?.standby)
      this.#obstacle ??= storeError('store_unusable', 'PostgreSQL is a standby');
    if (this.#obstacle !== undefined && (await this.#takesWrites())) this.#obstacle = undefined;
  }

  /** Writes some pages and rolls them back, because the next real write may be hours away. */
  async #takesWrites(): Promise<boolean> {
    try {
      await this.transaction(async (tx) => {
        const { rows } = await sql<{
          mode: string;
        }>`select current_setting('transaction_read_only') as mode`.execute(tx);
        if (rows[0]?.mode === 'on') throw storeError('store_unusable', 'PostgreSQL is read-only');
        await sql`create temporary table plinth_room on commit drop as
          select repeat('x', 1000) as filling from generate_series(1, 100)`.execute(tx);
      });
      return true;
    } catch (error) {
      // Without permission to create temporary tables, only the next real write can show this.
      return codeOf(error) === '42501';
    }
  }

  async transaction<DB, T>(
    work: (tx: Transaction<DB>) => Promise<T>,
    { isolation = 'serializable' }: TransactionOptions = {},
  ): Promise<T> {
    if (this.#closing !== undefined) throw storeError('store_unusable', 'it is closed');
    const running = this.#runUntilDone(work, isolation);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  onCommit<DB>(tx: Transaction<DB>, listener: () => void): void {
    this.#commits.add(tx, listener);
  }

  reader<DB>(): Kysely<DB> {
    return this.#reader as Kysely<DB>; // the caller created the tables and defines their types
  }

  async migrate(service: string, migrations: readonly Migration[]): Promise<void> {
    await this.#migrations.apply(service, migrations);
  }

  async close(): Promise<void> {
    this.#closing ??= (async () => {
      await Promise.allSettled(this.#running);
      // Kysely's own `destroy` would change the errors of later calls.
      await Promise.all(this.#drivers.map((driver) => driver.destroy()));
      this.#pulse.close();
    })();
    await this.#closing;
  }

  async #runUntilDone<DB, T>(
    work: (tx: Transaction<DB>) => Promise<T>,
    isolation: 'serializable' | 'read_committed',
  ): Promise<T> {
    const level = isolation === 'serializable' ? 'serializable' : 'read committed';
    const writer = this.#writer as Kysely<DB>;
    const run = async (): Promise<T> =>
      await this.#commits.hear(
        (all) => writer.transaction().setIsolationLevel(level).execute(all),
        work,
      );
    try {
      return await run();
    } catch (error) {
      if (!hasMetAnother(error)) throw error;
    }
    const retried = this.#lastRetry.then(async () => {
      for (let attempt = 2; ; attempt++) {
        try {
          return await run();
        } catch (error) {
          if (!hasMetAnother(error) || attempt >= MAX_ATTEMPT_COUNT) throw error;
        }
        await this.#clock.sleep(1 + this.#random.float() * Math.min(attempt * 2, MAX_BACKOFF_MS));
      }
    });
    this.#lastRetry = retried.catch(() => {}); // reported to the caller of that transaction
    return await retried;
  }
}

/** Succeeds on any response of the server, even when it accepts no connections. */
async function greet(url: string): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: GREETING_TIMEOUT_MS,
  });
  client.on('error', () => {}); // `connect` reports the error
  try {
    await client.connect();
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
  } finally {
    // Not awaited: an unreachable server never confirms.
    void client.end().catch(() => {});
  }
}

const codeOf = (error: unknown): unknown => Reflect.get(Object(error), 'code');

function hasMetAnother(error: unknown): boolean {
  return isRetryable(storeError.is(error, 'transaction_aborted') ? error.cause : error);
}

/**
 * Returns the parser of a type. A 64-bit integer becomes a number if exact, otherwise a bigint, as
 * in the embedded store.
 */
function parserOf(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
  if (oid !== INT8_OID) return pg.types.getTypeParser(oid, format as 'text'); // binary is never requested
  return (text) => {
    const short = Number(text);
    return Number.isSafeInteger(short) ? short : BigInt(text);
  };
}

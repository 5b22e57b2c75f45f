import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { InvariantBroken, invariant } from '../../errors/invariant.js';
import type { ExclusiveTransaction, GroupCommit } from '../group-commit.js';
import { toSqlValue } from '../sql-value.js';
import type { WorkerChannel } from './worker-channel.js';
import type { QueryResponse, SqlValue } from './worker-protocol.js';

type RunQuery = (
  sql: string,
  parameters: readonly SqlValue[],
) => Promise<QueryResponse | undefined>;

/** Creates Kysely's SQLite dialect with one of the two drivers below. */
export function sqliteDialect(driver: Driver): Dialect {
  return {
    createDriver: () => driver,
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

/** Every statement runs outside a transaction and sees committed data. */
export function readerDriver(channel: WorkerChannel): Driver {
  const connection = new StoreConnection((sql, parameters) =>
    channel.query('reader', sql, parameters),
  );
  const refuse = async () => {
    throw new InvariantBroken(
      'a reader does not support transactions; use RelationalStore.transaction',
    );
  };
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    releaseConnection: async () => {},
    destroy: async () => {},
  };
}

const CHANGES_SCHEMA = /^\s*(create|alter|drop)\b/i;

/**
 * Each connection is one transaction. `commitTransaction` resolves when the group is durable; other transactions run in the
 * meantime. @param isEager schema changes are not awaited one by one; a failure fails their transaction.
 */
export function writerDriver(groups: GroupCommit, { isEager = false } = {}): Driver {
  const turns = new WeakMap<DatabaseConnection, ExclusiveTransaction>();
  const turnOf = (connection: DatabaseConnection) => {
    const turn = turns.get(connection);
    invariant(turn !== undefined, 'the connection is from another driver');
    return turn;
  };
  return {
    init: async () => {},
    acquireConnection: async () => {
      const turn = await groups.enter();
      const connection = new StoreConnection(async (sql, parameters) => {
        if (!isEager || !CHANGES_SCHEMA.test(sql)) return await turn.query(sql, parameters);
        turn.run(sql, parameters);
        return NOTHING;
      });
      turns.set(connection, turn);
      return connection;
    },
    beginTransaction: async () => {},
    commitTransaction: async (connection) => await turnOf(connection).commit(),
    rollbackTransaction: async (connection) => await turnOf(connection).rollback(),
    releaseConnection: async () => {},
    destroy: async () => {},
  };
}

const NOTHING: QueryResponse = {
  columns: [],
  rows: [],
  changedRowCount: undefined,
  insertId: undefined,
  changedSchema: true,
};

class StoreConnection implements DatabaseConnection {
  readonly #run: RunQuery;

  constructor(run: RunQuery) {
    this.#run = run;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const response = await this.#run(query.sql, query.parameters.map(toSqlValue));
    invariant(response !== undefined, 'the query returned no reply');
    const rows = toObjects(response) as R[]; // the caller's table map defines the column types
    return {
      rows,
      ...(response.changedRowCount === undefined
        ? {}
        : { numAffectedRows: BigInt(response.changedRowCount) }),
      ...(response.insertId === undefined ? {} : { insertId: BigInt(response.insertId) }),
    };
  }

  // biome-ignore lint/correctness/useYield: Kysely requires a generator; results are bounded, so none streams.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new InvariantBroken('statements cannot be streamed; read in pages');
  }
}

function toObjects(response: QueryResponse): Record<string, SqlValue>[] {
  return response.rows.map((row) => {
    const object: Record<string, SqlValue> = {};
    for (const [index, column] of response.columns.entries()) {
      object[column] = row[index] as SqlValue; // a row has a value for each column
    }
    return object;
  });
}

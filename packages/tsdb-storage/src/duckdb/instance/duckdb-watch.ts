import type { DuckDBConnection } from '@duckdb/node-api';

/**
 * DuckDB calls that can fail. `duckdb.write` is a statement of the writer connection (buffer
 * tables, series, repeated points). `duckdb.copy` writes a file. `duckdb.query` is any other
 * statement, and `duckdb.fetch` fetches a chunk of its result. `duckdb.append` passes rows to an
 * appender; `duckdb.flush` commits them to a table.
 */
export type DuckDbCall =
  | 'duckdb.write'
  | 'duckdb.copy'
  | 'duckdb.query'
  | 'duckdb.fetch'
  | 'duckdb.append'
  | 'duckdb.flush';

/** Wraps DuckDB calls, so that tests can make one fail before or after its effect. */
export interface DuckDbWatch {
  around<T>(call: DuckDbCall, run: () => Promise<T>): Promise<T>;
  /** For synchronous calls: if it throws, the call fails with that error. */
  before(call: DuckDbCall): void;
}

interface Watched {
  duckDbWatch?: DuckDbWatch;
}

/** Wraps all later calls on `connection` with `watch`. */
export function watchConnection(
  connection: DuckDBConnection,
  watch: DuckDbWatch,
  statements: 'duckdb.write' | 'duckdb.query',
): DuckDBConnection {
  const run = connection.run.bind(connection);
  const stream = connection.stream.bind(connection);
  const callOf = (text: string): DuckDbCall =>
    text.startsWith('COPY ') ? 'duckdb.copy' : statements;
  const watched: Watched & Pick<DuckDBConnection, 'run' | 'stream'> = {
    duckDbWatch: watch,
    // Results that are read in one call also use `run`.
    run: (text, ...rest) => watch.around(callOf(text), () => run(text, ...rest)),
    async stream(text, ...rest) {
      const result = await watch.around(callOf(text), () => stream(text, ...rest));
      const fetchChunk = result.fetchChunk.bind(result);
      result.fetchChunk = () => watch.around('duckdb.fetch', fetchChunk);
      return result;
    },
  };
  return Object.assign(connection, watched);
}

/** Call before rows are passed to DuckDB without a statement. */
export function beforeCall(
  connection: DuckDBConnection,
  call: 'duckdb.append' | 'duckdb.flush',
): void {
  (connection as Watched).duckDbWatch?.before(call); // absent unless `watchConnection` has set it
}

/** Runs a call that does not use the wrapped functions of the connection. */
export async function aroundCall<T>(
  connection: DuckDBConnection,
  call: DuckDbCall,
  run: () => Promise<T>,
): Promise<T> {
  const watch = (connection as Watched).duckDbWatch;
  return watch === undefined ? await run() : await watch.around(call, run);
}

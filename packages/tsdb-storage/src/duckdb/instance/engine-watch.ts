import type { DuckDBConnection } from '@duckdb/node-api';

/**
 * DuckDB calls that can fail. `engine.write` is a statement of the writer connection (buffer
 * tables, series, repeated points). `engine.copy` writes a file. `engine.query` is any other
 * statement, and `engine.fetch` fetches a chunk of its result. `engine.append` passes rows to an
 * appender; `engine.flush` commits them to a table.
 */
export type EngineCall =
  | 'engine.write'
  | 'engine.copy'
  | 'engine.query'
  | 'engine.fetch'
  | 'engine.append'
  | 'engine.flush';

/** Wraps DuckDB calls, so that tests can make one fail before or after its effect. */
export interface EngineWatch {
  around<T>(call: EngineCall, run: () => Promise<T>): Promise<T>;
  /** For synchronous calls: if it throws, the call fails with that error. */
  before(call: EngineCall): void;
}

interface Watched {
  engineWatch?: EngineWatch;
}

/** Wraps all later calls on `connection` with `watch`. */
export function watchConnection(
  connection: DuckDBConnection,
  watch: EngineWatch,
  statements: 'engine.write' | 'engine.query',
): DuckDBConnection {
  const run = connection.run.bind(connection);
  const stream = connection.stream.bind(connection);
  const callOf = (text: string): EngineCall =>
    text.startsWith('COPY ') ? 'engine.copy' : statements;
  const watched: Watched & Pick<DuckDBConnection, 'run' | 'stream'> = {
    engineWatch: watch,
    // Results that are read in one call also use `run`.
    run: (text, ...rest) => watch.around(callOf(text), () => run(text, ...rest)),
    async stream(text, ...rest) {
      const result = await watch.around(callOf(text), () => stream(text, ...rest));
      const fetchChunk = result.fetchChunk.bind(result);
      result.fetchChunk = () => watch.around('engine.fetch', fetchChunk);
      return result;
    },
  };
  return Object.assign(connection, watched);
}

/** Call before rows are passed to DuckDB without a statement. */
export function beforeCall(
  connection: DuckDBConnection,
  call: 'engine.append' | 'engine.flush',
): void {
  (connection as Watched).engineWatch?.before(call); // absent unless `watchConnection` has set it
}

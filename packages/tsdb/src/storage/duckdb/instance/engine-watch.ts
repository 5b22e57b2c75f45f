import type { DuckDBConnection } from '@duckdb/node-api';

/**
 * What can fail in the engine. `engine.write` is a statement of the writer connection (tables of the buffer, series, repeated
 * points), `engine.copy` writes a file, `engine.query` is every other statement and `engine.fetch` a chunk of its answer.
 * `engine.append` hands rows to an appender, `engine.flush` makes them rows of a table.
 */
export type EngineCall =
  | 'engine.write'
  | 'engine.copy'
  | 'engine.query'
  | 'engine.fetch'
  | 'engine.append'
  | 'engine.flush';

/** Stands around each call of the engine: how a test lets one fail, before it has an effect or after. */
export interface EngineWatch {
  around<T>(call: EngineCall, run: () => Promise<T>): Promise<T>;
  /** Of a call that ends at once: what it throws, the call fails with. */
  before(call: EngineCall): void;
}

interface Watched {
  engineWatch?: EngineWatch;
}

/** Puts `watch` around all that is asked of `connection` from here on. */
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
    // Answers that are read as a whole come this way, too.
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

/** Before rows are handed to the engine by other means than a statement. */
export function beforeCall(
  connection: DuckDBConnection,
  call: 'engine.append' | 'engine.flush',
): void {
  (connection as Watched).engineWatch?.before(call); // set by `watchConnection`, or absent
}

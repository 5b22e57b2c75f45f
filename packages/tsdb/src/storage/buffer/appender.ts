import type { DuckDBConnection } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import { beforeCall } from '../duckdb/instance/engine-watch.js';

/** Rows of one engine chunk. */
export const CHUNK_ROWS = 2048;

/**
 * The binding's bulk appender for one table (the node-api wrapper only appends cell by cell): all chunks that `fill` appends
 * become rows when it returns, or none when anything fails. Fewer than
 * a hundred chunks: from there on an appender makes rows by itself.
 */
export function appendChunks(
  connection: DuckDBConnection,
  table: string,
  fill: (appender: duckdb.Appender, append: (chunk: duckdb.DataChunk) => void) => void,
): void {
  // The wrapper keeps its handle in a property that its types hide.
  const handle = (connection as unknown as { readonly connection: duckdb.Connection }).connection;
  const appender = duckdb.appender_create_ext(handle, null, null, table);
  try {
    fill(appender, (chunk) => {
      beforeCall(connection, 'engine.append');
      duckdb.append_data_chunk(appender, chunk);
    });
    beforeCall(connection, 'engine.flush');
    duckdb.appender_flush_sync(appender);
  } catch (error) {
    // Whoever collects an appender that holds rows would make them rows of the table, and they are appended again.
    duckdb.appender_clear(appender);
    throw error;
  } finally {
    duckdb.appender_close_sync(appender);
  }
}

/** An empty chunk with the columns of the appender's table. It copies what it is given, so one chunk serves many times. */
export function newChunk(appender: duckdb.Appender, columnCount: number): duckdb.DataChunk {
  return duckdb.create_data_chunk(
    Array.from({ length: columnCount }, (_, i) => duckdb.appender_column_type(appender, i)),
  );
}

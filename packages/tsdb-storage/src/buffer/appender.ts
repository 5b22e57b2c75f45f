import type { DuckDBConnection } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import { beforeCall } from '../duckdb/instance/duckdb-watch.js';

/** Number of rows in a DuckDB chunk. */
export const CHUNK_ROWS = 2048;

/**
 * Appends chunks with the binding's bulk appender (the node-api wrapper only appends single cells).
 * All chunks become rows when it returns, or none if a step fails. `fill` must append fewer than a
 * hundred chunks, because an appender flushes automatically from there on.
 */
export function appendChunks(
  connection: DuckDBConnection,
  table: string,
  fill: (appender: duckdb.Appender, append: (chunk: duckdb.DataChunk) => void) => void,
): void {
  // The wrapper's handle is in a property that its types hide.
  const handle = (connection as unknown as { readonly connection: duckdb.Connection }).connection;
  const appender = duckdb.appender_create_ext(handle, null, null, table);
  try {
    fill(appender, (chunk) => {
      beforeCall(connection, 'duckdb.append');
      duckdb.append_data_chunk(appender, chunk);
    });
    beforeCall(connection, 'duckdb.flush');
    duckdb.appender_flush_sync(appender);
  } catch (error) {
    // An appender with pending rows would insert them when it is collected, but they will be
    // appended again.
    duckdb.appender_clear(appender);
    throw error;
  } finally {
    duckdb.appender_close_sync(appender);
  }
}

/**
 * Creates an empty chunk with the columns of the appender's table. Appending copies its content, so
 * it can be reused.
 */
export function newChunk(appender: duckdb.Appender, columnCount: number): duckdb.DataChunk {
  return duckdb.create_data_chunk(
    Array.from({ length: columnCount }, (_, i) => duckdb.appender_column_type(appender, i)),
  );
}

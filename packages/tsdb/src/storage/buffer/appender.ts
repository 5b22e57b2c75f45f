import type { DuckDBConnection } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';

/** Rows of one engine chunk. */
export const CHUNK_ROWS = 2048;

/** The binding's bulk appender: the node-api wrapper only appends cell by cell. */
export function openAppender(connection: DuckDBConnection, table: string): duckdb.Appender {
  // The wrapper keeps its handle in a property that its types hide.
  const handle = (connection as unknown as { readonly connection: duckdb.Connection }).connection;
  return duckdb.appender_create_ext(handle, null, null, table);
}

/** An empty chunk with the columns of the appender's table. It copies what it is given, so one chunk serves many times. */
export function newChunk(appender: duckdb.Appender, columnCount: number): duckdb.DataChunk {
  return duckdb.create_data_chunk(
    Array.from({ length: columnCount }, (_, i) => duckdb.appender_column_type(appender, i)),
  );
}

import type { DuckDBConnection } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';

/** Rows of one engine chunk. */
export const CHUNK_ROWS = 2048;

/** The binding's bulk appender: the node-api wrapper only appends cell by cell. */
export function openAppender(
  connection: DuckDBConnection,
  table: string,
  columnCount: number,
): { readonly appender: duckdb.Appender; readonly types: readonly duckdb.LogicalType[] } {
  // The wrapper keeps its handle in a property that its types hide.
  const handle = (connection as unknown as { readonly connection: duckdb.Connection }).connection;
  const appender = duckdb.appender_create_ext(handle, null, null, table);
  const types = Array.from({ length: columnCount }, (_, i) =>
    duckdb.appender_column_type(appender, i),
  );
  return { appender, types };
}

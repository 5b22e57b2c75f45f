import type { ParquetMapping } from '@plinth/tsdb-storage/duckdb/parquet/parquet-lines.js';

export type { ParquetMapping } from '@plinth/tsdb-storage/duckdb/parquet/parquet-lines.js';

/** Returns the rows of a Parquet file as line protocol. The first call loads DuckDB. */
export async function* readParquet(mapping: ParquetMapping): AsyncGenerator<Uint8Array> {
  const { parquetLines } = await import('@plinth/tsdb-storage/duckdb/parquet/parquet-lines.js');
  yield* parquetLines(mapping);
}

import type { ParquetMapping } from './storage/duckdb/parquet/parquet-lines.js';

export type { ParquetMapping } from './storage/duckdb/parquet/parquet-lines.js';

/** The rows of a Parquet file as line protocol. The engine that reads it is loaded by the first call. */
export async function* readParquet(mapping: ParquetMapping): AsyncGenerator<Uint8Array> {
  const { parquetLines } = await import('./storage/duckdb/parquet/parquet-lines.js');
  yield* parquetLines(mapping);
}

import { quoteName, quoteString, timestampLiteral } from '../../../storage/duckdb/quote.js';

/**
 * A place where rows of a table are, as text for the engine. Every source has `_series`, `"time"` and the field columns it
 * names. A row of a `unique` source is a point that no other unique source holds. Rows of a `later` source are writes of
 * points that may stand elsewhere, too; among writes of one point the later one has the greater (`_seq`, order).
 */
export interface Source {
  readonly kind: 'unique' | 'later';
  /** What stands in FROM. */
  readonly from: string;
  /** Expression for the write order among rows of one `_seq`. */
  readonly order: string;
  readonly where: string | undefined;
  readonly hasColumn: (columnId: number) => boolean;
  readonly minTime: bigint;
  readonly maxTime: bigint;
}

export function parquetFrom(paths: readonly string[]): string {
  return `read_parquet([${paths.map(quoteString).join(', ')}], hive_partitioning = false)`;
}

/** Files that differ in their columns: where a file lacks one, its rows have NULL. */
export function mixedParquetFrom(paths: readonly string[]): string {
  return `read_parquet([${paths.map(quoteString).join(', ')}], hive_partitioning = false, union_by_name = true)`;
}

/** One file with a further column, `file_row_number`. */
export function numberedParquetFrom(path: string): string {
  return `read_parquet(${quoteString(path)}, hive_partitioning = false, file_row_number = true)`;
}

export function tableFrom(name: string): string {
  return quoteName(name);
}

/** Condition that leaves the rows between two instants, both included. */
export function timeCondition(minTime: bigint, maxTime: bigint): string {
  return `"time" >= ${timestampLiteral(minTime)} AND "time" <= ${timestampLiteral(maxTime)}`;
}

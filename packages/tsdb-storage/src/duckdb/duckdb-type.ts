import type { ColumnKind } from '@plinth/tsdb-model/columns/column.js';

/** DuckDB type of a stored column. */
export const DUCKDB_TYPE: Readonly<Record<ColumnKind, string>> = {
  float64: 'DOUBLE',
  int64: 'BIGINT',
  uint64: 'UBIGINT',
  bool: 'BOOLEAN',
  utf8: 'VARCHAR',
  tag: 'VARCHAR',
  time: 'TIMESTAMP_NS',
};

/**
 * Wraps `text` so that DuckDB collects all rows before it returns the first, and spills them if
 * there are many.
 * Needed for statements with a UNION ALL whose rows have no order. DuckDB may defer work for later
 * parts, such as groups, until the first part ends. The first part waits for its rows to be read,
 * but returns none before the deferred work is done (duckdb/duckdb#22215). Such a statement never
 * ends, not even when interrupted.
 */
export function collectedRows(text: string): string {
  return `WITH r AS MATERIALIZED (${text}) SELECT * FROM r`;
}

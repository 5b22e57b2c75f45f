/**
 * `text` so that the engine collects its rows before it hands out the first, and spills them when they are many. For statements
 * with a UNION ALL whose rows come in no order: the engine may put off what later parts need, such as groups, until the first
 * part has ended, which waits until somebody takes its rows, but hands out none before all that is put off is done
 * (duckdb/duckdb#22215). Such a statement never ends, not even when it is interrupted.
 */
export function collectedRows(text: string): string {
  return `WITH r AS MATERIALIZED (${text}) SELECT * FROM r`;
}

/** Returns `name` as an identifier in DuckDB SQL. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * Returns `text` as a string literal in DuckDB SQL. NUL characters are written as `chr(0)`, because
 * DuckDB's parser stops at them.
 */
export function quoteString(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return quoted.includes('\0') ? `(${quoted.replaceAll('\0', "' || chr(0) || '")})` : quoted;
}

/**
 * Returns a literal of DuckDB's nanosecond timestamp type, which allows pruning of files and row
 * groups.
 */
export function timestampLiteral(ns: bigint): string {
  return `make_timestamp_ns(${ns}::BIGINT)`;
}

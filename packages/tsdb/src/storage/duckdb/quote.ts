/** `name` as an identifier in engine text. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** `text` as a string literal in engine text. A NUL character goes through `chr(0)`: it would end the engine's text. */
export function quoteString(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return quoted.includes('\0') ? `(${quoted.replaceAll('\0', "' || chr(0) || '")})` : quoted;
}

/** An instant as a literal of the engine's nanosecond timestamp type; prunes files and row groups. */
export function timestampLiteral(ns: bigint): string {
  return `make_timestamp_ns(${ns}::BIGINT)`;
}

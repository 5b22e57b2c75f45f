/** `name` as an identifier in engine text. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** `text` as a string literal in engine text. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** An instant as a literal of the engine's nanosecond timestamp type; prunes files and row groups. */
export function timestampLiteral(ns: bigint): string {
  return `make_timestamp_ns(${ns}::BIGINT)`;
}

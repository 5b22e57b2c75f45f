/** A name as the engine reads it, whatever characters it has. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * A string as the engine reads it. A NUL character goes through `chr(0)`: it would end the engine's text, and
 * `scanMark` uses it.
 */
export function quoteString(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return quoted.includes('\0') ? `(${quoted.replaceAll('\0', "' || chr(0) || '")})` : quoted;
}

/** Stands for the text of a scan until the query is rendered; no user text can hold it. */
export function scanMark(index: number): string {
  return `\0${index}\0`;
}

/** `text` cut at its scan marks: plain text and scan indexes take turns, text first. */
export function splitAtScanMarks(text: string): readonly string[] {
  return text.split('\0');
}

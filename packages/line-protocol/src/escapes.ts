/**
 * Escapes a tag key, field key or tag value for line protocol. Without a backslash, a newline would
 * begin another line, and a tab would end the name; the server stores both with the backslash.
 */
export const escapedKey = (text: string): string => text.replace(/[,= \\\n\t]/g, '\\$&');

/** Escapes a table name for line protocol; see `escapedKey`. */
export const escapedTable = (text: string): string => text.replace(/[, \\\n\t]/g, '\\$&');

/** Quotes a string field for line protocol. */
export const quotedText = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

/** Formats a float for line protocol; infinity becomes a number too large for a double. */
export function floatText(value: number): string {
  if (Number.isFinite(value)) return Object.is(value, -0) ? '-0' : String(value);
  return value < 0 ? '-1e999' : '1e999';
}

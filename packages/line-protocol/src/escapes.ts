/** Escapes a tag key, field key or tag value for line protocol. */
export const escapedKey = (text: string): string => text.replace(/[,= \\]/g, '\\$&');

/** Escapes a table name for line protocol. */
export const escapedTable = (text: string): string => text.replace(/[, \\]/g, '\\$&');

/** Quotes a string field for line protocol. */
export const quotedText = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

/** Formats a float for line protocol; infinity becomes a number too large for a double. */
export function floatText(value: number): string {
  if (Number.isFinite(value)) return Object.is(value, -0) ? '-0' : String(value);
  return value < 0 ? '-1e999' : '1e999';
}

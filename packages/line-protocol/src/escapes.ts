/** A tag, a field or a value of a tag as line protocol writes it. */
export const escapedKey = (text: string): string => text.replace(/[,= \\]/g, '\\$&');

/** A table's name as line protocol writes it. */
export const escapedTable = (text: string): string => text.replace(/[, \\]/g, '\\$&');

/** A field that is a text as line protocol writes it. */
export const quotedText = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

/** A float as line protocol writes it, where an infinity is a number that is too large. */
export function floatText(value: number): string {
  if (Number.isFinite(value)) return Object.is(value, -0) ? '-0' : String(value);
  return value < 0 ? '-1e999' : '1e999';
}

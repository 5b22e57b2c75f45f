import { characterBorder } from '../utf8.js';

/** Maximum size of a line quoted in an error. */
const MAX_ORIGINAL_LINE_BYTES = 1024;

/**
 * Returns the line at `[start, end)` as quoted in errors: cut to 1024 bytes at a character
 * boundary.
 */
export function originalLine(body: Uint8Array, start: number, end: number): string {
  const bytes = body.subarray(start, end);
  const border = characterBorder(bytes, Math.min(bytes.length, MAX_ORIGINAL_LINE_BYTES));
  return Buffer.from(bytes.buffer, bytes.byteOffset, border).toString();
}

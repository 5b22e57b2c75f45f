import { characterBorder } from '../utf8.js';

/** Longest part of a line that is shown back to the client. */
const MAX_ORIGINAL_LINE_BYTES = 1024;

/** The line at `[start, end)` as it is shown to the client: cut to 1024 bytes at a character border. */
export function originalLine(body: Uint8Array, start: number, end: number): string {
  const bytes = body.subarray(start, end);
  const border = characterBorder(bytes, Math.min(bytes.length, MAX_ORIGINAL_LINE_BYTES));
  return Buffer.from(bytes.buffer, bytes.byteOffset, border).toString();
}

import { randomUUID } from 'node:crypto';
import { tsdbError } from '../../../errors.js';

export { quoteName, quoteString } from '../../../storage/duckdb/quote.js';

/** Nobody who writes a statement knows it, so that nothing in one is taken for the mark of a scan. */
const OWN = randomUUID();
const SCAN_MARK = new RegExp(`\\x00${OWN}:(\\d+)\\x00`);

/** Stands for the text of a scan until the query is rendered. */
export function scanMark(index: number): string {
  return `\0${OWN}:${index}\0`;
}

/** `text` cut at its scan marks: plain text and scan indexes take turns, text first. Throws when a text holds a NUL. */
export function splitAtScanMarks(text: string): readonly string[] {
  const pieces = text.split(SCAN_MARK);
  if (pieces.some((piece) => piece.includes('\0'))) {
    throw tsdbError(
      'plan_error',
      'Error during planning: a NUL character where only a name may stand',
    );
  }
  return pieces;
}

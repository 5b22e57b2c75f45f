import { randomUUID } from 'node:crypto';
import { tsdbError } from '@plinth/tsdb-model/errors.js';

export { quoteName, quoteString } from '@plinth/tsdb-model/text/quote.js';

/** Random, so that statements cannot contain a scan mark. */
const OWN = randomUUID();
const SCAN_MARK = new RegExp(`\\x00${OWN}:(\\d+)\\x00`);

/** Returns the placeholder of a scan's text until the query is rendered. */
export function scanMark(index: number): string {
  return `\0${OWN}:${index}\0`;
}

/**
 * Splits `text` at its scan marks into alternating text and scan indexes, text first. Throws if a
 * part contains NUL.
 */
export function splitAtScanMarks(text: string): readonly string[] {
  const pieces = text.split(SCAN_MARK);
  if (pieces.some((piece) => piece.includes('\0'))) {
    throw tsdbError('plan_error', 'Error during planning: a name contains a NUL character');
  }
  return pieces;
}

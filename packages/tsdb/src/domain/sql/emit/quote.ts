export { quoteName, quoteString } from '../../../storage/duckdb/quote.js';

/** Stands for the text of a scan until the query is rendered; quoted user text never holds a NUL. */
export function scanMark(index: number): string {
  return `\0${index}\0`;
}

/** `text` cut at its scan marks: plain text and scan indexes take turns, text first. */
export function splitAtScanMarks(text: string): readonly string[] {
  return text.split('\0');
}

import {
  type LineField,
  LineRefused,
  type SeriesText,
} from '@plinth/tsdb-ingest/slow-path/line-refused.js';
import { parseLineOnSlowPath } from '@plinth/tsdb-ingest/slow-path/parse-line.js';

/** A parsed line of line protocol. */
export interface ReadLine {
  readonly series: SeriesText;
  readonly fields: readonly LineField[];
  /** In the unit of the line; `undefined` if the line has no timestamp. */
  readonly timestamp: bigint | undefined;
}

/**
 * Parses one line like a write. Returns the API's error message for an invalid line.
 * @param start first non-blank byte. @param end index after the last byte, without the line break.
 */
export function readLine(bytes: Uint8Array, start: number, end: number): ReadLine | string {
  try {
    return parseLineOnSlowPath(bytes, { start, end });
  } catch (error) {
    if (error instanceof LineRefused) return error.message;
    throw error;
  }
}

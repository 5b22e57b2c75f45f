import {
  LineRefused,
  type ParsedField,
  type SeriesText,
} from './domain/line-protocol/slow-path/line-refused.js';
import { parseLineCarefully } from './domain/line-protocol/slow-path/parse-line.js';

/** A line of line protocol, read. */
export interface ReadLine {
  readonly series: SeriesText;
  readonly fields: readonly ParsedField[];
  /** In the unit in which the line says it; `undefined`: it has none. */
  readonly timestamp: bigint | undefined;
}

/**
 * Reads one line as a write does. A line that a write would refuse is its message, as the API has it.
 * @param start first byte that is not blank. @param end behind the last byte, the line break left out.
 */
export function readLine(bytes: Uint8Array, start: number, end: number): ReadLine | string {
  try {
    return parseLineCarefully(bytes, { start, end });
  } catch (error) {
    if (error instanceof LineRefused) return error.message;
    throw error;
  }
}

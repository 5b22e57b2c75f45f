const NEWLINE = 10;
const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const EQUALS = 61;
const BACKSLASH = 92;

/**
 * Returns the index of the newline that ends the line at `start` (a non-blank byte), or `end`. A
 * newline inside a quoted string or after a backslash does not end the line. Source: tsdb-http,
 * "Splitting into lines".
 */
export function findLineEnd(bytes: Uint8Array, start: number, end: number): number {
  let inFields = false;
  let inQuotes = false;
  // A quote opens a string only at the start of a value: after an `=` without a comma since.
  let openValues = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (byte === BACKSLASH) at++;
    else if (byte === SPACE) inFields = true;
    else if (byte === NEWLINE && !inQuotes) return at;
    else if (!inFields) continue;
    else if (byte === EQUALS && !inQuotes) openValues++;
    else if (byte === COMMA && !inQuotes) openValues--;
    else if (byte === QUOTE && openValues > 0) inQuotes = !inQuotes;
  }
  return end;
}

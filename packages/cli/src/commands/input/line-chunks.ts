import type { Chunk } from '@plinth/line-protocol';
import { CommandFailed } from '@plinth/server/process/command-failed.js';

export interface ChunkOptions {
  readonly chunkSizeBytes: number;
  /** Maximum size of a single line, which can be longer than a chunk. */
  readonly maxLineSizeBytes: number;
}

/** Upper bound for statements and comments of dumps, in bytes. */
const MAX_READ_BYTES = 4096;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;
const QUOTE = 0x22;
const HASH = 0x23;
const COMMA = 0x2c;
const EQUALS = 0x3d;
const BACKSLASH = 0x5c;

/** Cuts a stream of line protocol at line ends. A newline inside a quoted string is not a line end. */
export async function* chunkLines(
  input: AsyncIterable<Uint8Array>,
  { chunkSizeBytes, maxLineSizeBytes }: ChunkOptions,
): AsyncGenerator<Chunk> {
  let parts: Buffer[] = [];
  let size = 0;
  let firstLine = 1;
  let nextTry = chunkSizeBytes;
  const take = function* (isLast: boolean): Generator<Chunk> {
    let rest = Buffer.concat(parts);
    while (rest.length >= chunkSizeBytes || (isLast && rest.length > 0)) {
      const end = isLast && rest.length <= chunkSizeBytes ? rest.length : cut(rest, chunkSizeBytes);
      if (end === 0) {
        if (rest.length > maxLineSizeBytes) {
          throw new CommandFailed(
            `line ${firstLine} is longer than ${maxLineSizeBytes} bytes; check that the input is line protocol`,
          );
        }
        if (!isLast) break;
      }
      const bytes = end === 0 ? rest : rest.subarray(0, end);
      const { lineCount, pointCount } = countLines(bytes);
      const from = firstLine;
      if (pointCount > 0) {
        yield { bytes, pointCount, fileLineOf: (bodyLine) => from + bodyLine - 1 };
      }
      firstLine += lineCount;
      rest = rest.subarray(bytes.length);
    }
    parts = rest.length > 0 ? [rest] : [];
    size = rest.length;
    // Remaining bytes without a line end are only scanned again when their size has doubled.
    nextTry = Math.max(chunkSizeBytes, size * 2);
  };
  try {
    for await (const part of input) {
      parts.push(Buffer.from(part.buffer, part.byteOffset, part.byteLength));
      size += part.length;
      if (size >= nextTry) yield* take(false);
    }
  } catch (error) {
    // Data before a failed read is valid up to the last complete line.
    const rest = Buffer.concat(parts);
    parts = [rest.subarray(0, cut(rest, rest.length))];
    yield* take(true);
    throw error;
  }
  yield* take(true);
}

/**
 * Returns the cut position: after the last line end within `limit`, or after the first one beyond it.
 * @returns 0 if `bytes` contains no line end.
 */
function cut(bytes: Buffer, limit: number): number {
  const head = bytes.subarray(0, limit);
  if (!head.includes(QUOTE) && !head.includes(BACKSLASH)) {
    const last = head.lastIndexOf(LF);
    if (last >= 0) return last + 1;
  }
  let end = 0;
  for (let at = 0; at < bytes.length; ) {
    const lineEnd = endOfLine(bytes, at);
    if (lineEnd === undefined || (lineEnd > limit && end > 0)) break;
    end = lineEnd;
    if (end > limit) break;
    at = lineEnd;
  }
  return end;
}

/**
 * Returns the position after the newline that ends the line at `start`; undefined if the line is incomplete. Quotes
 * count only in the field section and only around a value (more `=` than `,` so far). A backslash escapes the next
 * character. Source: line protocol grammar of the time-series API, "Splitting into lines".
 */
function endOfLine(bytes: Buffer, start: number): number | undefined {
  let at = start;
  while (bytes[at] === SPACE || bytes[at] === TAB) at += 1;
  if (bytes[at] === HASH) return afterNewline(bytes, at);
  let isInFields = false;
  let isQuoted = false;
  let openValueCount = 0;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === BACKSLASH) at += 1;
    else if (isQuoted) isQuoted = byte !== QUOTE;
    else if (byte === LF) return at + 1;
    else if (!isInFields) isInFields = byte === SPACE;
    else if (byte === EQUALS) openValueCount += 1;
    else if (byte === COMMA) openValueCount -= 1;
    else if (byte === QUOTE) isQuoted = openValueCount > 0;
  }
  return undefined;
}

/**
 * Yields the lines of a chunk, numbered from 1; a quoted string can span several lines. `text` is cut at
 * `MAX_READ_BYTES`.
 */
export function* linesIn(
  bytes: Uint8Array,
): Generator<{ readonly text: string; start: number; end: number; number: number }> {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let number = 1;
  for (let start = 0; start < all.length; ) {
    const end = endOfLine(all, start) ?? all.length;
    const text = all
      .subarray(start, Math.min(end, start + MAX_READ_BYTES))
      .toString()
      .trim();
    yield { text, start, end, number };
    number += countNewlines(all, start, end);
    start = end;
  }
}

function afterNewline(bytes: Buffer, from: number): number | undefined {
  const newline = bytes.indexOf(LF, from);
  return newline < 0 ? undefined : newline + 1;
}

function countLines(bytes: Buffer): { readonly lineCount: number; readonly pointCount: number } {
  const hasEscapes = bytes.includes(QUOTE) || bytes.includes(BACKSLASH);
  let lineCount = 0;
  let pointCount = 0;
  for (let at = 0; at < bytes.length; ) {
    const end = (hasEscapes ? endOfLine(bytes, at) : afterNewline(bytes, at)) ?? bytes.length;
    let first = at;
    while (first < end && (bytes[first] ?? 0) <= SPACE) first += 1;
    if (first < end && bytes[first] !== HASH) pointCount += 1;
    lineCount += hasEscapes ? countNewlines(bytes, at, end) : 1;
    at = end;
  }
  return { lineCount, pointCount };
}

function countNewlines(bytes: Buffer, from: number, to: number): number {
  let count = 0;
  for (let at = bytes.indexOf(LF, from); at >= 0 && at < to; at = bytes.indexOf(LF, at + 1)) {
    count += 1;
  }
  return count;
}

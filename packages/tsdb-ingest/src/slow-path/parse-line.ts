import {
  columnLimitMessage,
  MAX_TEXT_BYTES,
  tagLimitMessage,
} from '@plinth/tsdb-model/database/limits.js';
import { LineCursor } from './line-cursor.js';
import { type LineField, LineRefused, type SeriesText } from './line-refused.js';
import { integerOf, readBool, readNumber, readString, shownInteger } from './parse-values.js';

const SPACE = 32;
const COMMA = 44;
const EQUALS = 61;
const BACKSLASH = 92;

/** Maximum number of columns, and of tags, of a table. */
export interface LineLimits {
  readonly columnCount: number;
  readonly tagCount: number;
}

export const UNLIMITED: LineLimits = {
  columnCount: Number.POSITIVE_INFINITY,
  tagCount: Number.POSITIVE_INFINITY,
};

export interface ParsedLine {
  readonly series: SeriesText;
  /** Index after the series: the first unescaped space. */
  readonly seriesEnd: number;
  readonly fields: readonly LineField[];
  /** As written, in units of the request's precision. */
  readonly timestamp: bigint | undefined;
}

/**
 * Parses one line exactly according to the grammar. It is the reference for the fast path, handles
 * all unusual lines, and is the only source of messages. Throws `LineRefused`; stops at the first
 * column above the limit.
 * @param start first non-blank byte. @param end index after the last byte, without the line break.
 * Source: tsdb-http, "Line protocol grammar" and "Parse error messages".
 */
export function parseLineOnSlowPath(
  bytes: Uint8Array,
  { start, end }: { readonly start: number; readonly end: number },
  limits: LineLimits = UNLIMITED,
): ParsedLine {
  const cursor = new LineCursor(bytes, start, end);
  const series = readSeries(cursor, limits);
  const seriesEnd = cursor.at;
  cursor.expectSpaces();
  const fields = readFields(cursor, (read) => refuseTooMany(series.tagKeys, read, limits));
  const timestamp = readTimestamp(cursor);
  if (!cursor.isAtEnd) {
    throw new LineRefused(
      () => `Could not parse entire line. Found trailing content: \`${cursor.context()}\``,
    );
  }
  refuseRepeated(series.tagKeys, fields);
  return { series, seriesEnd, fields, timestamp };
}

/** Parses a string that contains only a series. Throws `LineRefused`. */
export function parseSeriesOnSlowPath(
  bytes: Uint8Array,
  { start, end }: { readonly start: number; readonly end: number },
  limits: LineLimits = UNLIMITED,
): SeriesText {
  const cursor = new LineCursor(bytes, start, end);
  const series = readSeries(cursor, limits);
  if (!cursor.isAtEnd) {
    throw new LineRefused(() => `Expected at least one space character, got ${cursor.got()}`);
  }
  refuseRepeated(series.tagKeys, []);
  return series;
}

function readSeries(cursor: LineCursor, limits: LineLimits): SeriesText {
  const table = readName(cursor, (byte) => byte === COMMA || byte === 0, isMeasurementEscape);
  if (table === undefined) throw new LineRefused('Invalid measurement was provided');
  const tagKeys: string[] = [];
  const tagValues: string[] = [];
  const tagsFrom = cursor.at + 1;
  while (cursor.take(COMMA)) {
    const key = readName(cursor, (byte) => byte === EQUALS, isEscape);
    if (key === undefined) throw new LineRefused(() => `Expected tag key, got ${cursor.got()}`);
    if (!cursor.take(EQUALS)) {
      throw new LineRefused(
        () => `Tag set malformed: could not find equals sign in \`${cursor.context(tagsFrom)}\``,
      );
    }
    const value = readName(cursor, (byte) => byte === COMMA, isEscape, true);
    if (value === undefined) throw new LineRefused(() => `Expected tag value, got ${cursor.got()}`);
    tagKeys.push(key);
    tagValues.push(value);
    refuseTooMany(tagKeys, [], limits);
  }
  return { table, tagKeys, tagValues };
}

/**
 * The comma after the first field is consumed even if no field follows; later commas are consumed
 * only with their field. The real parser does the same, as the trailing content in its messages
 * shows.
 */
function readFields(cursor: LineCursor, check: (read: readonly LineField[]) => void): LineField[] {
  const first = readField(cursor);
  if (first === undefined) throw new LineRefused('No fields were provided');
  const fields = [first];
  check(fields);
  let restart = cursor.at + 1;
  while (cursor.take(COMMA)) {
    const field = readField(cursor);
    if (field === undefined) {
      cursor.at = restart;
      break;
    }
    fields.push(field);
    check(fields);
    restart = cursor.at;
  }
  return fields;
}

function readField(cursor: LineCursor): LineField | undefined {
  const start = cursor.at;
  const name = readName(cursor, (byte) => byte === EQUALS, isEscape);
  if (name === undefined || !cursor.take(EQUALS)) return undefined;
  const key = cursor.bytes.subarray(start, cursor.at);
  const value = readNumber(cursor) ?? readString(cursor) ?? readBool(cursor);
  return value && { name, key, value };
}

/** Consumes trailing spaces with or without a timestamp before them. */
function readTimestamp(cursor: LineCursor): bigint | undefined {
  const start = cursor.at;
  cursor.skipSpaces();
  if (cursor.isAtEnd || cursor.at === start) return undefined;
  const text = cursor.takeInteger();
  if (text === undefined) {
    cursor.at = start;
    return undefined;
  }
  const value = integerOf(text);
  if (value === undefined || BigInt.asIntN(64, value) !== value) {
    throw new LineRefused(`Unable to parse timestamp value \`${shownInteger(text)}\``);
  }
  cursor.skipSpaces();
  return value;
}

/**
 * Reads up to an unescaped space or a byte for which `isEnd` is true; `undefined` if that is empty.
 * A backslash before a character that needs no escape is literal, as is that character.
 * @param mayEndInBackslash allows an escaped backslash (`\\`) at the end: Windows paths are tag
 * values (`D:\`).
 */
function readName(
  cursor: LineCursor,
  isEnd: (byte: number) => boolean,
  canEscape: (byte: number) => boolean,
  mayEndInBackslash = false,
): string | undefined {
  const start = cursor.at;
  const { bytes, end } = cursor;
  const escapes: number[] = [];
  let at = start;
  for (; at < end; at++) {
    const byte = bytes[at] as number; // `at` is below `end`
    if (byte === BACKSLASH) {
      if (at + 1 < end && canEscape(bytes[at + 1] as number)) escapes.push(at);
      at++;
    } else if (isBlank(byte) || isEnd(byte)) break;
  }
  cursor.at = Math.min(at, end);
  if (cursor.at === start) return undefined;
  const text = cursor.textWithout(escapes, start, cursor.at);
  const isLastEscaped = escapes.at(-1) === cursor.at - 2;
  if (text.endsWith('\\') && !(mayEndInBackslash && isLastEscaped)) {
    throw new LineRefused(
      'Measurements, tag keys and values, and field keys may not end with a backslash',
    );
  }
  if (cursor.at - start - escapes.length > MAX_TEXT_BYTES) {
    throw new LineRefused('String is greater than 1MB');
  }
  return text;
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === 9 || byte === 10;
}

function isEscape(byte: number): boolean {
  return byte === COMMA || byte === EQUALS || byte === SPACE || byte === BACKSLASH;
}

function isMeasurementEscape(byte: number): boolean {
  return byte === COMMA || byte === SPACE || byte === BACKSLASH;
}

/** Reports repeated names first, as for lines within the limits. */
function refuseTooMany(
  tagKeys: readonly string[],
  fields: readonly LineField[],
  { columnCount, tagCount }: LineLimits,
): void {
  const isOverColumnLimit = tagKeys.length + fields.length > columnCount;
  if (!isOverColumnLimit && tagKeys.length <= tagCount) return;
  refuseRepeated(tagKeys, fields);
  const message = isOverColumnLimit ? columnLimitMessage(columnCount) : tagLimitMessage(tagCount);
  throw new LineRefused(message, { reason: 'limit' });
}

function refuseRepeated(tagKeys: readonly string[], fields: readonly LineField[]): void {
  refuseTwice(tagKeys, 'tag');
  refuseTwice(
    fields.map(({ name }) => name),
    'field',
  );
}

function refuseTwice(names: readonly string[], kind: 'tag' | 'field'): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) {
      throw new LineRefused(
        `invalid line protocol - multiple instances of '${name}' ${kind} found`,
      );
    }
    seen.add(name);
  }
}

import { MAX_TEXT_BYTES } from '@plinth/tsdb-model/database/limits.js';
import type { LineCursor } from './line-cursor.js';
import { LineRefused, type ParsedValue } from './line-refused.js';

const QUOTE = 34;
const PLUS = 43;
const MINUS = 45;
const DOT = 46;
const UPPER_E = 69;
const BACKSLASH = 92;
const LOWER_E = 101;
const LOWER_I = 105;
const LOWER_U = 117;

/** Longer literals first, so that `true` is not parsed as `t` with trailing content. */
const TRUE_WORDS = ['true', 'True', 'TRUE', 't', 'T'];
const FALSE_WORDS = ['false', 'False', 'FALSE', 'f', 'F'];

/**
 * Parses an integer, unsigned integer or float; `undefined`, without moving the cursor, if there is
 * none at the cursor.
 */
export function readNumber(cursor: LineCursor): ParsedValue | undefined {
  const start = cursor.at;
  const integer = cursor.takeInteger();
  if (integer === undefined) return undefined;
  if (cursor.take(LOWER_I)) {
    const value = integerOf(integer);
    if (value !== undefined && BigInt.asIntN(64, value) === value) return { type: 'int64', value };
    throw new LineRefused(() => `Unable to parse integer value \`${shownInteger(integer)}\``);
  }
  if (!integer.startsWith('-') && cursor.take(LOWER_U)) {
    const value = integerOf(integer);
    if (value !== undefined && BigInt.asUintN(64, value) === value) {
      return { type: 'uint64', value };
    }
    throw new LineRefused(
      () => `Unable to parse unsigned integer value \`${shownInteger(integer)}\``,
    );
  }
  const point = cursor.at;
  if (cursor.take(DOT) && cursor.takeDigits() === undefined) cursor.at = point;
  takeExponent(cursor);
  return { type: 'float64', value: Number(cursor.text(start, cursor.at)) };
}

/** Sign and digits of the longest 64-bit integer. */
const MAX_INTEGER_LENGTH = 20;
const MAX_SHOWN_LENGTH = 1024;

/**
 * Returns `undefined` if it does not fit in 64 bits. Checked by length, because converting a
 * million digits takes seconds.
 */
export function integerOf(text: string): bigint | undefined {
  const short = text.length <= MAX_INTEGER_LENGTH ? text : text.replace(/^(-?)0+(?=\d)/, '$1');
  return short.length <= MAX_INTEGER_LENGTH ? BigInt(short) : undefined;
}

/** Returns the part of a number that an error message quotes. */
export const shownInteger = (text: string): string =>
  text.length <= MAX_SHOWN_LENGTH ? text : `${text.slice(0, MAX_SHOWN_LENGTH)}...`;

/** Does not consume a letter `e` without digits after it: it becomes trailing content. */
function takeExponent(cursor: LineCursor): void {
  const start = cursor.at;
  if (!cursor.take(LOWER_E) && !cursor.take(UPPER_E)) return;
  if (!cursor.take(MINUS)) cursor.take(PLUS);
  if (cursor.takeDigits() === undefined) cursor.at = start;
}

/** Reads a string; one without a closing quote is not a value. */
export function readString(cursor: LineCursor): ParsedValue | undefined {
  const start = cursor.at;
  if (!cursor.take(QUOTE)) return undefined;
  const escapes: number[] = [];
  for (; !cursor.isAtEnd && cursor.byte !== QUOTE; cursor.at++) {
    if (cursor.byte !== BACKSLASH) continue;
    const next = cursor.bytes[cursor.at + 1];
    if (cursor.at + 1 >= cursor.end || (next !== QUOTE && next !== BACKSLASH)) continue;
    escapes.push(cursor.at++);
  }
  const end = cursor.at;
  if (!cursor.take(QUOTE)) {
    cursor.at = start;
    return undefined;
  }
  const value = cursor.bytesWithout(escapes, start + 1, end);
  if (value.length > MAX_TEXT_BYTES) throw new LineRefused('String is greater than 1MB');
  return { type: 'utf8', value };
}

export function readBool(cursor: LineCursor): ParsedValue | undefined {
  if (cursor.takeWord(TRUE_WORDS) !== undefined) return { type: 'bool', value: true };
  if (cursor.takeWord(FALSE_WORDS) !== undefined) return { type: 'bool', value: false };
  return undefined;
}

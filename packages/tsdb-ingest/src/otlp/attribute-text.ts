import {
  BYTES,
  FIXED_64,
  MessageInvalid,
  type ProtoCursor,
  tagOf,
  VARINT,
} from '../messages/proto-cursor.js';
import { decimalText } from './decimal-text.js';

/** Source: OpenTelemetry, `common/v1/common.proto`, `AnyValue`, `ArrayValue`, `KeyValueList`. */
const STRING_TAG = tagOf(1, BYTES);
const BOOL_TAG = tagOf(2, VARINT);
const INT_TAG = tagOf(3, VARINT);
const DOUBLE_TAG = tagOf(4, FIXED_64);
const ARRAY_TAG = tagOf(5, BYTES);
const MAP_TAG = tagOf(6, BYTES);
const BINARY_TAG = tagOf(7, BYTES);
const VALUES_TAG = tagOf(1, BYTES);
const KEY_TAG = tagOf(1, BYTES);
const VALUE_TAG = tagOf(2, BYTES);
/** A list in a list is one level deeper. */
const MAX_DEPTH = 32;

/**
 * Reads an `AnyValue` up to `end` as the text of a tag: lists and maps as JSON, bytes in Base64, no
 * value as ''. Throws `MessageInvalid`.
 */
export function attributeText(cursor: ProtoCursor, end: number): string {
  return readValue(cursor, end, PLAIN, 0);
}

/** Notation of attribute values in text. */
interface Style {
  readonly none: string;
  text(value: string): string;
  number(value: number): string;
}
const PLAIN: Style = { none: '', text: (value) => value, number: decimalText };
const JSON_STYLE: Style = {
  none: 'null',
  text: (value) => JSON.stringify(value),
  number: (value) => (Number.isFinite(value) ? String(value) : JSON.stringify(String(value))),
};

function readValue(cursor: ProtoCursor, end: number, style: Style, depth: number): string {
  if (depth > MAX_DEPTH)
    throw new MessageInvalid(`an attribute is nested deeper than ${MAX_DEPTH} levels`);
  let text = style.none;
  while (cursor.at < end) {
    const tag = cursor.tag(end);
    if (tag === BOOL_TAG) text = String(cursor.uint(end) !== 0);
    else if (tag === INT_TAG) text = cursor.longText(end);
    else if (tag === DOUBLE_TAG) text = style.number(cursor.double(end));
    else if (tag === STRING_TAG || tag === BINARY_TAG || tag === ARRAY_TAG || tag === MAP_TAG) {
      const fieldEnd = cursor.enter(end);
      const { at } = cursor;
      if (tag === STRING_TAG) text = style.text(cursor.text(at, fieldEnd));
      else if (tag === BINARY_TAG) text = style.text(base64(cursor.bytes.subarray(at, fieldEnd)));
      else if (tag === ARRAY_TAG) text = `[${readItems(cursor, fieldEnd, depth, readItem)}]`;
      else text = `{${readItems(cursor, fieldEnd, depth, readMember)}}`;
      cursor.at = fieldEnd;
    } else cursor.skip(tag, end);
  }
  return text;
}

type ReadItem = (cursor: ProtoCursor, end: number, depth: number) => string;

function readItems(cursor: ProtoCursor, end: number, depth: number, read: ReadItem): string {
  const items: string[] = [];
  while (cursor.at < end) {
    const tag = cursor.tag(end);
    if (tag === VALUES_TAG) items.push(read(cursor, cursor.enter(end), depth + 1));
    else cursor.skip(tag, end);
  }
  return items.join();
}

const readItem: ReadItem = (cursor, end, depth) => readValue(cursor, end, JSON_STYLE, depth);

const readMember: ReadItem = (cursor, end, depth) => {
  let key = '';
  let value = JSON_STYLE.none;
  while (cursor.at < end) {
    const tag = cursor.tag(end);
    if (tag === KEY_TAG) {
      const keyEnd = cursor.enter(end);
      key = cursor.text(cursor.at, keyEnd);
      cursor.at = keyEnd;
    } else if (tag === VALUE_TAG) value = readItem(cursor, cursor.enter(end), depth);
    else cursor.skip(tag, end);
  }
  return `${JSON.stringify(key)}:${value}`;
};

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

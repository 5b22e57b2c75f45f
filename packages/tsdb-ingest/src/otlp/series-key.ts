import {
  KeyBudget,
  LABEL_FIELD_BYTE,
  NAME_FIELD_BYTE,
  putSize,
  type SeriesKey,
  sizeOfSize,
  VALUE_FIELD_BYTE,
  wholeKey,
} from '../messages/label-bytes.js';
import { OTLP } from '../messages/label-rules.js';
import { OTLP_MARK } from '../messages/label-set.js';
import { BYTES, type ProtoCursor, tagOf } from '../messages/proto-cursor.js';
import { attributeText } from './attribute-text.js';

const FIRST_BYTES = 4096;
const KEY_TAG = tagOf(1, BYTES);
const ATTRIBUTE_VALUE_TAG = tagOf(2, BYTES);
const STRING_TAG = tagOf(1, BYTES);

/**
 * Composes the key of a series: labels as in Prometheus, after `OTLP_MARK`. Attributes of the
 * resource, the scope, the metric and the data point are appended in this order, so that each level
 * writes only its own attributes and `cut` removes them.
 */
export class OtlpSeriesKey {
  readonly #budget = new KeyBudget(OTLP.noun);
  readonly #cursor: ProtoCursor;
  #bytes = new Uint8Array(FIRST_BYTES);
  #view = wholeKey(this.#bytes).view;
  #size = 0;

  constructor(cursor: ProtoCursor) {
    this.#cursor = cursor;
    for (const byte of OTLP_MARK) this.#bytes[this.#size++] = byte;
  }

  get size(): number {
    return this.#size;
  }

  /** Removes everything after the first `size` bytes. */
  cut(size: number): void {
    this.#size = size;
  }

  /** Returns the composed key, for errors. Valid until the next change. */
  get composed(): SeriesKey {
    return { bytes: this.#bytes, view: this.#view, start: 0, end: this.#size };
  }

  /**
   * Returns the composed key. Valid until the next change. Throws `LineRefused` if the keys of the
   * body are too long in total.
   */
  take(): SeriesKey {
    this.#budget.take(this.#size);
    return this.composed;
  }

  add(name: Uint8Array, value: Uint8Array): void {
    this.#open(name.length, value.length);
    this.#put(NAME_FIELD_BYTE, name, 0, name.length);
    this.#put(VALUE_FIELD_BYTE, value, 0, value.length);
  }

  /** Reads a `KeyValue` up to `end`. Ignores an attribute without a name. Throws `MessageInvalid`. */
  addAttribute(end: number): void {
    const cursor = this.#cursor;
    let [nameStart, nameEnd, valueStart, valueEnd] = [end, end, end, end];
    while (cursor.at < end) {
      const tag = cursor.tag(end);
      if (tag !== KEY_TAG && tag !== ATTRIBUTE_VALUE_TAG) {
        cursor.skip(tag, end);
        continue;
      }
      const fieldEnd = cursor.enter(end);
      if (tag === KEY_TAG) [nameStart, nameEnd] = [cursor.at, fieldEnd];
      else [valueStart, valueEnd] = [cursor.at, fieldEnd];
      cursor.at = fieldEnd;
    }
    if (nameStart === nameEnd) return;
    cursor.at = valueStart;
    const isText = this.#entersText(valueEnd);
    const value = isText ? cursor.bytes : Buffer.from(attributeText(cursor, valueEnd));
    const from = isText ? cursor.at : 0;
    const to = isText ? valueEnd : value.length;
    this.#open(nameEnd - nameStart, to - from);
    this.#put(NAME_FIELD_BYTE, cursor.bytes, nameStart, nameEnd);
    this.#put(VALUE_FIELD_BYTE, value, from, to);
    cursor.at = end;
  }

  /** Whether a value is only a string, which is copied without being decoded. Moves to its start. */
  #entersText(end: number): boolean {
    const cursor = this.#cursor;
    const start = cursor.at;
    if (start < end && cursor.tag(end) === STRING_TAG && cursor.enter(end) === end) return true;
    cursor.at = start;
    return false;
  }

  /** Writes the tags and sizes of a label; its name follows. */
  #open(nameLength: number, valueLength: number): void {
    const nameSize = 1 + sizeOfSize(nameLength) + nameLength;
    const size = nameSize + 1 + sizeOfSize(valueLength) + valueLength;
    this.#reserve(1 + sizeOfSize(size) + size);
    this.#bytes[this.#size] = LABEL_FIELD_BYTE;
    this.#size = putSize(this.#bytes, this.#size + 1, size);
  }

  #put(tag: number, source: Uint8Array, start: number, end: number): void {
    const bytes = this.#bytes;
    bytes[this.#size] = tag;
    let at = putSize(bytes, this.#size + 1, end - start);
    for (let from = start; from < end; from++) bytes[at++] = source[from] as number;
    this.#size = at;
  }

  #reserve(size: number): void {
    const needed = this.#size + size;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(2 * this.#bytes.length, needed));
    grown.set(this.#bytes.subarray(0, this.#size));
    this.#bytes = grown;
    this.#view = wholeKey(grown).view;
  }
}

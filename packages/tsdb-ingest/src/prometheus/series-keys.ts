import {
  KeyBudget,
  LABEL_FIELD_BYTE,
  MAX_LABELS_BYTES,
  NAME_FIELD_BYTE,
  putSize,
  type SeriesKey,
  sizeOfSize,
  VALUE_FIELD_BYTE,
  wholeKey,
} from '../messages/label-bytes.js';
import { PROMETHEUS } from '../messages/label-rules.js';
import { BYTES, type ProtoCursor, tagOf, VARINT } from '../messages/proto-cursor.js';
import { LineRefused } from '../slow-path/line-refused.js';

const SYMBOL_TAG = tagOf(4, BYTES);
const PACKED_REFS_TAG = tagOf(1, BYTES);
const REF_TAG = tagOf(1, VARINT);
const FIRST_SYMBOLS = 1024;

/** Returns the key of a version 1 series. Labels that are not contiguous are copied. */
export function keyOfLabels(cursor: ProtoCursor, end: number): SeriesKey {
  const { bytes, view, at: start } = cursor;
  let labelsEnd = start;
  while (cursor.at < end) {
    const fieldStart = cursor.at;
    const tag = cursor.tag(end);
    cursor.skip(tag, end);
    if (tag !== LABEL_FIELD_BYTE) continue;
    if (fieldStart !== labelsEnd) return gathered(cursor, start, end);
    labelsEnd = cursor.at;
  }
  return { bytes, view, start, end: labelsEnd };
}

function gathered(cursor: ProtoCursor, start: number, end: number): SeriesKey {
  const parts: Uint8Array[] = [];
  cursor.at = start;
  while (cursor.at < end) {
    const fieldStart = cursor.at;
    const tag = cursor.tag(end);
    cursor.skip(tag, end);
    if (tag === LABEL_FIELD_BYTE) parts.push(cursor.bytes.subarray(fieldStart, cursor.at));
  }
  return wholeKey(Buffer.concat(parts));
}

/**
 * Symbols of a version 2 request. Labels are pairs of references to symbols; keys are composed in
 * the form of version 1, so that a series has the same key in both versions.
 */
export class SymbolTable {
  readonly #cursor: ProtoCursor;
  #starts = new Uint32Array(FIRST_SYMBOLS);
  #ends = new Uint32Array(FIRST_SYMBOLS);
  #count = 0;
  readonly #budget = new KeyBudget(PROMETHEUS.noun);
  /** Memory of the last key. */
  #key = wholeKey(new Uint8Array(4096));
  #refs: number[] = [];

  /** Reads the symbols of the request at the cursor. Throws `MessageInvalid`. */
  constructor(cursor: ProtoCursor, end: number) {
    this.#cursor = cursor;
    const start = cursor.at;
    while (cursor.at < end) {
      const tag = cursor.tag(end);
      if (tag !== SYMBOL_TAG) {
        cursor.skip(tag, end);
        continue;
      }
      const symbolEnd = cursor.enter(end);
      if (this.#count === this.#starts.length) this.#grow();
      this.#starts[this.#count] = cursor.at;
      this.#ends[this.#count++] = symbolEnd;
      cursor.at = symbolEnd;
    }
    cursor.at = start;
  }

  /**
   * Returns the key of the series at the cursor; valid until the next call. Throws `LineRefused`.
   */
  keyOf(end: number): SeriesKey {
    this.#readRefs(end);
    const refs = this.#refs;
    if (refs.length % 2 !== 0) throw new LineRefused('a label has a name, but no value');
    let size = 0;
    for (const ref of refs) {
      if (ref >= this.#count)
        throw new LineRefused(
          `the label reference ${ref} is out of range; the request has ${this.#count} symbols`,
        );
      size += (this.#ends[ref] as number) - (this.#starts[ref] as number) + 10;
    }
    this.#refuseLong(size);
    if (this.#key.bytes.length < size) this.#key = wholeKey(new Uint8Array(2 * size));
    const { bytes, view } = this.#key;
    let at = 0;
    for (let i = 0; i < refs.length; i += 2) {
      const name = refs[i] as number; // both are below the length, which is even
      const value = refs[i + 1] as number;
      bytes[at++] = LABEL_FIELD_BYTE;
      at = putSize(bytes, at, this.#sizeOf(name) + this.#sizeOf(value));
      at = this.#put(bytes, at, NAME_FIELD_BYTE, name);
      at = this.#put(bytes, at, VALUE_FIELD_BYTE, value);
    }
    return { bytes, view, start: 0, end: at };
  }

  #readRefs(end: number): void {
    const cursor = this.#cursor;
    this.#refs.length = 0;
    while (cursor.at < end) {
      const tag = cursor.tag(end);
      if (tag === REF_TAG) this.#refs.push(cursor.uint(end));
      else if (tag === PACKED_REFS_TAG) {
        const refsEnd = cursor.enter(end);
        while (cursor.at < refsEnd) this.#refs.push(cursor.uint(refsEnd));
      } else cursor.skip(tag, end);
    }
  }

  #refuseLong(size: number): void {
    if (size > 2 * MAX_LABELS_BYTES)
      throw new LineRefused(`the labels have more than ${MAX_LABELS_BYTES} bytes`);
    this.#budget.take(size);
  }

  /** Returns the size of a symbol as a field, with its tag and length. */
  #sizeOf(ref: number): number {
    const size = (this.#ends[ref] as number) - (this.#starts[ref] as number);
    return 1 + sizeOfSize(size) + size;
  }

  #put(bytes: Uint8Array, start: number, tag: number, ref: number): number {
    const from = this.#starts[ref] as number; // the caller has checked the reference
    const to = this.#ends[ref] as number;
    bytes[start] = tag;
    let at = putSize(bytes, start + 1, to - from);
    const source = this.#cursor.bytes;
    for (let i = from; i < to; i++) bytes[at++] = source[i] as number;
    return at;
  }

  #grow(): void {
    const [starts, ends] = [this.#starts, this.#ends];
    this.#starts = new Uint32Array(2 * starts.length);
    this.#ends = new Uint32Array(2 * ends.length);
    this.#starts.set(starts);
    this.#ends.set(ends);
  }
}

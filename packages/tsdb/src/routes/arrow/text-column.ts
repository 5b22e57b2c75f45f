import { DictionaryVector } from '@plinth/tsdb-model/columns/dictionary-vector.js';
import {
  InlinedTexts,
  MAX_INLINED_BYTES,
  STRING_T_BYTES,
} from '@plinth/tsdb-model/columns/inlined-texts.js';
import type { ColumnVector } from '@plinth/tsdb-model/columns/result.js';
import { TextSpans } from '@plinth/tsdb-model/columns/text-spans.js';
import { type BatchParts, type ColumnBuilder, GrowingBytes, Validity } from './column-builder.js';

/** Number of strings whose bytes are cached. Most text columns are tags, which repeat. */
const MAX_KNOWN_COUNT = 4096;
/** Longer strings rarely repeat. */
const MAX_KNOWN_LENGTH = 256;
/** Up to this size, a loop is faster than a call to `set`. */
const MAX_LOOPED_BYTES = 24;

/** End offsets of the values in Arrow's layout, with one more entry than rows. */
export class Offsets {
  #ends = new Int32Array(1024);
  count = 1;

  push(end: number): void {
    if (this.count === this.#ends.length) this.reserve(1);
    this.#ends[this.count++] = end;
  }

  /**
   * Ensures space for `count` more offsets, starting at index `this.count`. The caller then
   * increases `this.count`.
   */
  reserve(count: number): Int32Array {
    const needed = this.count + count;
    if (needed > this.#ends.length) {
      const larger = new Int32Array(Math.max(needed, this.#ends.length * 2));
      larger.set(this.#ends);
      this.#ends = larger;
    }
    return this.#ends;
  }

  take(): Uint8Array {
    const taken = new Uint8Array(this.#ends.buffer, 0, this.count * 4);
    this.count = 1;
    return taken;
  }
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

const STRING_T_WORDS = STRING_T_BYTES / 4;
/** If at most this many strings are new, all of them are encoded, used or not. */
const MAX_MADE_AT_ONCE = 8192;

/** The encoded strings of a dictionary, which can grow. */
class CodedTexts {
  readonly texts: readonly (string | undefined)[];
  /** A `string_t` per code, in words: the size of the string, followed by its bytes if they fit. */
  #strings = new Int32Array(64 * STRING_T_WORDS);
  /** The strings of all codes below this are encoded. */
  #count = 0;
  /** By code: encoded strings at or above `#count`. */
  #isMade = new Uint8Array(0);
  readonly #long = new Map<number, Uint8Array>();
  /** Bytes of the longest string so far. */
  maxSize = 0;

  constructor(texts: readonly (string | undefined)[]) {
    this.texts = texts;
  }

  /**
   * Returns the strings, encoded at least for these codes. The dictionary of a long result can
   * contain a string per row.
   */
  strings(codes: Int32Array, from: number, to: number): Int32Array {
    const needed = this.texts.length * STRING_T_WORDS;
    if (needed > this.#strings.length) {
      const larger = new Int32Array(Math.max(needed, this.#strings.length * 2));
      larger.set(this.#strings);
      this.#strings = larger;
    }
    const places = new Uint8Array(this.#strings.buffer);
    if (this.texts.length - this.#count <= MAX_MADE_AT_ONCE) {
      for (; this.#count < this.texts.length; this.#count++) this.#make(this.#count, places);
      return this.#strings;
    }
    if (this.#isMade.length < this.texts.length) {
      const larger = new Uint8Array(this.#strings.length / STRING_T_WORDS);
      larger.set(this.#isMade);
      this.#isMade = larger;
    }
    for (let row = from; row < to; row++) {
      const code = codes[row] as number;
      if (code < this.#count || this.#isMade[code] === 1) continue;
      this.#isMade[code] = 1;
      this.#make(code, places);
    }
    return this.#strings;
  }

  #make(code: number, places: Uint8Array): void {
    const bytes = Buffer.from(this.texts[code] ?? '');
    this.#strings[code * STRING_T_WORDS] = bytes.length;
    this.maxSize = Math.max(this.maxSize, bytes.length);
    if (bytes.length > MAX_INLINED_BYTES) this.#long.set(code, bytes);
    else places.set(bytes, code * STRING_T_BYTES + 4);
  }

  /** Returns the bytes of a string that does not fit into its `string_t`. */
  longText(code: number): Uint8Array {
    return this.#long.get(code) ?? NO_BYTES;
  }
}

const NO_BYTES = new Uint8Array(0);

/** Codes whose strings are inlined and copied, and the target. */
interface CodeCopy {
  readonly codes: Int32Array;
  readonly from: number;
  readonly to: number;
  readonly strings: Int32Array;
  readonly target: DataView;
  /**
   * Start of the target bytes. Each string is written with 12 bytes, so the target must have space for the remainder.
   */
  readonly end: number;
  readonly ends: Int32Array;
  readonly firstEnd: number;
}

/** Copies strings of at most 4 bytes. @returns the end of the bytes. */
function copyShortest({ codes, from, to, strings, target, end, ends, firstEnd }: CodeCopy): number {
  let at = end;
  for (let row = from, endAt = firstEnd; row < to; row++) {
    const word = (codes[row] as number) * STRING_T_WORDS;
    target.setInt32(at, strings[word + 1] as number, true);
    at += strings[word] as number;
    ends[endAt++] = at;
  }
  return at;
}

/** Copies strings of at most 8 bytes. */
function copyShort({ codes, from, to, strings, target, end, ends, firstEnd }: CodeCopy): number {
  let at = end;
  for (let row = from, endAt = firstEnd; row < to; row++) {
    const word = (codes[row] as number) * STRING_T_WORDS;
    target.setInt32(at, strings[word + 1] as number, true);
    target.setInt32(at + 4, strings[word + 2] as number, true);
    at += strings[word] as number;
    ends[endAt++] = at;
  }
  return at;
}

/** Copies strings that are all inlined. */
function copyInlined({ codes, from, to, strings, target, end, ends, firstEnd }: CodeCopy): number {
  let at = end;
  for (let row = from, endAt = firstEnd; row < to; row++) {
    const word = (codes[row] as number) * STRING_T_WORDS;
    target.setInt32(at, strings[word + 1] as number, true);
    target.setInt32(at + 4, strings[word + 2] as number, true);
    target.setInt32(at + 8, strings[word + 3] as number, true);
    at += strings[word] as number;
    ends[endAt++] = at;
  }
  return at;
}

/** Builds text or bytes of any length. */
export class TextColumn implements ColumnBuilder {
  readonly #validity = new Validity();
  readonly #offsets = new Offsets();
  readonly #data = new GrowingBytes();
  /** Bytes by string; dropped when strings turn out not to repeat. */
  #known: Map<string, Uint8Array> | undefined = new Map();
  #hitCount = 0;
  #missCount = 0;
  #coded = new CodedTexts([]);

  get rowCount(): number {
    return this.#validity.rowCount;
  }

  append(vector: ColumnVector, from: number, to: number): void {
    if (vector instanceof DictionaryVector) this.#appendCodes(vector, from, to);
    else if (vector instanceof InlinedTexts) this.#appendInlined(vector, from, to);
    else if (vector instanceof TextSpans) this.#appendSpans(vector, from, to);
    else this.#appendTexts(vector, from, to);
    this.#validity.appendRange(vector.validity, from, to);
  }

  appendCell(cell: unknown): void {
    const isValid = cell !== null && cell !== undefined;
    if (isValid) this.#write(cell);
    this.#offsets.push(this.#data.length);
    this.#validity.appendOne(isValid);
  }

  take(parts: BatchParts): void {
    this.#validity.take(parts);
    parts.buffers.push(this.#offsets.take(), this.#data.take());
  }

  /** Copies dictionary strings that are inlined. */
  #appendCodes({ codes, texts }: DictionaryVector, from: number, to: number): void {
    if (this.#coded.texts !== texts) this.#coded = new CodedTexts(texts);
    const coded = this.#coded;
    const strings = coded.strings(codes, from, to);
    const ends = this.#offsets.reserve(to - from);
    const firstEnd = this.#offsets.count;
    const end = this.#data.reserve((to - from) * MAX_INLINED_BYTES);
    const target = viewOf(this.#data.bytes);
    const place = { codes, from, to, strings, target, end, ends, firstEnd };
    // Copying one word less per row makes a measurable difference with millions of rows.
    if (coded.maxSize <= 4) this.#data.length = copyShortest(place);
    else if (coded.maxSize <= 8) this.#data.length = copyShort(place);
    else if (coded.maxSize <= MAX_INLINED_BYTES) this.#data.length = copyInlined(place);
    else this.#appendAnyCodes(coded, place);
    this.#offsets.count = firstEnd + to - from;
  }

  /** Copies dictionary strings if some are not inlined. */
  #appendAnyCodes(coded: CodedTexts, { codes, from, to, strings, ends, firstEnd }: CodeCopy): void {
    let target = viewOf(this.#data.bytes);
    let end = this.#data.length;
    for (let row = from; row < to; row++) {
      const code = codes[row] as number;
      const word = code * STRING_T_WORDS;
      const length = strings[word] as number;
      if (length <= MAX_INLINED_BYTES) {
        target.setInt32(end, strings[word + 1] as number, true);
        target.setInt32(end + 4, strings[word + 2] as number, true);
        target.setInt32(end + 8, strings[word + 3] as number, true);
        end += length;
      } else {
        this.#data.length = end;
        // Space for this string, and for inlined strings of the remaining rows.
        this.#data.reserve(length + (to - row) * MAX_INLINED_BYTES);
        this.#data.append(coded.longText(code));
        end = this.#data.length;
        target = viewOf(this.#data.bytes);
      }
      ends[firstEnd + row - from] = end;
    }
    this.#data.length = end;
  }

  /** Copies 12 bytes of each string. Each overwrites the unused rest of the previous one. */
  #appendInlined({ strings, validity }: InlinedTexts, from: number, to: number): void {
    let end = this.#data.reserve((to - from) * MAX_INLINED_BYTES);
    const source = new DataView(strings.buffer, strings.byteOffset, strings.byteLength);
    const { bytes } = this.#data;
    const target = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let row = from; row < to; row++) {
      const at = row * STRING_T_BYTES;
      const isValid =
        validity === undefined || ((validity[row >> 3] as number) & (1 << (row & 7))) !== 0;
      if (isValid) {
        target.setInt32(end, source.getInt32(at + 4));
        target.setInt32(end + 4, source.getInt32(at + 8));
        target.setInt32(end + 8, source.getInt32(at + 12));
        end += source.getInt32(at, true);
      }
      this.#offsets.push(end);
    }
    this.#data.length = end;
  }

  /** Copies adjacent strings in one call. */
  #appendSpans({ bytes, starts, sizes }: TextSpans, from: number, to: number): void {
    const ends = this.#offsets.reserve(to - from);
    let endAt = this.#offsets.count;
    let end = this.#data.length;
    let [runStart, runEnd] = [0, 0];
    for (let row = from; row < to; row++) {
      const size = sizes[row] as number;
      const start = starts[row] as number;
      if (size > 0 && start !== runEnd) {
        this.#data.append(bytes.subarray(runStart, runEnd));
        runStart = start;
        runEnd = start;
      }
      runEnd += size;
      end += size;
      ends[endAt++] = end;
    }
    this.#data.append(bytes.subarray(runStart, runEnd));
    this.#offsets.count = endAt;
  }

  #appendTexts({ values, validity }: ColumnVector, from: number, to: number): void {
    for (let row = from; row < to; row++) {
      const isValid =
        validity === undefined || ((validity[row >> 3] as number) & (1 << (row & 7))) !== 0;
      if (isValid) this.#write(values[row]);
      this.#offsets.push(this.#data.length);
    }
  }

  #write(cell: unknown): void {
    if (cell instanceof Uint8Array) {
      this.#data.append(cell);
      return;
    }
    const text = String(cell);
    if (this.#known === undefined || text.length > MAX_KNOWN_LENGTH) {
      this.#encode(text);
      return;
    }
    let piece = this.#known.get(text);
    if (piece === undefined) {
      piece = Buffer.from(text);
      this.#remember(text, piece);
    } else this.#hitCount++;
    this.#copy(piece);
  }

  #remember(text: string, piece: Uint8Array): void {
    this.#missCount++;
    this.#known?.set(text, piece);
    if (this.#known?.size !== MAX_KNOWN_COUNT) return;
    this.#known = this.#hitCount > this.#missCount ? new Map() : undefined;
    this.#hitCount = 0;
    this.#missCount = 0;
  }

  #encode(text: string): void {
    const at = this.#data.reserve(text.length * 3);
    this.#data.length += this.#data.bytes.write(text, at, 'utf8');
  }

  #copy(piece: Uint8Array): void {
    const { length } = piece;
    const at = this.#data.reserve(length);
    const { bytes } = this.#data;
    if (length <= MAX_LOOPED_BYTES) {
      for (let i = 0; i < length; i++) bytes[at + i] = piece[i] as number;
    } else bytes.set(piece, at);
    this.#data.length += length;
  }
}

import { DictionaryVector } from '@plinth/tsdb-model/columns/dictionary-vector.js';
import type { ColumnVector } from '@plinth/tsdb-model/columns/result.js';
import {
  CELL_BYTES,
  MAX_CELL_TEXT_BYTES,
  TextCells,
} from '@plinth/tsdb-model/columns/text-cells.js';
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

const CELL_WORDS = CELL_BYTES / 4;
/** If at most this many strings are new, all of them are encoded, used or not. */
const MAX_MADE_AT_ONCE = 8192;

/** The encoded strings of a dictionary, which may grow. */
class CodedTexts {
  readonly texts: readonly (string | undefined)[];
  /** One cell per code: the size of the string, followed by its bytes if they fit. */
  #cells = new Int32Array(64 * CELL_WORDS);
  /** All codes below this have a cell. */
  #count = 0;
  /** By code: cells that exist at or above `#count`. */
  #isMade = new Uint8Array(0);
  readonly #long = new Map<number, Uint8Array>();
  /** Bytes of the longest string so far. */
  maxSize = 0;

  constructor(texts: readonly (string | undefined)[]) {
    this.texts = texts;
  }

  /**
   * Returns the cells, encoded at least for these codes. The dictionary of a long result can
   * contain a string per row.
   */
  cells(codes: Int32Array, from: number, to: number): Int32Array {
    const needed = this.texts.length * CELL_WORDS;
    if (needed > this.#cells.length) {
      const larger = new Int32Array(Math.max(needed, this.#cells.length * 2));
      larger.set(this.#cells);
      this.#cells = larger;
    }
    const places = new Uint8Array(this.#cells.buffer);
    if (this.texts.length - this.#count <= MAX_MADE_AT_ONCE) {
      for (; this.#count < this.texts.length; this.#count++) this.#make(this.#count, places);
      return this.#cells;
    }
    if (this.#isMade.length < this.texts.length) {
      const larger = new Uint8Array(this.#cells.length / CELL_WORDS);
      larger.set(this.#isMade);
      this.#isMade = larger;
    }
    for (let row = from; row < to; row++) {
      const code = codes[row] as number;
      if (code < this.#count || this.#isMade[code] === 1) continue;
      this.#isMade[code] = 1;
      this.#make(code, places);
    }
    return this.#cells;
  }

  #make(code: number, places: Uint8Array): void {
    const bytes = Buffer.from(this.texts[code] ?? '');
    this.#cells[code * CELL_WORDS] = bytes.length;
    this.maxSize = Math.max(this.maxSize, bytes.length);
    if (bytes.length > MAX_CELL_TEXT_BYTES) this.#long.set(code, bytes);
    else places.set(bytes, code * CELL_BYTES + 4);
  }

  /** Returns the bytes of a string that does not fit into its cell. */
  longText(code: number): Uint8Array {
    return this.#long.get(code) ?? NO_BYTES;
  }
}

const NO_BYTES = new Uint8Array(0);

/** Codes whose strings are copied from cells, and the target. */
interface CellCopy {
  readonly codes: Int32Array;
  readonly from: number;
  readonly to: number;
  readonly cells: Int32Array;
  readonly target: DataView;
  /**
   * Start of the target bytes. Each string is written as a complete cell, so space for the rest of
   * the cell must follow.
   */
  readonly end: number;
  readonly ends: Int32Array;
  readonly firstEnd: number;
}

/** Copies strings of at most 4 bytes. @returns the end of the bytes. */
function copyShortest({ codes, from, to, cells, target, end, ends, firstEnd }: CellCopy): number {
  let at = end;
  for (let row = from, endAt = firstEnd; row < to; row++) {
    const cell = (codes[row] as number) * CELL_WORDS;
    target.setInt32(at, cells[cell + 1] as number, true);
    at += cells[cell] as number;
    ends[endAt++] = at;
  }
  return at;
}

/** Copies strings of at most 8 bytes. */
function copyShort({ codes, from, to, cells, target, end, ends, firstEnd }: CellCopy): number {
  let at = end;
  for (let row = from, endAt = firstEnd; row < to; row++) {
    const cell = (codes[row] as number) * CELL_WORDS;
    target.setInt32(at, cells[cell + 1] as number, true);
    target.setInt32(at + 4, cells[cell + 2] as number, true);
    at += cells[cell] as number;
    ends[endAt++] = at;
  }
  return at;
}

/** Copies strings that all fit into their cells. */
function copyCells({ codes, from, to, cells, target, end, ends, firstEnd }: CellCopy): number {
  let at = end;
  for (let row = from, endAt = firstEnd; row < to; row++) {
    const cell = (codes[row] as number) * CELL_WORDS;
    target.setInt32(at, cells[cell + 1] as number, true);
    target.setInt32(at + 4, cells[cell + 2] as number, true);
    target.setInt32(at + 8, cells[cell + 3] as number, true);
    at += cells[cell] as number;
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
    else if (vector instanceof TextCells) this.#appendCells(vector, from, to);
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

  /** Copies dictionary strings from cells if they are short enough. */
  #appendCodes({ codes, texts }: DictionaryVector, from: number, to: number): void {
    if (this.#coded.texts !== texts) this.#coded = new CodedTexts(texts);
    const coded = this.#coded;
    const cells = coded.cells(codes, from, to);
    const ends = this.#offsets.reserve(to - from);
    const firstEnd = this.#offsets.count;
    const end = this.#data.reserve((to - from) * MAX_CELL_TEXT_BYTES);
    const target = viewOf(this.#data.bytes);
    const place = { codes, from, to, cells, target, end, ends, firstEnd };
    // Copying one word less per row is measurable with millions of rows.
    if (coded.maxSize <= 4) this.#data.length = copyShortest(place);
    else if (coded.maxSize <= 8) this.#data.length = copyShort(place);
    else if (coded.maxSize <= MAX_CELL_TEXT_BYTES) this.#data.length = copyCells(place);
    else this.#appendAnyCodes(coded, place);
    this.#offsets.count = firstEnd + to - from;
  }

  /** Copies dictionary strings if some do not fit into their cells. */
  #appendAnyCodes(coded: CodedTexts, { codes, from, to, cells, ends, firstEnd }: CellCopy): void {
    let target = viewOf(this.#data.bytes);
    let end = this.#data.length;
    for (let row = from; row < to; row++) {
      const code = codes[row] as number;
      const cell = code * CELL_WORDS;
      const length = cells[cell] as number;
      if (length <= MAX_CELL_TEXT_BYTES) {
        target.setInt32(end, cells[cell + 1] as number, true);
        target.setInt32(end + 4, cells[cell + 2] as number, true);
        target.setInt32(end + 8, cells[cell + 3] as number, true);
        end += length;
      } else {
        this.#data.length = end;
        // Space for this string, and for the cells of the remaining rows.
        this.#data.reserve(length + (to - row) * MAX_CELL_TEXT_BYTES);
        this.#data.append(coded.longText(code));
        end = this.#data.length;
        target = viewOf(this.#data.bytes);
      }
      ends[firstEnd + row - from] = end;
    }
    this.#data.length = end;
  }

  /** Copies complete cells. Each cell overwrites the unused rest of the previous one. */
  #appendCells({ cells, validity }: TextCells, from: number, to: number): void {
    let end = this.#data.reserve((to - from) * MAX_CELL_TEXT_BYTES);
    const source = new DataView(cells.buffer, cells.byteOffset, cells.byteLength);
    const { bytes } = this.#data;
    const target = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let row = from; row < to; row++) {
      const at = row * CELL_BYTES;
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

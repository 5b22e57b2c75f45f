import { DictionaryVector } from '../../model/dictionary-vector.js';
import type { ColumnVector } from '../../model/result.js';
import { CELL_BYTES, MAX_CELL_TEXT_BYTES, TextCells } from '../../model/text-cells.js';
import { type BatchParts, type ColumnBuilder, GrowingBytes, Validity } from './column-builder.js';

/** Texts whose bytes are remembered; most text columns are tags, which repeat. */
const MAX_KNOWN_COUNT = 4096;
/** Longer texts rarely repeat. */
const MAX_KNOWN_LENGTH = 256;
/** Below this a loop beats a call. */
const MAX_LOOPED_BYTES = 24;

/** Positions where values end, as Arrow keeps them: one more than there are rows. */
export class Offsets {
  #ends = new Int32Array(1024);
  count = 1;

  push(end: number): void {
    if (this.count === this.#ends.length) {
      const larger = new Int32Array(this.#ends.length * 2);
      larger.set(this.#ends);
      this.#ends = larger;
    }
    this.#ends[this.count++] = end;
  }

  take(): Uint8Array {
    const taken = new Uint8Array(this.#ends.buffer, 0, this.count * 4);
    this.count = 1;
    return taken;
  }
}

/** Text or bytes of any length. */
export class TextColumn implements ColumnBuilder {
  readonly #validity = new Validity();
  readonly #offsets = new Offsets();
  readonly #data = new GrowingBytes();
  /** Bytes by text; given up when texts turn out not to repeat. */
  #known: Map<string, Uint8Array> | undefined = new Map();
  #hitCount = 0;
  #missCount = 0;
  /** Bytes by code of the answer's dictionary. */
  #coded: { readonly of: readonly unknown[]; readonly bytes: (Uint8Array | undefined)[] } = {
    of: [],
    bytes: [],
  };

  get rowCount(): number {
    return this.#validity.rowCount;
  }

  append(vector: ColumnVector, from: number, to: number): void {
    if (vector instanceof DictionaryVector) this.#appendCodes(vector, from, to);
    else if (vector instanceof TextCells) this.#appendCells(vector, from, to);
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

  #appendCodes({ codes, texts }: DictionaryVector, from: number, to: number): void {
    if (this.#coded.of !== texts) this.#coded = { of: texts, bytes: [] };
    const { bytes } = this.#coded;
    for (let row = from; row < to; row++) {
      const code = codes[row] as number;
      let piece = bytes[code];
      if (piece === undefined) {
        piece = Buffer.from(texts[code] ?? '');
        bytes[code] = piece;
      }
      this.#copy(piece);
      this.#offsets.push(this.#data.length);
    }
  }

  /** Whole cells are copied, the next one over what the text does not fill. */
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

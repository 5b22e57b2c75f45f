import type { ColumnVector } from '@plinth/tsdb-model/columns/result.js';
import { isValid } from '@plinth/tsdb-model/columns/row-batch.js';
import { type BatchParts, type ColumnBuilder, GrowingBytes, Validity } from './column-builder.js';

/** Builds a column that is NULL in every row and has no buffers. */
export class NullColumn implements ColumnBuilder {
  rowCount = 0;

  append(_vector: ColumnVector, from: number, to: number): void {
    this.rowCount += to - from;
  }

  appendCell(): void {
    this.rowCount++;
  }

  take({ nodes }: BatchParts): void {
    nodes.push({ rowCount: this.rowCount, nullCount: this.rowCount });
    this.rowCount = 0;
  }
}

/** Builds booleans: 0 and 1 in chunks, one bit each in Arrow. */
export class BooleanColumn implements ColumnBuilder {
  readonly #validity = new Validity();
  readonly #bits = new GrowingBytes();

  get rowCount(): number {
    return this.#validity.rowCount;
  }

  append({ values, validity }: ColumnVector, from: number, to: number): void {
    for (let row = from, at = this.rowCount; row < to; row++, at++) {
      this.#set(at, isValid(validity, row) && values[row]);
    }
    this.#validity.appendRange(validity, from, to);
  }

  appendCell(cell: unknown): void {
    this.#set(this.rowCount, cell);
    this.#validity.appendOne(cell !== null && cell !== undefined);
  }

  take(parts: BatchParts): void {
    this.#validity.take(parts);
    parts.buffers.push(this.#bits.take());
  }

  #set(at: number, cell: unknown): void {
    if ((at & 7) === 0) {
      const place = this.#bits.reserve(1);
      this.#bits.bytes[place] = 0;
      this.#bits.length++;
    }
    const { bytes } = this.#bits;
    if (cell === true || cell === 1) {
      bytes[at >> 3] = (bytes[at >> 3] as number) | (1 << (at & 7));
    }
  }
}

/** Writes one value as bytes of a fixed width. */
export type CellWriter = (bytes: Buffer, at: number, cell: unknown) => void;

/** Builds values of a fixed width. Arrays that already have Arrow's byte layout are copied. */
export class FixedColumn implements ColumnBuilder {
  readonly #validity = new Validity();
  readonly #data = new GrowingBytes();
  readonly #width: number;
  readonly #isVerbatim: (values: ArrayLike<unknown>) => boolean;
  readonly #write: CellWriter;

  constructor(options: {
    readonly width: number;
    /** Returns whether a chunk's array already has Arrow's byte layout. */
    readonly isVerbatim: (values: ArrayLike<unknown>) => boolean;
    readonly write: CellWriter;
  }) {
    this.#width = options.width;
    this.#isVerbatim = options.isVerbatim;
    this.#write = options.write;
  }

  get rowCount(): number {
    return this.#validity.rowCount;
  }

  append({ values, validity }: ColumnVector, from: number, to: number): void {
    const width = this.#width;
    if (this.#isVerbatim(values)) {
      const { buffer, byteOffset } = values as unknown as Uint8Array; // `isVerbatim` accepts only typed arrays
      const begin = this.#data.length;
      this.#data.append(new Uint8Array(buffer, byteOffset + from * width, (to - from) * width));
      if (validity !== undefined) this.#clearNulls(validity, { from, to, begin });
    } else {
      let at = this.#data.reserve((to - from) * width);
      this.#data.length += (to - from) * width;
      const { bytes } = this.#data;
      for (let row = from; row < to; row++, at += width) {
        if (isValid(validity, row)) this.#write(bytes, at, values[row]);
        else bytes.fill(0, at, at + width);
      }
    }
    this.#validity.appendRange(validity, from, to);
  }

  appendCell(cell: unknown): void {
    const isPresent = cell !== null && cell !== undefined;
    const at = this.#data.reserve(this.#width);
    this.#data.length += this.#width;
    if (isPresent) this.#write(this.#data.bytes, at, cell);
    else this.#data.bytes.fill(0, at, at + this.#width);
    this.#validity.appendOne(isPresent);
  }

  take(parts: BatchParts): void {
    this.#validity.take(parts);
    parts.buffers.push(this.#data.take());
  }

  /**
   * Zeroes NULL slots, because a chunk may contain old memory there, including rows of other users.
   */
  #clearNulls(
    validity: Uint8Array,
    { from, to, begin }: { readonly from: number; readonly to: number; readonly begin: number },
  ): void {
    const { bytes } = this.#data;
    const width = this.#width;
    for (let row = from, at = begin; row < to; row++, at += width) {
      if (isValid(validity, row)) continue;
      // For a few bytes, a loop takes a fifth of the time of `fill`.
      for (let i = at; i < at + width; i++) bytes[i] = 0;
    }
  }
}

import type { ColumnVector } from './result.js';

/** Bytes of a cell: a 4-byte little-endian length, then the text. */
export const CELL_BYTES = 16;
export const MAX_CELL_TEXT_BYTES = 12;

/**
 * Short strings in DuckDB's layout, one cell per row. They can be copied as bytes; JavaScript
 * strings are created on first use.
 */
export class TextCells implements ColumnVector {
  readonly cells: Uint8Array;
  readonly validity: Uint8Array | undefined;
  readonly #decode: () => readonly string[];
  #values: readonly string[] | undefined;

  constructor(options: {
    readonly cells: Uint8Array;
    readonly validity: Uint8Array | undefined;
    readonly decode: () => readonly string[];
  }) {
    this.cells = options.cells;
    this.validity = options.validity;
    this.#decode = options.decode;
  }

  get values(): ArrayLike<unknown> {
    this.#values ??= this.#decode();
    return this.#values;
  }
}

import type { ColumnVector } from './result.js';

/** Bytes of a cell: the length of the text in 4, little-endian, then the text itself. */
export const CELL_BYTES = 16;
export const MAX_CELL_TEXT_BYTES = 12;

/**
 * Short texts as the engine hands them out, one cell a row. Whoever wants bytes copies them; whoever wants texts has them made
 * then.
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

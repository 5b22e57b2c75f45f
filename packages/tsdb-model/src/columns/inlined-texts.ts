import type { ColumnVector } from './result.js';

/** Size of DuckDB's `string_t`: a 4-byte little-endian length, then the string or, if it is longer, its start and a pointer. */
export const STRING_T_BYTES = 16;
/** DuckDB stores strings up to this size in their `string_t`. */
export const MAX_INLINED_BYTES = 12;

/**
 * Short strings inlined in DuckDB's layout, one `string_t` per row. They can be copied as bytes; JavaScript
 * strings are created on first use.
 */
export class InlinedTexts implements ColumnVector {
  readonly strings: Uint8Array;
  readonly validity: Uint8Array | undefined;
  readonly #decode: () => readonly string[];
  #values: readonly string[] | undefined;

  constructor(options: {
    readonly strings: Uint8Array;
    readonly validity: Uint8Array | undefined;
    readonly decode: () => readonly string[];
  }) {
    this.strings = options.strings;
    this.validity = options.validity;
    this.#decode = options.decode;
  }

  get values(): ArrayLike<unknown> {
    this.#values ??= this.#decode();
    return this.#values;
  }
}

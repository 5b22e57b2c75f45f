import type { ColumnVector } from './result.js';

/** Locations of strings in a shared byte buffer. */
export interface SpannedTexts {
  readonly bytes: Buffer<ArrayBuffer>;
  readonly starts: Uint32Array<ArrayBuffer>;
  /** 0 for NULL. */
  readonly sizes: Uint32Array<ArrayBuffer>;
  readonly validity: Uint8Array | undefined;
}

/**
 * Strings of any length as bytes. They can be copied as bytes, many rows at once; JavaScript
 * strings are created on first use.
 */
export class TextSpans implements ColumnVector {
  readonly bytes: Buffer<ArrayBuffer>;
  readonly starts: Uint32Array<ArrayBuffer>;
  readonly sizes: Uint32Array<ArrayBuffer>;
  readonly validity: Uint8Array | undefined;
  #values: readonly string[] | undefined;

  constructor({ bytes, starts, sizes, validity }: SpannedTexts) {
    this.bytes = bytes;
    this.starts = starts;
    this.sizes = sizes;
    this.validity = validity;
  }

  /** The memory that contains the strings and their locations. */
  get memory(): readonly ArrayBuffer[] {
    return [this.bytes.buffer, this.starts.buffer, this.sizes.buffer];
  }

  get values(): ArrayLike<unknown> {
    this.#values ??= this.#decoded();
    return this.#values;
  }

  #decoded(): readonly string[] {
    const { bytes, starts, sizes } = this;
    const texts = new Array<string>(starts.length);
    for (let row = 0; row < texts.length; row++) {
      const start = starts[row] as number;
      texts[row] = bytes.toString('utf8', start, start + (sizes[row] as number));
    }
    return texts;
  }
}

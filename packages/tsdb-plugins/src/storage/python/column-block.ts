/** Describes a column in a frame. Source: docs/formats/plugin-frames.md. */
export interface FrameColumn {
  readonly name: string;
  /** float64, int64, uint64, boolean, dictionary of strings, strings. */
  readonly k: 'f' | 'i' | 'u' | 'b' | 'd' | 's';
  /** Offset of the values in the body; 0 for strings, which are in the header. */
  readonly o: number;
  /**
   * Offset of one byte per row, which is 1 if the value is present. If absent, all values are
   * present.
   */
  readonly v?: number;
  readonly d?: readonly string[];
  readonly s?: readonly string[];
}

type Numbers = Float64Array | BigInt64Array | BigUint64Array | Int32Array;

const ALIGNMENT = 8;

/**
 * Collects columns and the body that contains them. Arrays are not copied, so they must not be
 * changed afterwards.
 */
export class ColumnBlock {
  readonly #parts: Uint8Array[] = [];
  #sizeBytes = 0;

  get parts(): readonly Uint8Array[] {
    return this.#parts;
  }

  /** @param present one byte per row. */
  numbers(name: string, values: Numbers, present: Uint8Array | undefined): FrameColumn {
    return { name, k: kindOf(values), o: this.#add(bytesOf(values)), ...this.#presence(present) };
  }

  booleans(name: string, values: Uint8Array, present: Uint8Array | undefined): FrameColumn {
    return { name, k: 'b', o: this.#add(values), ...this.#presence(present) };
  }

  texts(name: string, values: readonly string[], present: Uint8Array | undefined): FrameColumn {
    return { name, k: 's', o: 0, s: values, ...this.#presence(present) };
  }

  /** @param codes indexes into `texts`. */
  dictionary(
    name: string,
    codes: Int32Array,
    options: { readonly texts: readonly string[]; readonly present: Uint8Array | undefined },
  ): FrameColumn {
    const o = this.#add(bytesOf(codes));
    return { name, k: 'd', o, d: options.texts, ...this.#presence(options.present) };
  }

  #presence(present: Uint8Array | undefined): { readonly v?: number } {
    return present === undefined ? {} : { v: this.#add(present) };
  }

  #add(bytes: Uint8Array): number {
    const offset = this.#sizeBytes;
    this.#parts.push(bytes);
    const padding = (ALIGNMENT - (bytes.byteLength % ALIGNMENT)) % ALIGNMENT;
    if (padding > 0) this.#parts.push(new Uint8Array(padding));
    this.#sizeBytes += bytes.byteLength + padding;
    return offset;
  }
}

function kindOf(values: Numbers): 'f' | 'i' | 'u' | 'd' {
  if (values instanceof Float64Array) return 'f';
  if (values instanceof BigInt64Array) return 'i';
  return values instanceof BigUint64Array ? 'u' : 'd';
}

function bytesOf(values: Numbers): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

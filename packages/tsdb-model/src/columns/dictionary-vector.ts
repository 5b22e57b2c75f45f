import type { ColumnVector } from './result.js';

export interface DictionaryFacts {
  /** Whether any row has an `undefined` string. */
  readonly hasMissing: boolean | ((codes: Int32Array) => boolean);
  /** Maximum length of the strings in characters, if known. */
  readonly maxLength?: number;
}

/**
 * The strings of a column as codes into a dictionary, so that encoders process each string once.
 */
export class DictionaryVector implements ColumnVector {
  readonly #codesOf: () => Int32Array;
  #codes: Int32Array | undefined;
  /** By code; `undefined` is NULL. All chunks of a result share the array. */
  readonly texts: readonly (string | undefined)[];
  #values: readonly string[] | undefined;
  #validity: Uint8Array | undefined;

  /** Properties of all strings that are known without reading them. */
  readonly facts: DictionaryFacts | undefined;

  /**
   * @param codes the codes, or a function that computes them on first use. If the encoded tags of
   * the series are cached, the codes are never computed.
   */
  constructor(
    codes: Int32Array | (() => Int32Array),
    texts: readonly (string | undefined)[],
    facts?: DictionaryFacts,
  ) {
    this.#codesOf = typeof codes === 'function' ? codes : () => codes;
    this.texts = texts;
    this.facts = facts;
  }

  get codes(): Int32Array {
    this.#codes ??= this.#codesOf();
    return this.#codes;
  }

  get values(): ArrayLike<unknown> {
    this.#values ??= new DictionaryTexts(this);
    return this.#values;
  }

  get validity(): Uint8Array | undefined {
    if (this.#validity !== undefined) return this.#validity;
    const known = this.facts?.hasMissing ?? this.texts.includes(undefined);
    if (!(typeof known === 'boolean' ? known : known(this.codes))) return undefined;
    const bits = new Uint8Array((this.codes.length + 7) >> 3);
    this.codes.forEach((code, i) => {
      if (this.texts[code] !== undefined) bits[i >> 3] = (bits[i >> 3] as number) | (1 << (i & 7));
    });
    this.#validity = bits;
    return bits;
  }
}

/** The decoded strings of a dictionary column. Slices of it are plain arrays. */
export class DictionaryTexts extends Array<string> {
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  readonly of: DictionaryVector;

  constructor(of: DictionaryVector) {
    const { codes, texts } = of;
    super(codes.length);
    this.of = of;
    for (let row = 0; row < codes.length; row++) this[row] = texts[codes[row] as number] ?? '';
  }
}

import type { ColumnVector } from './result.js';

export interface DictionaryFacts {
  /** Some text of a row is `undefined`. */
  readonly hasMissing: boolean | ((codes: Int32Array) => boolean);
  /** Of the texts, in characters, when it is known. */
  readonly maxLength?: number;
}

/** Texts of rows as numbers of texts: whoever writes them makes each text once. */
export class DictionaryVector implements ColumnVector {
  readonly #codesOf: () => Int32Array;
  #codes: Int32Array | undefined;
  /** By code; `undefined` is NULL. The same array in all chunks of an answer. */
  readonly texts: readonly (string | undefined)[];
  #values: readonly string[] | undefined;
  #validity: Uint8Array | undefined;

  /** What is known of all texts without looking at them. */
  readonly facts: DictionaryFacts | undefined;

  /** @param codes or what makes them when they are looked at: of series whose texts are kept nobody does. */
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

/** The texts of a dictionary's rows, for those who do not know dictionaries. Parts of it are plain arrays. */
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

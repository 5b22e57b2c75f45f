import {
  type DictionaryFacts,
  DictionaryVector,
} from '@plinth/tsdb-model/columns/dictionary-vector.js';
import type { SeriesIndex } from '../../series/series-index.js';
import type { TagCodes } from '../../series/tag-columns.js';

/** Values of a tag that no series has. */
const NO_TEXTS: readonly undefined[] = [undefined];

/** Tags of a result's rows as dictionaries. */
export interface ChunkTags {
  /** For each tag, its values for rows of these series. */
  of(series: Uint32Array): ReadonlyMap<string, DictionaryVector>;
}

/** All tags share their codes: one number per series of the result. */
export class TagsOfSeries implements ChunkTags {
  readonly #tags: readonly {
    readonly name: string;
    readonly column: TagCodes | undefined;
    readonly texts: (string | undefined)[];
    facts: Required<DictionaryFacts>;
  }[];
  /** Series ordinal -> index in `texts`. */
  readonly #codes = new Map<number, number>();

  constructor(index: SeriesIndex, tags: readonly string[]) {
    this.#tags = tags.map((name) => {
      const facts = { hasMissing: false, maxLength: 0 };
      return { name, column: index.tagColumn(name), texts: [], facts };
    });
  }

  of(series: Uint32Array): ReadonlyMap<string, DictionaryVector> {
    if (this.#tags.length === 0) return new Map();
    const codes = new Int32Array(series.length);
    for (let i = 0; i < series.length; i++) codes[i] = this.codeOf(series[i] as number);
    return this.vectors(codes);
  }

  /** Returns the code of a series. */
  codeOf(ordinal: number): number {
    return this.#codes.get(ordinal) ?? this.#add(ordinal);
  }

  /** For each tag, its values for rows of the series with these codes. */
  vectors(codes: Int32Array): ReadonlyMap<string, DictionaryVector> {
    return new Map(
      this.#tags.map(({ name, texts, facts }) => [name, new DictionaryVector(codes, texts, facts)]),
    );
  }

  #add(ordinal: number): number {
    const code = this.#codes.size;
    this.#codes.set(ordinal, code);
    for (const tag of this.#tags) {
      const text = tag.column?.text(tag.column.codes[ordinal] as number);
      tag.texts.push(text);
      tag.facts = {
        hasMissing: tag.facts.hasMissing || text === undefined,
        maxLength: Math.max(tag.facts.maxLength, text?.length ?? 0),
      };
    }
    return code;
  }
}

/** Code 0 means that the value is missing. */
const OF_CODES = { hasMissing: (codes: Int32Array): boolean => codes.includes(0) };

/** Each tag has its own codes, one per value. */
export class TagsByValue implements ChunkTags {
  readonly #tags: readonly { readonly name: string; readonly column: TagCodes | undefined }[];

  constructor(index: SeriesIndex, tags: readonly string[]) {
    this.#tags = tags.map((name) => ({ name, column: index.tagColumn(name) }));
  }

  of(series: Uint32Array): ReadonlyMap<string, DictionaryVector> {
    const vectors = new Map<string, DictionaryVector>();
    for (const { name, column } of this.#tags) {
      const codes = (): Int32Array => codesOf(column, series);
      vectors.set(name, new DictionaryVector(codes, column?.values ?? NO_TEXTS, OF_CODES));
    }
    return vectors;
  }
}

function codesOf(column: TagCodes | undefined, series: Uint32Array): Int32Array {
  const codes = new Int32Array(series.length);
  if (column === undefined) return codes;
  for (let i = 0; i < series.length; i++) codes[i] = column.codes[series[i] as number] as number;
  return codes;
}

import { type DictionaryFacts, DictionaryVector } from '../../model/dictionary-vector.js';
import type { ColumnVector, ResultChunk } from '../../model/result.js';
import type { PassedTag } from '../sql/planned-query.js';
import type { SeriesIndex } from './series-index.js';

/** Series remembered by a part of their id; a power of two. Rows of one time are of many series, but mostly of the same ones. */
const SLOT_COUNT = 4096;

interface TagTexts {
  readonly tag: string;
  readonly texts: (string | undefined)[];
  facts: DictionaryFacts;
}

/**
 * Puts tags in the place of what stands for them in chunks of `scanText`: the id of the row's series. Texts are made once
 * for each series of the answer.
 */
export class SeriesTags {
  readonly #index: SeriesIndex;
  /** By the place of the column in the answer. */
  readonly #tags: ReadonlyMap<number, TagTexts>;
  /** Dense series number -> place in the texts. */
  readonly #codes = new Map<number, number>();
  /** Three words for each slot: the id, and one more than its place in the texts. */
  readonly #slots = new Int32Array(SLOT_COUNT * 3);

  constructor(index: SeriesIndex, tags: readonly PassedTag[]) {
    this.#index = index;
    const none = { hasMissing: false, maxLength: 0 };
    this.#tags = new Map(
      tags.map(({ columnIndex, tag }) => [columnIndex, { tag, texts: [], facts: none }]),
    );
  }

  decode(chunk: ResultChunk): ResultChunk {
    // Where a scan reads a single series its tags are texts already.
    const ids = chunk.columns.find(
      ({ values }, columnIndex) => this.#tags.has(columnIndex) && values instanceof BigInt64Array,
    )?.values;
    if (!(ids instanceof BigInt64Array)) return chunk;
    const codes = this.#codesOf(ids, chunk.rowCount);
    const columns = chunk.columns.map((vector, columnIndex): ColumnVector => {
      const tag = this.#tags.get(columnIndex);
      return tag === undefined ? vector : new DictionaryVector(codes, tag.texts, tag.facts);
    });
    return { rowCount: chunk.rowCount, columns };
  }

  #codesOf(ids: BigInt64Array, rowCount: number): Int32Array {
    const words = new Int32Array(ids.buffer, ids.byteOffset, rowCount * 2);
    const slots = this.#slots;
    const codes = new Int32Array(rowCount);
    for (let row = 0; row < rowCount; row++) {
      const low = words[row * 2] as number;
      const high = words[row * 2 + 1] as number;
      const at = ((low ^ high) & (SLOT_COUNT - 1)) * 3;
      if (slots[at + 2] === 0 || slots[at] !== low || slots[at + 1] !== high) {
        slots[at] = low;
        slots[at + 1] = high;
        slots[at + 2] = this.#codeOf(low, high) + 1;
      }
      codes[row] = (slots[at + 2] as number) - 1;
    }
    return codes;
  }

  #codeOf(low: number, high: number): number {
    const dense = this.#index.denseOf(low, high);
    const known = this.#codes.get(dense);
    if (known !== undefined) return known;
    const code = this.#codes.size;
    this.#codes.set(dense, code);
    for (const entry of this.#tags.values()) {
      const text = this.#index.tagValue(dense, entry.tag);
      entry.texts.push(text);
      entry.facts = {
        hasMissing: entry.facts.hasMissing || text === undefined,
        maxLength: Math.max(entry.facts.maxLength, text?.length ?? 0),
      };
    }
    return code;
  }
}

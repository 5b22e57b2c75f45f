import {
  type DictionaryFacts,
  DictionaryVector,
} from '@plinth/tsdb-model/columns/dictionary-vector.js';
import { InlinedTexts } from '@plinth/tsdb-model/columns/inlined-texts.js';
import type { ColumnVector, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import { TextSpans } from '@plinth/tsdb-model/columns/text-spans.js';
import type { LateMaterializedTag } from '@plinth/tsdb-model/query/planned-query.js';
import type { SeriesIndex } from './series-index.js';

/** A power of two; there are always at least twice as many slots as series in the result. */
const FIRST_SLOT_COUNT = 1024;

/** Words per slot: two for the id, and one for the index of its strings plus one. */
const SLOT_WORDS = 3;

interface TagTexts {
  readonly tag: string;
  readonly texts: (string | undefined)[];
  facts: Required<DictionaryFacts> & { readonly hasMissing: boolean };
}

/**
 * Replaces the series ids in chunks of `scanText` by tag values. Strings are created once per
 * series of the result.
 */
export class SeriesTagDecoder {
  readonly #index: SeriesIndex;
  /** Tag columns by column index of the result. */
  readonly #tags: ReadonlyMap<number, TagTexts>;
  /** Hash table of the result's series by id, with linear probing. */
  #slots = new Int32Array(FIRST_SLOT_COUNT * SLOT_WORDS);
  #seriesCount = 0;
  /** The array of a released chunk, for reuse. */
  #spareCodes: Int32Array | undefined;

  constructor(index: SeriesIndex, tags: readonly LateMaterializedTag[]) {
    this.#index = index;
    const none = { hasMissing: false, maxLength: 0 };
    this.#tags = new Map(
      tags.map(({ columnIndex, tag }) => [columnIndex, { tag, texts: [], facts: none }]),
    );
  }

  decode(chunk: ResultChunk): ResultChunk {
    // If a scan reads only one series, its tags are already strings.
    const ids = chunk.columns.find(
      (vector, columnIndex) =>
        this.#tags.has(columnIndex) && !isText(vector) && vector.values instanceof BigInt64Array,
    )?.values;
    if (!(ids instanceof BigInt64Array)) return chunk;
    const codes = this.#codesOf(ids, chunk.rowCount);
    const columns = chunk.columns.map((vector, columnIndex): ColumnVector => {
      const tag = this.#tags.get(columnIndex);
      return tag === undefined ? vector : new DictionaryVector(codes, tag.texts, tag.facts);
    });
    const release = (): void => {
      this.#spareCodes = codes;
      chunk.release?.();
    };
    return { rowCount: chunk.rowCount, columns, release };
  }

  #codesOf(ids: BigInt64Array, rowCount: number): Int32Array {
    const words = new Int32Array(ids.buffer, ids.byteOffset, rowCount * 2);
    const isSpare = this.#spareCodes?.length === rowCount;
    const codes = (isSpare && this.#spareCodes) || new Int32Array(rowCount);
    this.#spareCodes = undefined;
    let slots = this.#slots;
    for (let row = 0; row < rowCount; row++) {
      const low = words[row * 2] as number;
      const high = words[row * 2 + 1] as number;
      const at = findSlot(slots, low, high);
      const known = slots[at + 2] as number;
      if (known !== 0) codes[row] = known - 1;
      else {
        codes[row] = this.#add(at, low, high);
        slots = this.#slots;
      }
    }
    return codes;
  }

  /** Stores a new series in the free slot at `at`. */
  #add(at: number, low: number, high: number): number {
    const code = this.#seriesCount++;
    this.#slots[at] = low;
    this.#slots[at + 1] = high;
    this.#slots[at + 2] = code + 1;
    if (this.#seriesCount * 2 * SLOT_WORDS > this.#slots.length) this.#grow();
    const ordinal = this.#index.ordinalOf(low, high);
    for (const entry of this.#tags.values()) {
      const text = this.#index.tagValue(ordinal, entry.tag);
      entry.texts.push(text);
      entry.facts = {
        hasMissing: entry.facts.hasMissing || text === undefined,
        maxLength: Math.max(entry.facts.maxLength, text?.length ?? 0),
      };
    }
    return code;
  }

  #grow(): void {
    const before = this.#slots;
    const slots = new Int32Array(before.length * 2);
    for (let from = 0; from < before.length; from += SLOT_WORDS) {
      if (before[from + 2] === 0) continue;
      const at = findSlot(slots, before[from] as number, before[from + 1] as number);
      slots.set(before.subarray(from, from + SLOT_WORDS), at);
    }
    this.#slots = slots;
  }
}

/** Checked by type, because reading the values would create strings. */
const isText = (vector: ColumnVector): boolean =>
  vector instanceof InlinedTexts || vector instanceof TextSpans;

/** Returns the start of the slot of an id, or of the free slot for it. */
function findSlot(slots: Int32Array, low: number, high: number): number {
  const mask = slots.length / SLOT_WORDS - 1;
  for (let slot = (low ^ high) & mask; ; slot = (slot + 1) & mask) {
    const at = slot * SLOT_WORDS;
    if (slots[at + 2] === 0 || (slots[at] === low && slots[at + 1] === high)) return at;
  }
}

import type { NewSeries } from '@plinth/tsdb-model/series/new-series.js';
import { putSize } from '@plinth/tsdb-model/series/packed-tags.js';
import type { NewTags, TagKeySet } from '../new-tags.js';

const FIRST_COUNT = 16;
const FIRST_SIZE_BYTES = 2048;
/** Memory beyond this is not kept for the next body. */
const MAX_KEPT_BYTES = 1024 * 1024;

const NO_NUMBERS = new Uint32Array(0);
const NO_BYTES = new Uint8Array(0);

/** Packs the new tag sets of one table in a body. */
export class NewSeriesWriter {
  count = 0;
  #tagKeySets: (readonly string[])[] = [];
  /** Most lines have the same keys as the line before. */
  #lastKeySet: TagKeySet | undefined;
  #tagKeySetOf = NO_NUMBERS;
  #ends = NO_NUMBERS;
  #bytes = NO_BYTES;
  #size = 0;

  add(tags: NewTags): void {
    const { keySet, bytes, valueStarts, valueEnds } = tags;
    if (this.count === this.#ends.length) this.#growCount();
    if (this.#lastKeySet === undefined || !haveSameKeys(this.#lastKeySet, keySet)) {
      this.#lastKeySet = keySet;
      this.#tagKeySets.push(keySet.keys);
    }
    let needed = 0;
    for (let i = 0; i < keySet.order.length; i++) {
      // Heads and values have the same length as keys, here and below.
      needed += (keySet.heads[i] as Uint8Array).length + 4;
      needed += (valueEnds[i] as number) - (valueStarts[i] as number);
    }
    if (this.#size + needed > this.#bytes.length) this.#growBytes(needed);
    const target = this.#bytes;
    let at = this.#size;
    for (let i = 0; i < keySet.order.length; i++) {
      const place = keySet.order[i] as number;
      const head = keySet.heads[i] as Uint8Array;
      for (let j = 0; j < head.length; j++) target[at++] = head[j] as number;
      const start = valueStarts[place] as number;
      const end = valueEnds[place] as number;
      putSize(target, end - start, at);
      at += 4;
      for (let from = start; from < end; from++) target[at++] = bytes[from] as number;
    }
    this.#size = at;
    this.#tagKeySetOf[this.count] = this.#tagKeySets.length - 1;
    this.#ends[this.count] = at;
    this.count++;
  }

  /** Returns the tag sets that were added since the last call. */
  take(): NewSeries | undefined {
    const { count } = this;
    if (count === 0) return undefined;
    const taken: NewSeries = {
      count,
      tagKeySets: this.#tagKeySets,
      tagKeySetOf: this.#tagKeySetOf.slice(0, count),
      ends: this.#ends.slice(0, count),
      bytes: this.#bytes.slice(0, this.#size),
    };
    this.count = 0;
    this.#tagKeySets = [];
    this.#lastKeySet = undefined;
    this.#size = 0;
    if (this.#bytes.length + 8 * this.#ends.length > MAX_KEPT_BYTES) {
      this.#tagKeySetOf = NO_NUMBERS;
      this.#ends = NO_NUMBERS;
      this.#bytes = NO_BYTES;
    }
    return taken;
  }

  #growCount(): void {
    const capacity = Math.max(FIRST_COUNT, 2 * this.#ends.length);
    const ends = new Uint32Array(capacity);
    ends.set(this.#ends);
    this.#ends = ends;
    const tagKeySetOf = new Uint32Array(capacity);
    tagKeySetOf.set(this.#tagKeySetOf);
    this.#tagKeySetOf = tagKeySetOf;
  }

  #growBytes(needed: number): void {
    const size = Math.max(FIRST_SIZE_BYTES, 2 * this.#bytes.length, this.#size + needed);
    const bytes = new Uint8Array(size);
    bytes.set(this.#bytes.subarray(0, this.#size));
    this.#bytes = bytes;
  }
}

function haveSameKeys(a: TagKeySet, b: TagKeySet): boolean {
  if (a === b) return true;
  return a.keys.length === b.keys.length && a.keys.every((key, i) => key === b.keys[i]);
}

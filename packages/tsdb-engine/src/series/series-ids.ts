import type { Words } from '@plinth/tsdb-model/series/series-id.js';

/** Ids of series by series ordinal, and vice versa. */
export class SeriesIds {
  #count = 0;
  #ids = new BigInt64Array(64);
  /** The ids as pairs of 32-bit words: comparing them creates no BigInt. */
  #words = new Int32Array(this.#ids.buffer);
  /** Hash table of the ids with open addressing. Contains series ordinals plus 1; 0 means free. */
  #slots = new Int32Array(256);

  get count(): number {
    return this.#count;
  }

  /** Number of ids for which memory is allocated. */
  get capacity(): number {
    return this.#ids.length;
  }

  /** By series ordinal; valid until the next `add`. */
  get words(): Int32Array {
    return this.#words;
  }

  idOf(ordinal: number): bigint {
    return this.#ids[ordinal] as bigint;
  }

  /** Returns the series ordinal of an id given as two 32-bit words; -1 if unknown. */
  ordinalOf(low: number, high: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = (low ^ high) & mask; ; slot = (slot + 1) & mask) {
      const ordinal = (this.#slots[slot] as number) - 1;
      if (ordinal < 0) return -1;
      if (this.#words[ordinal * 2] === low && this.#words[ordinal * 2 + 1] === high) return ordinal;
    }
  }

  /** `id` must be new. Returns its series ordinal. */
  add(id: Words): number {
    const ordinal = this.#count;
    if (ordinal === this.#ids.length) this.#grow();
    this.#words[ordinal * 2] = id.low;
    this.#words[ordinal * 2 + 1] = id.high;
    this.#count++;
    if (this.#count * 2 > this.#slots.length) this.#rehash(this.#slots.length * 2);
    else this.#place(ordinal);
    return ordinal;
  }

  #place(ordinal: number): void {
    const mask = this.#slots.length - 1;
    const words = this.#words;
    let slot = ((words[ordinal * 2] as number) ^ (words[ordinal * 2 + 1] as number)) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = ordinal + 1;
  }

  #rehash(size: number): void {
    this.#slots = new Int32Array(size);
    for (let ordinal = 0; ordinal < this.#count; ordinal++) this.#place(ordinal);
  }

  #grow(): void {
    const ids = new BigInt64Array(this.#ids.length * 2);
    ids.set(this.#ids);
    this.#ids = ids;
    this.#words = new Int32Array(ids.buffer);
  }
}

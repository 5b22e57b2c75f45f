import type { Words } from '@plinth/tsdb-model/series/series-id.js';

/** Ids of series by dense number, and vice versa. */
export class SeriesIds {
  #count = 0;
  #ids = new BigInt64Array(64);
  /** The ids as pairs of 32-bit words: comparing them creates no BigInt. */
  #words = new Int32Array(this.#ids.buffer);
  /** Hash table of the ids with open addressing. Contains dense numbers plus 1; 0 means free. */
  #slots = new Int32Array(256);

  get count(): number {
    return this.#count;
  }

  /** Number of ids for which memory is allocated. */
  get capacity(): number {
    return this.#ids.length;
  }

  /** By dense number; valid until the next `add`. */
  get words(): Int32Array {
    return this.#words;
  }

  idOf(dense: number): bigint {
    return this.#ids[dense] as bigint;
  }

  /** Returns the dense number of an id given as two 32-bit words; -1 if unknown. */
  denseOf(low: number, high: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = (low ^ high) & mask; ; slot = (slot + 1) & mask) {
      const dense = (this.#slots[slot] as number) - 1;
      if (dense < 0) return -1;
      if (this.#words[dense * 2] === low && this.#words[dense * 2 + 1] === high) return dense;
    }
  }

  /** `id` must be new. Returns its dense number. */
  add(id: Words): number {
    const dense = this.#count;
    if (dense === this.#ids.length) this.#grow();
    this.#words[dense * 2] = id.low;
    this.#words[dense * 2 + 1] = id.high;
    this.#count++;
    if (this.#count * 2 > this.#slots.length) this.#rehash(this.#slots.length * 2);
    else this.#place(dense);
    return dense;
  }

  #place(dense: number): void {
    const mask = this.#slots.length - 1;
    const words = this.#words;
    let slot = ((words[dense * 2] as number) ^ (words[dense * 2 + 1] as number)) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = dense + 1;
  }

  #rehash(size: number): void {
    this.#slots = new Int32Array(size);
    for (let dense = 0; dense < this.#count; dense++) this.#place(dense);
  }

  #grow(): void {
    const ids = new BigInt64Array(this.#ids.length * 2);
    ids.set(this.#ids);
    this.#ids = ids;
    this.#words = new Int32Array(ids.buffer);
  }
}

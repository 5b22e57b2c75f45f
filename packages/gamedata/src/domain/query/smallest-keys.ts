/**
 * Selects the smallest of any number of keys, using memory for about twice as many keys as it
 * selects.
 */
export class SmallestKeys {
  readonly #count: number;
  readonly #keys: Float64Array;
  #length = 0;
  /** Keys above this bound cannot be among the smallest. */
  #bound: number;

  /** @param totalCount maximum number of keys that are added. */
  constructor(count: number, totalCount: number) {
    this.#count = Math.min(count, totalCount);
    this.#keys = new Float64Array(Math.min(totalCount, Math.max(2 * this.#count, 1024)));
    this.#bound = this.#count === 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }

  offer(key: number): void {
    if (key > this.#bound) return;
    if (this.#length === this.#keys.length) this.#cut();
    this.#keys[this.#length] = key;
    this.#length += 1;
  }

  /** In ascending order. */
  sorted(): Float64Array {
    this.#cut();
    return this.#keys.subarray(0, this.#length);
  }

  #cut(): void {
    this.#keys.subarray(0, this.#length).sort();
    if (this.#length < this.#count) return;
    this.#length = this.#count;
    this.#bound = this.#keys[this.#count - 1] ?? this.#bound;
  }
}

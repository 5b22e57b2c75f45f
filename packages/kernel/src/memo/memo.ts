/**
 * A cache of at most `maxCount` values; `null` can mark a known key without a value. Entries that were not used while half
 * of the maximum was added are dropped together. An LRU order would triple the cost of a lookup, and finding the
 * oldest entry of a `Map` becomes slower with each deletion.
 */
export class Memo<Key, Value extends NonNullable<unknown> | null> {
  readonly #halfCount: number;
  #recent = new Map<Key, Value>();
  #before = new Map<Key, Value>();

  constructor(options: { readonly maxCount: number }) {
    this.#halfCount = Math.max(1, Math.floor(options.maxCount / 2));
  }

  get(key: Key): Value | undefined {
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const before = this.#before.get(key);
    if (before !== undefined) this.set(key, before);
    return before;
  }

  set(key: Key, value: Value): void {
    if (this.#recent.size >= this.#halfCount && !this.#recent.has(key)) {
      this.#before = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(key, value);
  }

  /** Returns the cached value, or the result of `make`, which it caches. */
  of(key: Key, make: (key: Key) => Value): Value {
    const known = this.get(key);
    if (known !== undefined) return known;
    const made = make(key);
    this.set(key, made);
    return made;
  }

  delete(key: Key): void {
    this.#recent.delete(key);
    this.#before.delete(key);
  }

  clear(): void {
    this.#recent = new Map();
    this.#before = new Map();
  }
}

/**
 * Remembers at most `maxCount` things by their keys; `null` where there is nothing to remember but that. What was not asked for
 * while half as many others came is forgotten, all of it at once: an order of use would make each look-up three times as long,
 * and a `Map` takes ever longer to find its oldest entry the more of them were taken out.
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

  /** What is remembered, or else what `make` gives, which is remembered then. */
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

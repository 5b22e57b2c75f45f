/** Waiting items by key. Keys are served in rotation, regardless of their number of items. */
export class RoundRobin<Key, Thing> {
  /** In rotation order; contains only keys with items. */
  readonly #waiting = new Map<Key, Thing[]>();
  #count = 0;

  /** The number of items of all keys. */
  get count(): number {
    return this.#count;
  }

  countOf(key: Key): number {
    return this.#waiting.get(key)?.length ?? 0;
  }

  add(key: Key, thing: Thing): void {
    this.#count++;
    const own = this.#waiting.get(key);
    if (own === undefined) this.#waiting.set(key, [thing]);
    else own.push(thing);
  }

  /** Yields the first item of each key, in rotation order. */
  *firsts(): Generator<readonly [Key, Thing], void, undefined> {
    for (const [key, [thing]] of this.#waiting) yield [key, thing as Thing];
  }

  /** Removes and returns the next item; `undefined` when empty. */
  next(): Thing | undefined {
    for (const first of this.#waiting.keys()) return this.nextOf(first);
    return undefined;
  }

  /** Removes and returns the first item of `key`, and moves the key to the end. */
  nextOf(key: Key): Thing | undefined {
    const own = this.#waiting.get(key);
    if (own === undefined) return undefined;
    this.#waiting.delete(key);
    const thing = own.shift();
    if (own.length > 0) this.#waiting.set(key, own);
    this.#count--;
    return thing;
  }

  /** Removes an item that no longer waits; the position of its key does not change. */
  remove(key: Key, thing: Thing): void {
    const own = this.#waiting.get(key);
    const index = own?.indexOf(thing) ?? -1;
    if (own === undefined || index < 0) return;
    own.splice(index, 1);
    this.#count--;
    if (own.length === 0) this.#waiting.delete(key);
  }

  /** Removes and returns the last item of the key with the most items, if it has more than `count`. */
  takeLastOfMost(count: number): Thing | undefined {
    let most: Thing[] = [];
    for (const own of this.#waiting.values()) if (own.length > most.length) most = own;
    if (most.length <= Math.max(1, count)) return undefined;
    this.#count--;
    return most.pop();
  }
}

/** Things that wait, by who asked for them: keys have their turns one after the other, however many things each has. */
export class RoundRobin<Key, Thing> {
  /** The key whose turn is next stands first; none without a thing. */
  readonly #waiting = new Map<Key, Thing[]>();
  #count = 0;

  /** Of all keys. */
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

  /** The first thing of each key, in the order of their turns. */
  *firsts(): Generator<readonly [Key, Thing], void, undefined> {
    for (const [key, [thing]] of this.#waiting) yield [key, thing as Thing];
  }

  /** Takes the first of whoever is next out; `undefined` when nothing waits. */
  next(): Thing | undefined {
    for (const first of this.#waiting.keys()) return this.nextOf(first);
    return undefined;
  }

  /** Takes an key's first out, and puts the key behind all others. */
  nextOf(key: Key): Thing | undefined {
    const own = this.#waiting.get(key);
    if (own === undefined) return undefined;
    this.#waiting.delete(key);
    const thing = own.shift();
    if (own.length > 0) this.#waiting.set(key, own);
    this.#count--;
    return thing;
  }

  /** One that waits no longer; its key keeps its turn. */
  remove(key: Key, thing: Thing): void {
    const own = this.#waiting.get(key);
    const index = own?.indexOf(thing) ?? -1;
    if (own === undefined || index < 0) return;
    own.splice(index, 1);
    this.#count--;
    if (own.length === 0) this.#waiting.delete(key);
  }

  /** Takes the last of the key with the most out, when that has more than `count`. */
  takeLastOfMost(count: number): Thing | undefined {
    let most: Thing[] = [];
    for (const own of this.#waiting.values()) if (own.length > most.length) most = own;
    if (most.length <= Math.max(1, count)) return undefined;
    this.#count--;
    return most.pop();
  }
}

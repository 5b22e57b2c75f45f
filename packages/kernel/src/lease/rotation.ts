/** Things that wait, by who asked for them: askers have their turns one after the other, however many things each has. */
export class Rotation<Asker, Thing> {
  /** The asker whose turn is next stands first; none without a thing. */
  readonly #waiting = new Map<Asker, Thing[]>();
  #count = 0;

  /** Of all askers. */
  get count(): number {
    return this.#count;
  }

  countOf(asker: Asker): number {
    return this.#waiting.get(asker)?.length ?? 0;
  }

  add(asker: Asker, thing: Thing): void {
    this.#count++;
    const own = this.#waiting.get(asker);
    if (own === undefined) this.#waiting.set(asker, [thing]);
    else own.push(thing);
  }

  /** The first thing of each asker, in the order of their turns. */
  *firsts(): Generator<readonly [Asker, Thing], void, undefined> {
    for (const [asker, [thing]] of this.#waiting) yield [asker, thing as Thing];
  }

  /** Takes the first of whoever is next out; `undefined` when nothing waits. */
  next(): Thing | undefined {
    for (const first of this.#waiting.keys()) return this.nextOf(first);
    return undefined;
  }

  /** Takes an asker's first out, and puts the asker behind all others. */
  nextOf(asker: Asker): Thing | undefined {
    const own = this.#waiting.get(asker);
    if (own === undefined) return undefined;
    this.#waiting.delete(asker);
    const thing = own.shift();
    if (own.length > 0) this.#waiting.set(asker, own);
    this.#count--;
    return thing;
  }

  /** One that waits no longer; its asker keeps its turn. */
  remove(asker: Asker, thing: Thing): void {
    const own = this.#waiting.get(asker);
    const index = own?.indexOf(thing) ?? -1;
    if (own === undefined || index < 0) return;
    own.splice(index, 1);
    this.#count--;
    if (own.length === 0) this.#waiting.delete(asker);
  }

  /** Takes the last of the asker with the most out, when that has more than `count`. */
  takeLastOfMost(count: number): Thing | undefined {
    let most: Thing[] = [];
    for (const own of this.#waiting.values()) if (own.length > most.length) most = own;
    if (most.length <= Math.max(1, count)) return undefined;
    this.#count--;
    return most.pop();
  }
}

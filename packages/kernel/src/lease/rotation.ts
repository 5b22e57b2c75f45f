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

  /** Takes the first of whoever is next out; `undefined` when nothing waits. */
  next(): Thing | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const [asker, own] = first;
    this.#waiting.delete(asker);
    const thing = own.shift();
    if (own.length > 0) this.#waiting.set(asker, own);
    this.#count--;
    return thing;
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

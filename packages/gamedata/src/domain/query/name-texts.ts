/**
 * Normalised names of the rows of one group as one text. To look through a hundred thousand names is a few searches in
 * flat text then, and a name costs its letters and four bytes.
 */
export class NameTexts {
  readonly #text: string;
  /** Where the names begin, and where one behind the last would. */
  readonly #starts: Uint32Array;

  constructor(names: readonly string[]) {
    this.#starts = new Uint32Array(names.length + 1);
    let end = 0;
    for (const [index, name] of names.entries()) {
      end += name.length + 1;
      this.#starts[index + 1] = end;
    }
    this.#text = names.join('\n');
  }

  get count(): number {
    return this.#starts.length - 1;
  }

  at(index: number): string {
    return this.#text.slice(this.#starts[index] ?? 0, (this.#starts[index + 1] ?? 0) - 1);
  }

  /** Tells each name that `part` is in, in order. */
  find(part: string, see: (index: number) => void): void {
    const text = this.#text;
    let index = 0;
    for (let at = text.indexOf(part); at !== -1 && index < this.count; ) {
      index = this.#indexAt(at, index);
      const next = this.#starts[index + 1] ?? 0;
      if (at + part.length < next) {
        see(index);
        index += 1;
        at = text.indexOf(part, next);
      } else at = text.indexOf(part, at + 1); // It reaches beyond the name.
    }
  }

  /** The name that `position` lies in, which is not before `low`. */
  #indexAt(position: number, low: number): number {
    let [first, last] = [low, this.count - 1];
    while (first < last) {
      const middle = (first + last + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= position) first = middle;
      else last = middle - 1;
    }
    return first;
  }
}

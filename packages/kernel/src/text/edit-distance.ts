/**
 * The number of edits (insert, delete, replace, swap neighbors) between one word and others, up to a limit. Only cells
 * within the limit of the diagonal are computed. Buffers are allocated once per word, so comparisons allocate nothing.
 */
export class EditDistance {
  readonly #term: string;
  readonly #limit: number;
  #beforeLast: Uint8Array;
  #last: Uint8Array;
  #current: Uint8Array;

  constructor(term: string, limit: number) {
    this.#term = term;
    this.#limit = limit;
    // The longest compared word, and one cell on either side.
    const width = term.length + limit + 2;
    this.#beforeLast = new Uint8Array(width);
    this.#last = new Uint8Array(width);
    this.#current = new Uint8Array(width);
  }

  /** Returns the number of edits between the term and `other`. Results above the limit are not exact. */
  to(other: string): number {
    const term = this.#term;
    const limit = this.#limit;
    const tooMany = limit + 1;
    if (Math.abs(term.length - other.length) > limit) return tooMany;
    for (let j = 0; j <= Math.min(other.length, limit + 1); j++) this.#last[j] = j;
    for (let i = 1; i <= term.length; i++) {
      const best = this.#fillRow(other, i, tooMany);
      if (best > limit) return tooMany;
      const free = this.#beforeLast;
      this.#beforeLast = this.#last;
      this.#last = this.#current;
      this.#current = free;
    }
    return Math.min(this.#last[other.length] ?? tooMany, tooMany);
  }

  /** @returns the minimum of the row. */
  #fillRow(other: string, i: number, tooMany: number): number {
    const [current, last, beforeLast] = [this.#current, this.#last, this.#beforeLast];
    const own = this.#term.charCodeAt(i - 1);
    const before = i > 1 ? this.#term.charCodeAt(i - 2) : -1;
    const from = Math.max(1, i - this.#limit);
    const to = Math.min(other.length, i + this.#limit);
    current[from - 1] = from === 1 ? Math.min(i, tooMany) : tooMany;
    let best = current[from - 1] ?? tooMany;
    for (let j = from; j <= to; j++) {
      const char = other.charCodeAt(j - 1);
      let cost = (last[j - 1] ?? tooMany) + (own === char ? 0 : 1);
      cost = Math.min(cost, (last[j] ?? tooMany) + 1, (current[j - 1] ?? tooMany) + 1);
      if (j > 1 && before === char && own === other.charCodeAt(j - 2)) {
        cost = Math.min(cost, (beforeLast[j - 2] ?? tooMany) + 1);
      }
      current[j] = Math.min(cost, tooMany);
      if (cost < best) best = cost;
    }
    // The next row reads one cell further.
    if (to < other.length) current[to + 1] = tooMany;
    return best;
  }
}

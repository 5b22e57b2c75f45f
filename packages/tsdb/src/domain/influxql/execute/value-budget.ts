import { tsdbError } from '../../../errors.js';

/** Counts the values that one stage of a statement holds at a time, and refuses the statement when they are too many. */
export class ValueBudget {
  readonly #limit: number;
  #count = 0;

  constructor({ limits }: { readonly limits: { readonly heldValueCount: number } }) {
    this.#limit = limits.heldValueCount;
  }

  /** A negative number releases some. Throws `query_too_large`. */
  add(count: number): void {
    this.#count += count;
    if (this.#count > this.#limit) throw tsdbError('query_too_large', this.#limit);
  }
}

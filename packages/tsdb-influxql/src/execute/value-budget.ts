import { tsdbError } from '@plinth/tsdb-model/errors.js';

/**
 * Counts the values that a stage of a statement keeps in memory and rejects the statement above the
 * limit.
 */
export class ValueBudget {
  readonly #limit: number;
  #count = 0;

  constructor({ limits }: { readonly limits: { readonly heldValueCount: number } }) {
    this.#limit = limits.heldValueCount;
  }

  /** Reserves `count` values; a negative number releases them. Throws `query_too_large`. */
  add(count: number): void {
    this.#count += count;
    if (this.#count > this.#limit) throw tsdbError('query_too_large', this.#limit);
  }
}

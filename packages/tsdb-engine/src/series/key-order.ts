import { keyOrder } from '@plinth/tsdb-model/series/packed-tags.js';

/** Sorts tags by key. Consecutive series usually have the same keys, which are sorted only once. */
export class KeyOrder {
  #lastKeys: readonly string[] = [];
  #sorted: readonly string[] = [];
  /** Original index of each sorted key; `undefined` if they are already sorted. */
  #order: readonly number[] | undefined;

  apply(
    keys: readonly string[],
    values: readonly string[],
  ): readonly [readonly string[], readonly string[]] {
    if (keys !== this.#lastKeys && !areSame(keys, this.#lastKeys)) this.#sort(keys);
    const order = this.#order;
    if (order === undefined) return [this.#sorted, values];
    return [this.#sorted, order.map((index) => values[index] as string)];
  }

  #sort(keys: readonly string[]): void {
    const order = keyOrder(keys);
    const isSorted = order.every((index, i) => index === i);
    this.#lastKeys = keys;
    this.#sorted = isSorted ? keys : order.map((index) => keys[index] as string);
    this.#order = isSorted ? undefined : order;
  }
}

function areSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((key, i) => key === b[i]);
}

import { keyOrder } from '@plinth/tsdb-model/series/packed-tags.js';

/** Sorts tags by key. Consecutive series usually have the same keys, which are sorted only once. */
export class KeyOrder {
  #given: readonly string[] = [];
  #sorted: readonly string[] = [];
  /** Original index of each sorted key; `undefined` if they are already sorted. */
  #places: readonly number[] | undefined;

  apply(
    keys: readonly string[],
    values: readonly string[],
  ): readonly [readonly string[], readonly string[]] {
    if (keys !== this.#given && !areSame(keys, this.#given)) this.#look(keys);
    const places = this.#places;
    if (places === undefined) return [this.#sorted, values];
    return [this.#sorted, places.map((place) => values[place] as string)];
  }

  #look(keys: readonly string[]): void {
    const places = keyOrder(keys);
    const isSorted = places.every((place, i) => place === i);
    this.#given = keys;
    this.#sorted = isSorted ? keys : places.map((place) => keys[place] as string);
    this.#places = isSorted ? undefined : places;
  }
}

function areSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((key, i) => key === b[i]);
}

import type { DirectOrder } from '../../../model/direct-request.js';
import type { SeriesIndex } from '../series-index.js';

/** Series by the values of some of their tags. */
export class SeriesGroups {
  readonly #index: SeriesIndex;
  readonly #tags: readonly string[];
  readonly #numbers = new Map<string, number>();
  readonly #bySeries = new Map<number, number>();
  /** One series of each group. */
  readonly #example: number[] = [];

  constructor(index: SeriesIndex, tags: readonly string[]) {
    this.#index = index;
    this.#tags = tags;
  }

  get count(): number {
    return this.#example.length;
  }

  /** Number of the series' group, in the order in which they came. */
  groupOf(series: number): number {
    let group = this.#bySeries.get(series);
    if (group !== undefined) return group;
    let key = '';
    for (const tag of this.#tags) key += `${this.#index.tagCode(series, tag)} `;
    group = this.#numbers.get(key);
    if (group === undefined) {
      group = this.#example.length;
      this.#example.push(series);
      this.#numbers.set(key, group);
    }
    this.#bySeries.set(series, group);
    return group;
  }

  /** The groups' values of one of the tags; `undefined` where it is absent. */
  valuesOf(tag: string): readonly (string | undefined)[] {
    return this.#example.map((series) => this.#index.tagValue(series, tag));
  }

  /** Numbers of the groups in the given order of tags. */
  sorted(order: readonly DirectOrder[]): readonly number[] {
    const groups = this.#example.map((_, group) => group);
    const keys = order.flatMap(({ key, descending, nullsFirst }) =>
      key.kind === 'tag' ? [{ values: this.valuesOf(key.tag), descending, nullsFirst }] : [],
    );
    if (keys.length === 0) return groups;
    return groups.sort((a, b) => {
      for (const { values, descending, nullsFirst } of keys) {
        const [x, y] = [values[a], values[b]];
        if (x === y) continue;
        if (x === undefined) return nullsFirst ? -1 : 1;
        if (y === undefined) return nullsFirst ? 1 : -1;
        return compareTexts(x, y) < 0 === descending ? 1 : -1;
      }
      return 0;
    });
  }
}

/** In the order of their UTF-8 bytes, which is the order of their code points. */
function compareTexts(a: string, b: string): number {
  const count = Math.min(a.length, b.length);
  for (let i = 0; i < count; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    const isPaired = isSurrogate(x);
    // A surrogate stands for a code point beyond all that have a code unit of their own.
    return isPaired === isSurrogate(y) ? x - y : isPaired ? 1 : -1;
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

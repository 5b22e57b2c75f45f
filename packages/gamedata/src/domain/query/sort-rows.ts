import type { Kind } from '../../model/kinds.js';
import { normalText } from '../../model/normal-text.js';
import type { DataSet } from '../data/data-set.js';
import { type Row, textColumn } from '../data/row.js';
import { compareSortKeys, type SortKeyValue, sortKeyOf } from '../data/sort-values.js';
import { KIND_SPECS } from '../kinds/index.js';
import type { ListRequest } from './list-request.js';
import type { Scores } from './search/q-search.js';

/** Exact names rank before prefixes, and prefixes before other matches. */
export function relevanceOf(
  rows: readonly Row[],
  order: readonly number[],
  needle: string,
): Scores {
  const scores = new Float32Array(rows.length);
  for (const position of order) {
    const name = normalText(textColumn(rows[position] as Row, 'name') ?? ''); // `order` contains positions of rows
    scores[position] = name === needle ? 3 : name.startsWith(needle) ? 2 : 1;
  }
  return scores;
}

export function sortRows(
  order: readonly number[],
  options: {
    readonly set: DataSet;
    readonly kind: Kind;
    readonly sort: ListRequest['sort'];
    readonly scores: Scores | undefined;
    /** Normalized names by field and row position; the other fields are in columns. */
    readonly names: ReadonlyMap<string, readonly string[]>;
  },
): readonly number[] {
  const { set, kind, sort, scores, names } = options;
  const { fields } = KIND_SPECS[kind];
  const keys = sort.map(({ field, isDescending }) => {
    const spec = fields[field];
    const own = names.get(field);
    const read = (position: number): SortKeyValue => {
      if (spec === undefined) return scores?.[position] ?? 0;
      // An empty line is an absent name, which is sorted last.
      if (own !== undefined) return own[position] || null;
      return sortKeyOf(spec.get(rowAt(set, kind, position), set));
    };
    // By relevance, the best matches come first by default.
    return {
      values: order.map(read),
      isDescending: spec === undefined ? !isDescending : isDescending,
    };
  });
  // Sorts indexes in a typed array, because an object per row would create megabytes of garbage.
  const places = Uint32Array.from(order, (_position, place) => place);
  places.sort((a, b) => {
    for (const { values, isDescending } of keys) {
      const difference = compareSortKeys(values[a] ?? null, values[b] ?? null, isDescending);
      if (difference !== 0) return difference;
    }
    return a - b;
  });
  return Array.from(places, (place) => order[place] ?? 0);
}

export function rowAt(set: DataSet, kind: Kind, position: number): Row {
  const row = set.tables[kind].rows[position];
  if (row === undefined) throw new RangeError(`row ${position} of ${kind} not found`);
  return row;
}

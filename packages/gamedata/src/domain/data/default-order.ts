import { invariant } from '@plinth/kernel';
import type { Kind } from '../../model/kinds.js';
import { KIND_SPECS } from '../kinds/index.js';
import type { DataSet } from './data-set.js';
import type { KindTable } from './kind-table.js';
import { compareSortKeys, sortKeyOf } from './sort-values.js';

/** Versions that share a table share its order. */
const orders = new WeakMap<KindTable, readonly number[]>();

/** Returns the row positions in the order of lists without `sort`. */
export function defaultOrderOf(set: DataSet, kind: Kind): readonly number[] {
  const table = set.tables[kind];
  const known = orders.get(table);
  if (known !== undefined) return known;
  const { rows } = table;
  const order = rows.map((_row, index) => index);
  const { defaultSort, fields } = KIND_SPECS[kind];
  if (defaultSort !== undefined) {
    const isDescending = defaultSort.startsWith('-');
    const field = fields[isDescending ? defaultSort.slice(1) : defaultSort];
    invariant(field !== undefined, `default sort field of ${kind} not found`);
    const values = rows.map((row) => sortKeyOf(field.get(row, set)));
    order.sort(
      (a, b) => compareSortKeys(values[a] ?? null, values[b] ?? null, isDescending) || a - b,
    );
  }
  orders.set(table, order);
  return order;
}

import { gameDataError } from '../../errors.js';
import type { Kind } from '../../model/kinds.js';
import type { Presenter } from '../data/public-record.js';
import type { Row } from '../data/row.js';
import { KIND_SPECS } from '../kinds/index.js';
import { listCategories } from '../kinds/items.js';
import type { Includes } from './list-request.js';

const MAX_INCLUDED = 1000;

/**
 * Returns the distinct records that the rows refer to. Throws `invalid_parameter` when there are
 * too many.
 */
export function include(
  kind: Kind,
  rows: readonly Row[],
  { relations, param }: Includes,
  presenter: Presenter,
): Record<string, Record<string, unknown>> {
  const { set } = presenter;
  const included: Record<string, Record<string, unknown>> = {};
  let count = 0;
  for (const relation of relations) {
    const spec = KIND_SPECS[kind].includes[relation];
    if (spec === undefined) continue;
    included[spec.kind] ??= {};
    const target = included[spec.kind] ?? {};
    for (const row of rows) {
      for (const id of spec.ids(row, set)) {
        if (Object.hasOwn(target, id)) continue;
        const found = includedRecord(spec.kind, id, presenter);
        if (found === undefined) continue;
        count += 1;
        if (count > MAX_INCLUDED) {
          const message = `${param} would embed more than ${MAX_INCLUDED} records; request fewer records`;
          throw gameDataError('invalid_parameter', { param, message });
        }
        target[id] = found;
      }
    }
  }
  return included;
}

function includedRecord(kind: Kind | 'categories', id: string, presenter: Presenter): unknown {
  if (kind === 'categories') {
    return listCategories(presenter.set.tables.items.rows).find((category) => category.id === id);
  }
  const row = presenter.set.row(kind, id);
  return row === undefined ? undefined : presenter.present(kind, row, false);
}
